// Adds up the pauses of each line, and the time in which the program did not pause.
#include "client/report/page/pauses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/kinds.h"
#include "common/base/saturated.h"

namespace hlod::report {
namespace {

// A pause in the time since the run's begin.
struct Pause {
  double begin_us = 0, end_us = 0;
  double us() const { return end_us - begin_us; }
};

struct Line {
  int64_t bytes = 0;
  std::vector<Pause> pauses;
};

using Lines = std::map<std::pair<std::string, bool>, Line>;  // By line, and whether it reads.

Lines LinesOf(const Profile& run) {
  Lines lines;
  ForEach<TransferEvent>(run, [&](const Event& event, const TransferEvent& transfer) {
    if (DirectionOf(transfer.cause) != Direction::kDeviceToHost || transfer.cause == Cause::kImplicitDownload)
      return;
    Line& line = lines[{LineOf(transfer.origin), true}];
    AddSaturated(line.bytes, transfer.value.bytes);
    line.pauses.push_back({event.at_us - transfer.us, event.at_us});
  });
  ForEach<WaitEvent>(run, [&](const Event& event, const WaitEvent& wait) {
    if (wait.cause == WaitCause::kSettle)
      lines[{LineOf(wait.origin), false}].pauses.push_back({event.at_us - wait.us, event.at_us});
  });
  return lines;
}

// Tells how long the program worked itself between two times.
class OwnWork {
 public:
  explicit OwnWork(const Lines& lines) {
    std::vector<Pause> all;
    for (const auto& [key, line] : lines) all.insert(all.end(), line.pauses.begin(), line.pauses.end());
    std::sort(all.begin(), all.end(), [](const Pause& a, const Pause& b) { return a.begin_us < b.begin_us; });
    for (const Pause& pause : all) {  // Pauses of several threads overlap.
      if (pauses_.empty() || pause.begin_us > pauses_.back().end_us) pauses_.push_back(pause);
      else pauses_.back().end_us = std::max(pauses_.back().end_us, pause.end_us);
    }
    double sum = 0;
    for (const Pause& pause : pauses_) before_.push_back(std::exchange(sum, sum + pause.us()));
  }
  double Between(double begin_us, double end_us) const {
    return end_us - begin_us - (PausedUntil(end_us) - PausedUntil(begin_us));
  }

 private:
  double PausedUntil(double at_us) const {
    const auto next = std::upper_bound(pauses_.begin(), pauses_.end(), at_us,
                                       [](double at, const Pause& pause) { return at < pause.begin_us; });
    if (next == pauses_.begin()) return 0;
    const size_t last = static_cast<size_t>(next - pauses_.begin()) - 1;
    return before_[last] + std::min(at_us, pauses_[last].end_us) - pauses_[last].begin_us;
  }

  std::vector<Pause> pauses_;   // Disjoint, in order.
  std::vector<double> before_;  // For each pause, the time paused before it.
};

}  // namespace

std::vector<PauseRow> PausesOf(const Profile& run) {
  const Lines lines = LinesOf(run);
  const OwnWork own(lines);
  std::vector<PauseRow> rows;
  for (const auto& [key, line] : lines) {
    PauseRow& row = rows.emplace_back(
        PauseRow{key.first, key.second, static_cast<int64_t>(line.pauses.size()), line.bytes});
    double sum = 0, longest = 0, begin_us = line.pauses[0].end_us, end_us = begin_us;
    for (const Pause& pause : line.pauses) {
      sum += pause.us();
      longest = std::max(longest, pause.us());
      begin_us = std::min(begin_us, pause.end_us);
      end_us = std::max(end_us, pause.end_us);
    }
    row.saves_us = std::min(sum - longest, own.Between(begin_us, end_us));
  }
  return rows;
}

}  // namespace hlod::report
