// Closes traces, and reads values.
//
// Recording only appends instructions. A close makes one program of a real trace, starts it, and leaves the
// trace empty; it happens when the program reads a value, calls Sync(), hands out a buffer, or has recorded
// too much (hlod/observe/trace_causes.inc). Close() does this, under TraceLock:
//
// 1. Fail the live values that depend on a parameter that cannot be used, because its buffer was donated or
//    deleted or its computation failed. They are outputs no longer; the rest of the trace runs.
// 2. Add residuals. Values that only Backward() will need, and that would be expensive to recompute, become
//    live, too (KeepResiduals), because after the close their nodes no longer exist.
// 3. Collect the outputs: the nodes of the live values, a value being live while a tensor, a residual or the
//    tape refers to it. Without any, the trace is cleared and nothing runs. If the connection has ended, the
//    outputs fail.
//    If one of the parameters is divided among the devices of a mesh, or a value is stated to be, all
//    parameters are put onto that mesh, and the program is divided when it is compiled.
// 4. Decide the donations. A parameter whose value and buffer only the trace holds cannot be read again,
//    since values never change and nobody else has this one: its memory may hold a result.
//    Force() and Sync() ask the partitioner for it without the lock, and then close again
//    (PartitionedBefore).
// 5. Find the program. The first key is the trace as it was recorded: the words of its instructions, the
//    output nodes, the donated parameters, the device, the shardings of parameters. A loop records the same
//    words in each iteration, so that this is one hash and one comparison. The comparison is needed: equal
//    hashes of different traces would give wrong results.
// 6. On a miss, look again by the canonical form: only what the outputs depend on, in an order that follows
//    from the outputs alone. Traces that differ in dead code, or in the order of recording between the same
//    outputs, share it. On a second miss make the module and send it to be compiled. The answer is not waited
//    for; an error of the compiler comes with the results' buffers.
//    A third program that differs from two earlier ones only in sizes and numbers is made for all sizes up to
//    a bound, which then are arguments (bounded_sizes.h): a view that grows in a loop compiles a few times.
// 7. Start the program. Buffers, host literals and numbers are its arguments; the live values become its
//    results' buffers at once, long before these have their contents. Donated arguments hand sharding and
//    role on.
// 8. An error on the way (a limit, a lost session) is not thrown: the outputs become failed values with this
//    error, which a read of one of them throws, and the program may go on with the rest.
// 9. Tell observers, and clear the trace. Entries of the tape that have nodes here copy them first. The
//    parameters go to the caller, who destroys them after the lock, because the end of a buffer may send a
//    message.
//
// Nothing in this list waits for the daemon. Force(), Read() and Sync() do so after they have released the
// lock: the program is slowed down when more than closes_unsettled_max executes are under way
// (Runtime::Throttle).
//
// An example: `w = w - g * 0.1;` in a loop, where w and g (f32[2]) are data, and then Sync(). The trace is
//
//   %0 = f32[2] parameter(0)         # g, which the program still holds
//   %1 = f32[]  parameter(1)         # the number 0.1: an argument, so that a schedule compiles once
//   %2 = f32[2] broadcast(%1)
//   %3 = f32[2] multiply(%0, %2)     # the tensor g * 0.1 has gone: not an output
//   %4 = f32[2] parameter(2)         # the old w, which only the trace holds
//   %5 = f32[2] subtract(%4, %3)     # live: the new w
//
// The only output is %5, parameter 2 is donated, and the key is the words of %0 to %5 followed by 5, |, 2, |,
// 0 for the device. In the first iteration both searches miss. From the output down, operands first, the
// canonical form visits %4, %0, %1, %2, %3, %5: its parameters are w, g and 0.1, the program's arguments are
// the trace's parameters {2, 0, 1}, and argument 0 is donated. In the second iteration g and w have other
// buffers and the words are the same: the recorded program is found, and one execute is sent. An iteration
// that also computes Sum(g) and drops it has other words, misses the first search and hits the second.
#include "client/tensor/trace/close.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/metrics.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/mesh/partition_first.h"
#include "client/tensor/program/many_sizes.h"
#include "client/tensor/program/program_key.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/close_event.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/host.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

// Fails the live values that depend on an unusable parameter: one that was donated or deleted through its
// Buffer, or has failed.
void FailWhatDependsOnDead(Trace& graph) {
  std::vector<const absl::Status*> dead;
  std::vector<absl::Status> reasons(graph.parameters().size());
  for (size_t i = 0; i < reasons.size(); ++i) {
    const Parameter& parameter = graph.parameters()[i];
    if (!parameter.value) continue;
    if (parameter.value->state() == Value::State::kFailed) reasons[i] = parameter.value->failure();
    if (parameter.value->state() == Value::State::kData) reasons[i] = parameter.value->buffer().state();
    if (reasons[i].ok()) continue;
    dead.resize(graph.size(), nullptr);
    dead[parameter.node] = &reasons[i];
  }
  if (dead.empty()) return;
  for (NodeId node = 0; node < graph.size(); ++node) {
    for (const NodeId operand : graph.computation()[node].operands()) {
      if (dead[node] == nullptr) dead[node] = dead[operand];
    }
  }
  for (Value* value : graph.LiveInOrder()) {
    if (dead[value->node()] != nullptr) value->Become(*dead[value->node()]);
  }
}

