// The entries that run programs. Execute sends and returns; events say when the results are there.
#include <memory>
#include <utility>
#include <vector>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/lineage.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"
#include "client/pjrt/profiler/profiler.h"
#include "client/pjrt/run/deferred_run.h"
#include "client/pjrt/run/execute_context.h"
#include "client/pjrt/run/run.h"
#include "client/pjrt/run/step_end.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/error.h"
#include "hlod/runtime/abstract.h"

namespace hlod::pjrt {

namespace {

// Returns the line that runs the program, as the framework states it or Python knows it. PyTorch/XLA executes
// on threads of its own; then only the line is known that ran the graph first, and had it compiled.
Caller LineOf(const LoadedExecutable& executable, const abi::ExecuteOptions& options) {
  Caller line = ReadCallLocation(options.call_location);
  if (line.line == 0) line = FoundLine();
  return line.line == 0 ? executable.program()->line() : line;
}

// Returns the results and the completions of the participants to the caller. `end` is null unless there are
// callbacks.
void Give(const Run& run, const Execution& execution, const std::shared_ptr<Completion>& end,
          abi::LoadedExecutable_Execute_Args& args) {
  const size_t count = run.program->signature().output_types.size();
  for (size_t participant = 0; participant < run.devices.size(); ++participant) {
    Device& device = *run.devices[participant];
    for (size_t i = 0; i < count; ++i) {
      args.output_lists[participant][i] = new Buffer(
          *device.memories()[run.program->signature().output_kinds.ids[i]],
          execution.results[participant * count + i], end, run.program->signature().output_orders[i]);
      const int alias = run.program->signature().aliases[i];
      if (alias < 0) continue;
      const Buffer& argument = *args.argument_lists[participant][alias];
      if (argument.IsDeleted()) args.output_lists[participant][i]->TakeIdentity(argument);
    }
    device.held().Run(run.program->figures().temporary_bytes, execution.sent);
    // Frameworks request a completion of each execution, and wait for its results.
    if (args.device_complete_events != nullptr) {
      args.device_complete_events[participant] = new Event(
          end != nullptr ? end : device.client().EndOf(execution.executable->session, execution.sent));
    }
  }
}

// Returns results and completions that carry an error. Frameworks expect the errors of an execution there,
// and not from the call.
void GiveFailed(const Run& run, const absl::Status& error, abi::LoadedExecutable_Execute_Args& args) {
  const std::vector<Shape>& shapes = run.program->runtime().result_shapes();
  for (size_t participant = 0; participant < run.devices.size(); ++participant) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      args.output_lists[participant][i] =
          new Buffer(*run.devices[participant]->memories()[run.program->signature().output_kinds.ids[i]],
                     shapes[i], error);
    }
    if (args.device_complete_events != nullptr)
      args.device_complete_events[participant] = new Event(Completion::Done(error));
  }
}

// Returns the error of a call, unless the daemon is lost: then the call succeeds, and its results fail.
absl::Status FailCall(const Run& run, const absl::Status& error, abi::LoadedExecutable_Execute_Args& args) {
  if (hlod::KindOf(error) != ErrorKind::kLostSession) return error;
  GiveFailed(run, error, args);
  return absl::OkStatus();
}

// Returns the arrays that one participant takes.
std::vector<StepEnd::Array> ArraysOf(const std::vector<Shape>& shapes, absl::Span<const Argument> arguments) {
  std::vector<StepEnd::Array> arrays;
  for (size_t i = 0; i < shapes.size() && i < arguments.size(); ++i) {
    const hlod::Buffer* const buffer = arguments[i].buffer();
    arrays.push_back({buffer != nullptr && buffer->valid() ? buffer->handle() : 0, &shapes[i]});
  }
  return arrays;
}

// Ends the process when the run would begin one step too many.
void EndAfterSteps(const Run& run) {
  StepEnd* const end = run.program->client().step_end();
  if (end == nullptr) return;
  const std::vector<StepEnd::Array> arguments = ArraysOf(run.runtime.argument_shapes(), run.arguments);
  if (!end->IsBefore(run.program->module().name(), arguments)) return;
  runtime::Session& session = *run.program->client().session();
  runtime::AbstractSession& abstract = *session.options().abstract;
  for (const Argument& argument : run.arguments) {
    const hlod::Buffer* const buffer = argument.buffer();
    if (buffer != nullptr && buffer->valid()) abstract.Labelled(buffer->handle(), "next", "", "");
  }
  abstract.EndAfterSteps(session, CurrentLine());
}

