// Compares ways to run a step: traced lazily, captured by Compile(), and divided at Backward().
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/observe/graph_report.h"
#include "hlod/transform/capture.h"

namespace hlod {

// One way to run a step, and its figures.
struct TracingProfile {
  std::string name;  // "lazy", "captured", "phases"
  GraphReport report;
  // The number of programs, and the number without breaks of the stage "lowering".
  int64_t modules = 0, captured_graphs = 0;
};

struct TracingComparison {
  int calls = 0;
  // The step run lazily; captured by Compile(); and lazily, with each Backward() as a program of its own, as
  // AOTAutograd separates forward, backward and optimizer. The gradient of a function (Grad()) is not
  // separated.
  TracingProfile lazy, captured, phases;
  std::vector<std::string> why_broken;  // Captured::WhyBroken()
};

struct CompareOptions {
  int calls = 3;  // The number of calls per way. The first one compiles, the others hit the cache.
};

// Runs the step in each of the three ways, with Sync() after each call. The step must return its results, a
// tree, and have no other effect.
//   std::puts(ToText(CompareTracing(step, std::tuple(x, target))).c_str());
template <typename F, typename... Args>
TracingComparison CompareTracing(const F& step, const std::tuple<Args...>& inputs,
                                 const CompareOptions& options = {}, Caller caller = Caller::Here()) {
  const auto run = [&] { return lazy::CallKeeping(step, inputs); };
  // A plain function is stored as a pointer.
  const auto compiled = Compile<std::decay_t<F>>(step, {}, caller);
  const auto replay = [&] { return lazy::CallKeeping(compiled, inputs); };
  TracingComparison comparison;
  comparison.calls = options.calls;
  comparison.lazy = lazy::ProfileOf("lazy", false, options.calls, run, caller);
  comparison.captured = lazy::ProfileOf("captured", false, options.calls, replay, caller);
  comparison.phases = lazy::ProfileOf("phases", true, options.calls, run, caller);
  comparison.why_broken = compiled.WhyBroken();
  return comparison;
}

// Formats the three ways side by side, then the breaks of each.
std::string ToText(const TracingComparison& comparison);
std::string ToJson(const TracingComparison& comparison);

// Formats several models as one table: one line per model and way, with the break to remove first (as in
// GraphReport). Figures are for all calls together.
std::string ToTable(const std::vector<std::pair<std::string, TracingComparison>>& models);

}  // namespace hlod
