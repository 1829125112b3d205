// Closes traces between the phases of a step.
#include "client/tensor/trace/backward_cuts.h"

#include <iterator>
#include <utility>
#include <vector>

#include "client/runtime/observe/events.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/thread_traces.h"
#include "hlod/tensor/trace.h"

namespace hlod::lazy {
namespace {

constinit thread_local bool cuts = false;

}  // namespace

BackwardCuts::BackwardCuts() : before_(std::exchange(cuts, true)) {}
BackwardCuts::~BackwardCuts() { cuts = before_; }

void CutAtPhase(const Caller& caller) {
  if (!cuts || FunctionTrace::Innermost() != nullptr) return;
  const runtime::DeliverEventsAtExit events;
  std::vector<Parameter> garbage;  // Destroyed after the lock is released.
  const TraceLock lock;
  for (const auto& graph : ThreadTraces::Get().graphs()) {
    if (graph->kind != Trace::Kind::kReal || graph->size() == 0) continue;
    std::vector<Parameter> dropped = Close(*graph, TraceCause::kSync, caller, "phase");
    garbage.insert(garbage.end(), std::make_move_iterator(dropped.begin()),
                   std::make_move_iterator(dropped.end()));
  }
}

}  // namespace hlod::lazy