void CountStep(const Run& run, const Execution& execution) {
  StepEnd* const end = run.program->client().step_end();
  if (end == nullptr) return;
  const std::vector<Shape>& shapes = run.runtime.result_shapes();
  std::vector<StepEnd::Array> results;
  for (size_t i = 0; i < shapes.size() && i < execution.results.size(); ++i)
    results.push_back({execution.results[i].handle(), &shapes[i]});
  end->Ran(run.program->module().name(), run.program->flops(),
           ArraysOf(run.runtime.argument_shapes(), run.arguments), results);
}

// Returns results whose values come later: after those of arguments, or with the run of the last participant.
void Defer(Run run, const LoadedExecutable& executable, const abi::ExecuteOptions& options,
           abi::LoadedExecutable_Execute_Args& args) {
  const bool is_part = run.is_part;
  Client& client = run.program->client();
  const auto deferred = std::make_shared<DeferredRun>(
      std::move(run), options.call_location == nullptr ? "" : options.call_location);
  deferred->Give(args);
  if (is_part) client.rendezvous().Join(deferred, executable.devices());
  else deferred->StartWhenGiven();
}

}  // namespace

absl::Status Serve(abi::LoadedExecutable_Execute_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  RETURN_IF_ERROR(Given(args.options, "options"));
  const LoadedExecutable& executable = *args.executable;
  if (executable.IsDeleted()) return InvalidArgument("The program was deleted.");
  const abi::ExecuteOptions options = Widened(*args.options);
  const LineScope line(LineOf(executable, options));
  ASSIGN_OR_RETURN(Run run, ReadRun(executable, args, options));
  if (run.is_part || !run.awaited.empty()) {
    Defer(std::move(run), executable, options, args);
    return absl::OkStatus();
  }
  if (!run.poison.ok()) {
    // The other processes of the program wait for this one's part, which is refused for want of an argument.
    if (run.options.devices.size() > run.devices.size())
      run.runtime.Start(run.arguments, run.options, CurrentLine()).status().IgnoreError();
    GiveFailed(run, run.poison, args);
    return absl::OkStatus();
  }
  Client& client = run.program->client();
  EndAfterSteps(run);
  const absl::StatusOr<Execution> execution = run.runtime.Start(run.arguments, run.options, CurrentLine());
  if (!execution.ok()) return FailCall(run, execution.status(), args);
  CountStep(run, *execution);
  std::vector<std::shared_ptr<const Lineage>> lineages;
  if (IsAbstract(client.runtime()) && run.devices.size() == 1) {
    lineages = LineagesOf(run.program, {args.num_args > 0 ? args.argument_lists[0] : nullptr, args.num_args},
                          execution->results, CurrentLine());
  }
  run.arguments.clear();
  for (Buffer* const buffer : run.consumed) buffer->Delete();
  std::shared_ptr<Completion> end;
  if (!run.program->channels().empty() && client.callbacks_in_calls()) {
    const absl::Status served =
        ServeCallbacksHere(run.program->channels(), std::move(run.callbacks), *execution);
    if (!served.ok()) return FailCall(run, served, args);
  } else if (!run.program->channels().empty()) {
    end = ServeCallbacks(run.program->channels(), std::move(run.callbacks), *execution);
  }
  Give(run, *execution, end, args);
  for (size_t i = 0; i < lineages.size(); ++i) args.output_lists[0][i]->set_lineage(std::move(lineages[i]));
  if (IsProfiling()) {
    NoteExecution(client, run.program->module().name(), options.call_location, run.devices[0]->ordinal(),
                  client.AwaitedEndOf(execution->executable->session, execution->sent));
  }
  return absl::OkStatus();
}

absl::Status Serve(abi::ExecuteContext_Create_Args& args) {
  args.context = new ExecuteContext;
  return absl::OkStatus();
}

absl::Status Serve(abi::ExecuteContext_Destroy_Args& args) {
  delete args.context;
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