// Returns the lines that made a program's arguments.
std::vector<Origin> LinesOf(const Trace& graph, absl::Span<const uint32_t> parameters) {
  std::vector<Origin> lines;
  for (const uint32_t number : parameters) {
    const Parameter& parameter = graph.parameters()[number];
    lines.push_back(
        runtime::OriginOf(parameter.value ? parameter.value->origin : graph.origin(parameter.node).caller));
  }
  return lines;
}

// Returns the program from the cache of canonical forms, or compiles it.
Program FindOrCompile(Trace& graph, const Outputs& outputs, const RecordedKey& recorded, const Caller& caller,
                      CloseReport& report) {
  Runtime& runtime = *graph.place.runtime;
  CanonicalKey key(graph, outputs, recorded);
  Program program;
  program.arguments = key.form.parameters;
  program.donate.assign(key.donors.begin(), key.donors.end());
  const auto find = [&] {
    const auto* known = runtime.canonical.Find(key.words(), key.tail);
    if (known == nullptr) return false;
    ++Stats().canonical_hits;
    report.found = ProgramSource::kCanonical;
    program.compiled = *known;
    return true;
  };
  if (find()) return program;
  std::unique_ptr<Module> module = ForManySizes(graph, key, caller, program.numbers);
  if (!program.numbers.empty() && find()) return program;
  if (module == nullptr) module = key.MakeModule(graph, caller);
  auto compiled = std::make_shared<Compiled>();
  const runtime::ArgumentLines lines(LinesOf(graph, key.form.parameters));
  const runtime::Stopwatch watch;
  compiled->executable = ValueOrThrow(
      Client(runtime.device(0).internal_session()).Compile(*module, key.options, caller), "compile", caller);
  report.compile_us = watch.us();
  report.found = ProgramSource::kCompiled;
  ++Stats().compiles;
  runtime::CountMetric(runtime::MetricCounter::kCompiledGraphs);
  runtime::AddSample(runtime::Metric::kGraphSize, key.form.computation->size());
  runtime::AddSample(runtime::Metric::kDonated, static_cast<double>(key.donors.size()));
  program.compiled = runtime.canonical.Add(key.words(), key.tail, std::move(compiled));
  return program;
}

// Starts `program` and hands its results to the live values.
void Start(Trace& graph, const Program& program, const Outputs& outputs, const Caller& caller,
           CloseReport& report) {
  std::vector<Argument> arguments;
  std::vector<Value*> values;  // One value per argument; null for a number.
  arguments.reserve(program.arguments.size());
  values.reserve(program.arguments.size());
  for (const uint32_t number : program.arguments) {
    const Parameter& parameter = graph.parameters()[number];
    values.push_back(parameter.value.get());
    if (parameter.literal != nullptr) ++Stats().inline_numbers;
    if (parameter.literal != nullptr) arguments.emplace_back(*parameter.literal);
    else if (parameter.value->state() == Value::State::kHost)
      arguments.emplace_back(*parameter.value->literal());
    else arguments.emplace_back(parameter.value->buffer());
  }
  for (const auto& number : program.numbers) {
    ++Stats().inline_numbers;
    arguments.emplace_back(*number);
    values.push_back(nullptr);
  }
  ExecuteOptions options;
  options.donate = program.donate;
  // A divided program runs on the devices of its mesh.
  if (program.compiled->executable.mesh() == nullptr) options.device = graph.place.ordinal;
  for (const auto& values : outputs.values) options.result_callers.push_back(values.front()->origin);
  Execution execution =
      ValueOrThrow(program.compiled->executable.Start(arguments, options, caller), "execute", caller);
  Stats().donated += static_cast<int64_t>(program.donate.size());
  report.Started(execution);
  for (size_t i = 0; i < outputs.nodes.size(); ++i) {
    for (Value* value : outputs.values[i]) value->Become(execution.results[i]);
  }
  InheritFromDonated(values, program.donate, outputs.values);
  if (runtime::AbstractSession* const abstract = AbstractOf(graph.place); abstract != nullptr) {
    for (const Value* value : values) {
      if (value != nullptr) RecordRole(*abstract, *value);
    }
    for (const auto& results : outputs.values) RecordRole(*abstract, *results.front());
  }
  graph.place.runtime->Started(std::move(execution.done));
}

