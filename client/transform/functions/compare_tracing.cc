// Profiles a step that is run in one way.
#include "hlod/transform/compare_tracing.h"

#include <optional>
#include <set>

#include "client/tensor/trace/backward_cuts.h"

namespace hlod::lazy {

TracingProfile ProfileOf(std::string name, bool cut_phases, int calls,
                         const std::function<std::shared_ptr<void>()>& call, const Caller& caller) {
  TracingProfile profile;
  profile.name = std::move(name);
  Sync(caller);  // Runs earlier operations first, because they are not part of the step.
  profile.report = ReportGraphs([&] {
    std::optional<BackwardCuts> cuts;
    if (cut_phases) cuts.emplace();
    for (int i = 0; i < calls; ++i) {
      const std::shared_ptr<void> results = call();
      Sync(caller);
    }
  });
  std::set<std::string> programs, split;
  for (const GraphRow& graph : profile.report.graphs) {
    programs.insert(graph.program);
    for (const BreakRow& row : profile.report.breaks) {
      if (row.stage == BreakStage::kLowering && row.origin == graph.origin && Name(row.cause) == graph.cause)
        split.insert(graph.program);
    }
  }
  profile.modules = static_cast<int64_t>(programs.size());
  profile.captured_graphs = profile.modules - static_cast<int64_t>(split.size());
  return profile;
}

}  // namespace hlod::lazy
