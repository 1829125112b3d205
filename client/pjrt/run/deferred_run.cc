// Starts deferred runs, each when the last of its arguments is given.
#include "client/pjrt/run/deferred_run.h"

#include <deque>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/events/event.h"
#include "client/pjrt/exceptions.h"
#include "client/pjrt/profiler/profiler.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

// Runs `job` after the job of this thread that is under way, if any: the start of a run gives values, which
// start the next run of a long chain. Jobs do not throw.
void InTurn(std::function<void()> job) {
  thread_local std::deque<std::function<void()>>* waiting = nullptr;
  if (waiting != nullptr) {
    waiting->push_back(std::move(job));
    return;
  }
  std::deque<std::function<void()>> jobs;
  // Is run also when there is no memory for a job.
  const auto end = absl::MakeCleanup([] { waiting = nullptr; });
  waiting = &jobs;
  for (jobs.push_back(std::move(job)); !jobs.empty(); jobs.pop_front()) jobs.front()();
}

template <typename T>
void MoveTo(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

DeferredRun::DeferredRun(Run run, std::string call_location)
    : run_(std::move(run)), line_(CurrentLine()), call_location_(std::move(call_location)) {
  for (size_t i = 0; i < run_.devices.size(); ++i) {
    ends_.push_back(Completion::Open());
    for (size_t j = 0; j < run_.program->signature().output_types.size(); ++j)
      results_.push_back(std::make_shared<PromisedValue>());
  }
  for (Buffer* const buffer : run_.consumed) buffer->Delete();
  run_.consumed.clear();
}

void DeferredRun::Give(abi::LoadedExecutable_Execute_Args& args) const {
  const CompiledProgram& program = *run_.program;
  const size_t count = program.signature().output_types.size();
  const std::vector<Shape>& shapes = program.runtime().result_shapes();
  for (size_t participant = 0; participant < run_.devices.size(); ++participant) {
    for (size_t i = 0; i < count; ++i) {
      Memory& memory = *run_.devices[participant]->memories()[program.signature().output_kinds.ids[i]];
      auto* const result = new Buffer(memory, shapes[i], results_[participant * count + i],
                                      program.signature().output_orders[i]);
      args.output_lists[participant][i] = result;
      const int alias = program.signature().aliases[i];
      if (alias < 0) continue;
      const Buffer& argument = *args.argument_lists[participant][alias];
      if (argument.IsDeleted()) result->TakeIdentity(argument);
    }
    run_.devices[participant]->held().Run(program.figures().temporary_bytes, /*command=*/nullptr);
    if (args.device_complete_events != nullptr)
      args.device_complete_events[participant] = new Event(ends_[participant]);
  }
}

void DeferredRun::Append(DeferredRun& other) {
  Run& added = other.run_;
  const size_t before = run_.arguments.size();
  for (AwaitedArgument& awaited : added.awaited) awaited.index += before;
  for (const int index : added.options.donate)
    run_.options.donate.push_back(index + static_cast<int>(before));
  MoveTo(run_.options.devices, added.options.devices);
  MoveTo(run_.devices, added.devices);
  MoveTo(run_.arguments, added.arguments);
  MoveTo(run_.awaited, added.awaited);
  MoveTo(run_.callbacks, added.callbacks);
  MoveTo(results_, other.results_);
  MoveTo(ends_, other.ends_);
  run_.poison.Update(added.poison);
}

void DeferredRun::StartWhenGiven(hlod::Executable program) {
  run_.runtime = std::move(program);
  missing_ = run_.awaited.size() + 1;
  const auto one_less = [run = shared_from_this()] {
    if (--run->missing_ > 0) return;
    InTurn([run] {
      const absl::Status started = Caught("A deferred run", [&] {
        run->Start();
        return absl::OkStatus();
      });
      if (!started.ok()) run->Fail(started);
    });
  };
  for (AwaitedArgument& awaited : run_.awaited) awaited.promised->OnGiven(one_less);
  one_less();
}

absl::StatusOr<Execution> DeferredRun::Send() {
  RETURN_IF_ERROR(run_.poison);
  for (const AwaitedArgument& awaited : run_.awaited) {
    ASSIGN_OR_RETURN(hlod::Buffer value, awaited.promised->Get());
    if (awaited.donated && awaited.promised->IsSoleUser(value))
      run_.options.donate.push_back(static_cast<int>(awaited.index));
    run_.arguments[awaited.index] = std::move(value);
  }
  return run_.runtime.Start(run_.arguments, run_.options, line_);
}

void DeferredRun::Start() {
  const absl::StatusOr<Execution> execution = Send();
  run_.arguments.clear();
  run_.awaited.clear();
  if (!execution.ok()) {
    Fail(execution.status());
    return;
  }
  Client& client = run_.program->client();
  const std::shared_ptr<Completion> end =
      run_.program->channels().empty()
          ? client.AwaitedEndOf(execution->executable->session, execution->sent)
          : ServeCallbacks(run_.program->channels(), std::move(run_.callbacks), *execution);
  // A promise fails only when it was kept before.
  for (size_t i = 0; i < results_.size(); ++i) (void)results_[i]->Give(execution->results[i], end);
  for (const std::shared_ptr<Completion>& participant : ends_)
    end->OnReady([participant](const absl::Status& status) { participant->Set(status); });
  if (IsProfiling()) {
    NoteExecution(client, run_.program->module().name(), call_location_.c_str(), run_.devices[0]->ordinal(),
                  end);
  }
}

void DeferredRun::Fail(const absl::Status& error) {
  for (const std::shared_ptr<PromisedValue>& result : results_) (void)result->Fail(error);
  for (const std::shared_ptr<Completion>& end : ends_) end->Set(error);
}

}  // namespace hlod::pjrt