void CountClose(const Trace& graph, TraceCause cause) {
  TraceStats& stats = Stats();
  ++stats.closes;
  ++stats.closes_by_cause[static_cast<size_t>(cause)];
  stats.nodes += graph.size();
}

}  // namespace

bool IsFull(const Trace& graph) {
  if (graph.size() > Current().trace_nodes_max) return true;
  // Numbers are counted only occasionally, when they may be too many.
  static constexpr size_t kFew = 1024;
  const std::vector<Parameter>& parameters = graph.parameters();
  if (parameters.size() < kFew || parameters.size() % (kFew / 4) != 0) return false;
  int64_t bytes = 0;
  for (const Parameter& parameter : parameters) {
    if (parameter.literal != nullptr) bytes += static_cast<int64_t>(parameter.literal->bytes().size());
  }
  const runtime::Session& session = *graph.place.runtime->device(0).internal_session();
  return bytes > session.daemon().limits.inline_bytes_max / 2;
}

std::vector<Parameter> Close(Trace& graph, TraceCause cause, const Caller& own, const char* operation,
                             const Value* forced, bool may_ask) {
  const Caller& caller = CallerScope::Of(own);
  const runtime::DeferEvents events;
  FailWhatDependsOnDead(graph);
  CloseReport report(graph);
  KeepResiduals(graph, caller);
  const Outputs outputs = OutputsOf(graph);
  if (outputs.nodes.empty()) return graph.Clear();
  if (graph.place.runtime->ended()) {
    const absl::Status ended = EndedError();
    for (const auto& values : outputs.values) {
      for (Value* value : values) value->Become(ended);
    }
    return graph.Clear();
  }
  if (may_ask) AskForPartition(graph, outputs, caller);
  CountClose(graph, cause);
  runtime::AbstractSession* const abstract = AbstractOf(graph.place);
  if (abstract != nullptr) abstract->Closed(Name(cause), caller);
  report.Begin(cause, caller, operation, forced);
  const runtime::Stopwatch lowering;
  try {
    if (abstract != nullptr) DeclarePlaceholders(graph, caller);
    const RecordedKey key = RecordedKeyOf(graph, outputs, caller);
    const absl::Span<const uint32_t> words = graph.computation().words();
    RecordedPrograms& recorded = graph.place.runtime->recorded;
    const Program* program = recorded.Find(words, key.tail);
    if (program != nullptr) {
      ++Stats().trace_hits;
      report.found = ProgramSource::kRecorded;
    } else {
      program = &recorded.Add(words, key.tail, FindOrCompile(graph, outputs, key, caller, report));
    }
    if (report.found != ProgramSource::kCompiled) runtime::CountMetric(runtime::MetricCounter::kCachedGraphs);
    report.lower_us = lowering.us() - report.compile_us;
    report.Take(*program);
    const runtime::Stopwatch sending;
    Start(graph, *program, outputs, caller, report);
    report.send_us = sending.us();
  } catch (const Error& error) {
    report.status = error.status();
    // The error is reported when a result is read; the program may go on with values that do not depend on
    // it.
    for (const auto& values : outputs.values) {
      for (Value* value : values) value->Become(error.status());
    }
  }
  report.End(outputs.values);
  return graph.Clear();
}

void Force(const Ref<Value>& value, TraceCause cause, const char* operation, const Caller& own) {
  const Caller& caller = CallerScope::Of(own);
  const runtime::DeliverEventsAtExit events;
  ForceReport report(*value, cause, operation, caller);
  try {
    LoadFile(value);
  } catch (const Refusal& refusal) {
    Throw(refusal.status, operation, caller);
  }
  std::vector<Parameter> garbage;
  Runtime* waits = nullptr;
  PartitionedBefore([&](bool may_ask) {
    const TraceLock lock;
    FunctionTrace::CheckRead(*value, operation, caller);
    if (value->IsPlaceholder()) {
      if (AbstractOf(value->place) == nullptr) ThrowPlaceholder(*value, operation, caller);
      if (value->state() == Value::State::kPlaceholder)
        value->Become(ValueOrThrow(DeviceOf(value->place).Placeholder(value->shape(), value->origin),
                                   operation, caller));
      return;
    }
    if (value->IsDeferred()) {
      try {
        Materialize(*value);
      } catch (const Refusal& refusal) {
        Throw(refusal.status, operation, caller);
      }
      return;
    }
    if (value->state() != Value::State::kNode) return;
    if (value->graph()->kind == Trace::Kind::kAbstract) CheckNoPlaceholder(*value, operation, caller);
    if (value->place.is_host()) {  // The placeholders that it depended on were filled.
      Trace host(value->place, Trace::Kind::kHost);
      const NodeId node = host.NodeOf(*value);
      value->Become(Evaluate(host, {node})[0]);
      return;
    }
    Trace& mine = ThreadTraces::Get().Open(value->place, Trace::Kind::kReal);
    if (value->graph() != &mine) {
      // The value is a node of another thread's trace, or of an abstract trace whose placeholders have been
      // filled since: it is copied to this thread's real trace.
      const NodeId node = mine.NodeOf(*value);
      value->graph()->RemoveLive(*value);
      mine.AddLive(*value, node);
    }
    garbage = Close(mine, cause, caller, operation, value.get(), may_ask && lock.is_outermost());
    waits = value->place.runtime;
    report.close = CloseOf(*value);
  });
  if (waits == nullptr) return;
  garbage.clear();
  waits->Throttle(static_cast<size_t>(Current().closes_unsettled_max), caller);
}

