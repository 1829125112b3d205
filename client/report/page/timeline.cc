// Puts the trace's slices into lanes.
#include "client/report/page/timeline.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace hlod::report {
namespace {

// The tracks of the trace in the page's order. Others come last.
constexpr std::string_view kOrder[] = {"trace", "lower",   "compile", "send",          "transfers",
                                       "queue", "execute", "waits",   "host functions"};

size_t RankOf(const TraceTrack& track) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), track.name) -
                             std::begin(kOrder));
}

// Returns the length of the shortest slice that is kept, and how many slices of that length are.
std::pair<double, size_t> Threshold(const Trace& trace, size_t& left_out) {
  std::vector<double> lengths;
  for (const TraceProcess& process : trace.processes) {
    for (const TraceTrack& track : process.tracks) {
      for (const TraceSlice& slice : track.slices) {
        if (!slice.instant) lengths.push_back(slice.us);
      }
    }
  }
  left_out = lengths.size() - std::min(lengths.size(), kSlicesMax);
  if (left_out == 0) return {0, lengths.size()};
  const auto last = lengths.begin() + static_cast<ptrdiff_t>(kSlicesMax - 1);
  std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
  const auto longer = std::count_if(lengths.begin(), lengths.end(), [&](double us) { return us > *last; });
  return {*last, kSlicesMax - static_cast<size_t>(longer)};
}

}  // namespace

Json TimelineOf(const Trace& trace) {
  size_t left_out = 0;
  auto [shortest, of_shortest] = Threshold(trace, left_out);
  Json lanes = Json::array(), steps = Json::array();
  for (const TraceProcess& process : trace.processes) {
    std::vector<const TraceTrack*> tracks;
    for (const TraceTrack& track : process.tracks) tracks.push_back(&track);
    std::ranges::stable_sort(tracks, {}, [](const TraceTrack* track) { return RankOf(*track); });
    for (const TraceTrack* const track : tracks) {
      Json slices = Json::array();
      for (const TraceSlice& slice : track->slices) {
        if (slice.instant) {
          if (track->name == "steps") steps.push_back(Json::array({slice.begin_us, slice.name}));
          continue;
        }
        if (slice.us < shortest || (slice.us == shortest && of_shortest == 0)) continue;
        if (slice.us == shortest) --of_shortest;
        slices.push_back(Json::array({slice.begin_us, slice.us, slice.name, slice.line, slice.step}));
      }
      if (slices.empty()) continue;
      lanes.push_back({{"name", track->name}, {"process", process.name}, {"slices", std::move(slices)}});
    }
  }
  return {{"lanes", std::move(lanes)}, {"steps", std::move(steps)}, {"left_out", left_out}};
}

}  // namespace hlod::report
