// Chrome's events, by lane.
#include "client/report/timeline.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hlod::report {
namespace {

// The tracks of the trace in the page's order. What is not here comes last.
constexpr std::string_view kOrder[] = {"trace", "lower",   "compile", "send",          "transfers",
                                       "queue", "execute", "waits",   "host functions"};

size_t Place(std::string_view track) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), track) - std::begin(kOrder));
}

using LaneKey = std::tuple<int64_t, size_t, int64_t>;  // Process, place of the track, thread.

struct Lane {
  std::string track;
  std::vector<const Json*> slices;
};

}  // namespace

Json TimelineOf(const Json& trace) {
  std::map<int64_t, std::string> processes;
  std::map<LaneKey, Lane> lanes;
  std::vector<const Json*> slices;
  Json steps = Json::array();
  for (const Json& event : Part(trace, "traceEvents")) {
    const std::string phase = Text(event, "ph");
    if (phase == "M" && Text(event, "name") == "process_name")
      processes[Integer(event, "pid")] = Text(Part(event, "args"), "name");
    if (phase == "i" && Text(event, "cat") == "steps")
      steps.push_back(Json::array({Number(event, "ts"), Text(event, "name")}));
    if (phase == "X") slices.push_back(&event);
  }
  const size_t kept = std::min(slices.size(), kSlicesMax);
  if (kept < slices.size()) {
    std::nth_element(slices.begin(), slices.begin() + static_cast<ptrdiff_t>(kept), slices.end(),
                     [](const Json* a, const Json* b) { return Number(*a, "dur") > Number(*b, "dur"); });
  }
  for (size_t i = 0; i < kept; ++i) {
    const Json& slice = *slices[i];
    const std::string track = Text(slice, "cat");
    Lane& lane = lanes[{Integer(slice, "pid"), Place(track), Integer(slice, "tid")}];
    lane.track = track;
    lane.slices.push_back(&slice);
  }
  Json rows = Json::array();
  for (auto& [key, lane] : lanes) {
    std::ranges::sort(lane.slices, {}, [](const Json* slice) { return Number(*slice, "ts"); });
    Json row = Json::array();
    for (const Json* slice : lane.slices) {
      const Json& args = Part(*slice, "args");
      row.push_back(Json::array({Number(*slice, "ts"), Number(*slice, "dur"), Text(*slice, "name"),
                                 Text(args, "line"), Integer(args, "step")}));
    }
    rows.push_back(
        {{"name", lane.track}, {"process", processes[std::get<0>(key)]}, {"slices", std::move(row)}});
  }
  return {{"lanes", std::move(rows)}, {"steps", std::move(steps)}, {"left_out", slices.size() - kept}};
}

}  // namespace hlod::report
