// Keeps the open traces of a thread, and the traces whose thread has ended.
#include "client/tensor/trace/thread_traces.h"

#include <algorithm>

#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/lock.h"

namespace hlod::lazy {
namespace {

// The traces whose thread has ended while tensors still refer to their nodes: a thread that uses such a
// tensor copies the nodes that it needs. Never destroyed, because tensors of static storage are destroyed
// after everything else.
std::vector<std::unique_ptr<Trace>>& Orphans() {
  static auto* const orphans = new std::vector<std::unique_ptr<Trace>>;
  return *orphans;
}

}  // namespace

ThreadTraces& ThreadTraces::Get() {
  thread_local ThreadTraces trace;
  return trace;
}

ThreadTraces::~ThreadTraces() {
  const TraceLock lock;
  std::vector<std::unique_ptr<Trace>>& orphans = Orphans();
  std::erase_if(orphans, [](const std::unique_ptr<Trace>& graph) { return !graph->has_live(); });
  for (std::unique_ptr<Trace>& graph : graphs_) {
    if (graph->has_live()) orphans.push_back(std::move(graph));
  }
  // Done under the lock, because a trace that ends may convert its tape's entries to functions.
  graphs_.clear();
}

Trace& ThreadTraces::Open(Place place, Trace::Kind kind) {
  if (kind != Trace::Kind::kHost) {
    if (Trace* const function = FunctionTrace::GraphAt(place); function != nullptr) return *function;
  }
  // In an abstract session placeholders count as values: one trace contains both, as in a real session.
  if (kind == Trace::Kind::kAbstract && AbstractOf(place) != nullptr) kind = Trace::Kind::kReal;
  for (const std::unique_ptr<Trace>& graph : graphs_) {
    if (graph->place == place && graph->kind == kind) return *graph;
  }
  return *graphs_.emplace_back(std::make_unique<Trace>(place, kind));
}

}  // namespace hlod::lazy
