// The open graphs of one thread.
#include "client/tensor/trace/thread_trace.h"

#include <algorithm>

#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/lock.h"

namespace hlod::lazy {
namespace {

// Graphs whose thread has ended while tensors still refer to their nodes: another thread that uses such a
// tensor copies what it needs. Never destroyed, because tensors of static storage come last of all.
std::vector<std::unique_ptr<Graph>>& Orphans() {
  static auto* const orphans = new std::vector<std::unique_ptr<Graph>>;
  return *orphans;
}

}  // namespace

ThreadTrace& ThreadTrace::Get() {
  thread_local ThreadTrace trace;
  return trace;
}

ThreadTrace::~ThreadTrace() {
  const TraceLock lock;
  std::vector<std::unique_ptr<Graph>>& orphans = Orphans();
  std::erase_if(orphans, [](const std::unique_ptr<Graph>& graph) { return !graph->has_live(); });
  for (std::unique_ptr<Graph>& graph : graphs_) {
    if (graph->has_live()) orphans.push_back(std::move(graph));
  }
  graphs_.clear();  // Under the lock: a graph that ends may keep functions of its tape.
}

Graph& ThreadTrace::Open(Place place, Graph::Kind kind) {
  if (kind != Graph::Kind::kHost) {
    if (Graph* const function = FunctionTrace::GraphAt(place); function != nullptr) return *function;
  }
  // In an abstract session placeholders are as good as values: one graph, as there would be with values.
  if (kind == Graph::Kind::kAbstract && AbstractOf(place) != nullptr) kind = Graph::Kind::kReal;
  for (const std::unique_ptr<Graph>& graph : graphs_) {
    if (graph->place == place && graph->kind == kind) return *graph;
  }
  return *graphs_.emplace_back(std::make_unique<Graph>(place, kind));
}

}  // namespace hlod::lazy
