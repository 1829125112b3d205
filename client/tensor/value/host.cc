// Host tensors: small programs are evaluated by the reference evaluator, so that they follow the semantics of
// devices without a process beside this one; large ones run on a daemon (host_daemon.h).
#include "client/tensor/value/host.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/runtime/observe/events.h"
#include "client/runtime/observe/warnings.h"
#include "client/runtime/session/state.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/program/canonical.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/host_daemon.h"
#include "common/evaluator/evaluator.h"

namespace hlod::lazy {
namespace {

// The time from which on an operation is reported as an event.
constexpr double kEventUs = 1e4;
// The time from which on an operation causes a warning, because the program probably forgot To(device).
constexpr double kWarningUs = 1e6;

// Emits the event of a slow operation, and warns of the first one in the process.
void TellOfSlow(const OriginRow& row, double us) {
  if (us >= kEventUs && runtime::Observed()) {
    runtime::Emit(SlowEvent{SlowPath::kHostTensor, row.operation, runtime::OriginOf(row.caller), us});
  }
  static std::atomic<bool> warned = false;
  if (us < kWarningUs || warned.exchange(true)) return;
  const std::string why = WhyNoHostDaemon();
  runtime::Warn(absl::StrFormat(
      "%s (%s) took %.1f s on host tensors: move them to a device with To(device).%s Said once.",
      row.operation, LineText(row.caller), us / 1e6,
      why.empty()
          ? ""
          : absl::StrCat(" They are computed by one thread, slowly, because there is no daemon: ", why)));
}

}  // namespace

std::vector<std::shared_ptr<const Literal>> Evaluate(const Trace& graph, absl::Span<const NodeId> nodes) {
  const Canonical canonical = Canonicalise(graph, nodes);
  std::vector<const Literal*> arguments;
  for (const uint32_t number : canonical.parameters) {
    const Parameter& parameter = graph.parameters()[number];
    arguments.push_back(parameter.literal != nullptr ? parameter.literal.get()
                                                     : parameter.value->literal().get());
  }
  ++Stats().host_operations;
  const runtime::Stopwatch watch;
  if (auto computed = ComputeOnDaemon(graph, canonical, arguments)) {
    TellOfSlow(graph.origin(nodes[0]), watch.us());
    return *std::move(computed);
  }
  const std::unique_ptr<Module> module = MakeModule("host", graph, canonical, {});
  absl::StatusOr<Literal> result = hlod::Evaluate(*module, arguments);
  if (!result.ok()) throw Refusal{result.status()};
  TellOfSlow(graph.origin(nodes[0]), watch.us());
  std::vector<std::shared_ptr<const Literal>> values;
  if (nodes.size() == 1) {
    values.push_back(std::make_shared<const Literal>(*std::move(result)));
  } else {
    for (Literal& element : result->elements()) {
      values.push_back(std::make_shared<const Literal>(std::move(element)));
    }
  }
  return values;
}

void LoadFile(const Ref<Value>& value) {
  Load load;
  {
    const TraceLock lock;
    if (value->state() != Value::State::kFile) return;
    load = value->file().load;
  }
  absl::StatusOr<Literal> loaded = load();
  if (!loaded.ok()) throw Refusal{loaded.status()};
  const TraceLock lock;
  // Another thread may have read it meanwhile.
  if (value->state() == Value::State::kFile) {
    value->Become(std::make_shared<const Literal>(*std::move(loaded)));
  }
}

void Materialize(Value& value) {
  if (value.state() == Value::State::kFile) {
    absl::StatusOr<Literal> loaded = value.file().load();
    if (!loaded.ok()) throw Refusal{loaded.status()};
    value.Become(std::make_shared<const Literal>(*std::move(loaded)));
  }
  if (value.state() != Value::State::kRecipe) return;
  Trace graph(value.place, Trace::Kind::kHost);
  Lowering lowering{graph};
  const Recipe recipe = value.recipe();
  const NodeId node = recipe(lowering).id;
  value.Become(Evaluate(graph, {node})[0]);
}

}  // namespace hlod::lazy