std::shared_ptr<const Literal> Read(const Ref<Value>& value, TraceCause cause, Cause ledger,
                                    const char* operation, const Caller& own) {
  const Caller& caller = CallerScope::Of(own);
  const runtime::DeliverEventsAtExit events;
  Force(value, cause, operation, caller);
  Buffer buffer;
  uint64_t close = 0;
  {
    const TraceLock lock;
    if (value->state() == Value::State::kHost) return value->literal();
    if (value->state() == Value::State::kFailed) Throw(value->failure(), operation, caller);
    if (value->place.runtime->ended()) Throw(EndedError(), operation, caller);
    buffer = value->buffer();
    close = CloseOf(*value);
  }
  const runtime::TransferOf transfer(value->id, close);
  const runtime::Stopwatch watch;
  auto literal =
      std::make_shared<const Literal>(ValueOrThrow(buffer.ToLiteral(ledger, caller), operation, caller));
  runtime::EmitWait(*buffer.internal_state()->session, WaitCause::kRead, caller, watch.us(), value->id);
  ShowPrinted();
  return literal;
}

namespace {

// Counts the end of a step in the abstract sessions that this thread has traces for. May end the process.
void EndSteps(const Caller& caller) {
  std::vector<std::shared_ptr<runtime::Session>> sessions;
  {
    const TraceLock lock;
    for (const auto& graph : ThreadTraces::Get().graphs()) {
      if (AbstractOf(graph->place) == nullptr) continue;
      std::shared_ptr<runtime::Session> session = DeviceOf(graph->place).internal_session();
      if (std::find(sessions.begin(), sessions.end(), session) == sessions.end())
        sessions.push_back(std::move(session));
    }
  }
  for (const auto& session : sessions)
    session->options().abstract->EndStep(*session, /*marked=*/false, caller);
}

}  // namespace

}  // namespace hlod::lazy

namespace hlod {

void Sync(Caller own) {
  const Caller& caller = CallerScope::Of(own);
  const runtime::DeliverEventsAtExit events;
  lazy::FunctionTrace::CheckSync(caller);
  std::vector<lazy::Parameter> garbage;
  // The runtimes with recorded operations, and those that the thread uses.
  std::vector<lazy::Runtime*> runtimes, all;
  lazy::PartitionedBefore([&](bool may_ask) {
    const lazy::TraceLock lock;
    for (const auto& graph : lazy::ThreadTraces::Get().graphs()) {
      if (graph->kind != lazy::Trace::Kind::kReal) continue;
      if (std::find(all.begin(), all.end(), graph->place.runtime) == all.end())
        all.push_back(graph->place.runtime);
      if (graph->size() == 0) continue;
      std::vector<lazy::Parameter> dropped =
          lazy::Close(*graph, TraceCause::kSync, caller, "sync", nullptr, may_ask && lock.is_outermost());
      garbage.insert(garbage.end(), std::make_move_iterator(dropped.begin()),
                     std::make_move_iterator(dropped.end()));
      runtimes.push_back(graph->place.runtime);
    }
  });
  garbage.clear();
  runtime::CountMetric(runtime::MetricCounter::kSteps);
  for (lazy::Runtime* runtime : all) runtime->BeginStep(caller);
  for (lazy::Runtime* runtime : runtimes) {
    runtime->Throttle(static_cast<size_t>(lazy::Current().closes_unsettled_max), caller);
  }
  lazy::EndSteps(caller);
  lazy::ShowPrinted();
  const lazy::TraceLock lock;
  // A program that seldom reads learns here that its daemon has ended.
  for (const lazy::Runtime* runtime : runtimes) lazy::ThrowIfError(runtime->status(), "sync", caller);
  for (const auto& graph : lazy::ThreadTraces::Get().graphs()) {
    if (graph->kind == lazy::Trace::Kind::kAbstract) lazy::CheckLivePlaceholders(*graph, caller);
  }
}

}  // namespace hlod
