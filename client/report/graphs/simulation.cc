// Simulates a recorded run again as if some of its breaks were gone.
//
// A lane is the sequence of moments in one session and device: closes of traces, waits for results, ends of
// steps. The time between two moments is the host's own work. To tell what a break costs, Simulate runs
// a lane with two clocks, `host` and `device`, which hold the time at which each becomes free. Each moment
// first adds the host's own work before it to `host`, then:
//
//   close  dispatches a graph: device = max(device, host + compile) + execute
//   wait   host = max(host, device) + overhead
//   step   only ends what may be merged
//
// The first simulation changes nothing. It learns the overhead of each wait, that is the part of the recorded
// wait in which the device did not execute: the round trip, and, after uploads, the time until the device had
// them. The smallest overhead of the waits without uploads is taken for the round trip, and any excess of the
// others for their uploads.
//
// The second simulation removes one line:
//   - Its waits take no time; but uploads that such a wait covered still delay the device.
//   - Work of the host that was done for the break (until WaitPoint::over_at_us) is left out.
//   - A close that has no other stop is not dispatched, which saves its sending. Its graph is pending, and is
//     merged with that of the next close. A merged graph takes the sum of both times, less the time for the
//     bytes that need not be moved between them (FindSharing), but not less than the longer of both.
//   - A wait that stays, the end of a step, or the same line again dispatches a pending graph unmerged.
// The saving is the difference of the two simulations' durations (SavedWithout).
//
// Example: graph A takes 100 us, loss.item() at line 7 reads its result, then graph B takes 60 us.
//
//   recorded         with line 7                           without line 7
//   close A   0      host 0, device 100                    host 0, A is pending
//   wait  5-125      host 125 (5 busy, overhead 25)        gone: host stays 0
//   close B 145      host 145, device 145 + 60 = 205       host 20, device 20 + 120 = 140
//   step  145        duration max(145, 205) = 205          duration max(20, 140) = 140
//
// The wait's overhead is 125 - 100 = 25. Merged, A and B take 120 us instead of 160, because 40 us of memory
// traffic between them are not needed. Line 7 costs 205 - 140 = 65 us.
#include "client/report/graphs/simulation.h"

#include <algorithm>
#include <utility>

namespace hlod::report {
namespace {

class Simulation {
 public:
  Simulation(const std::vector<Piece>& pieces, const ThreadLane& lane, const WaitPoint* without,
             std::vector<WaitOverhead>& overheads)
      : pieces_(pieces), lane_(lane), without_(without), overheads_(overheads) {
    overheads_.resize(lane.moments.size());
  }

  // Returns the lane's duration.
  double Run() {
    if (lane_.moments.empty()) return 0;
    const double start = lane_.moments.front().begin_us;
    host_ = device_ = observed_ = start;
    for (size_t m = 0; m < lane_.moments.size(); ++m) Step(m);
    Flush();
    for (const size_t m : after_uploads_) {
      if (least_us_ >= 0) overheads_[m].of_uploads_us = std::max(0.0, overheads_[m].us - least_us_);
    }
    return std::max(host_, device_) - start;
  }

 private:
  bool IsLeftOut(const WaitPoint& stop) const { return without_ != nullptr && stop.IsSameLine(*without_); }

  void Step(size_t m) {
    const TimelineEvent& moment = lane_.moments[m];
    const Piece& piece = pieces_[moment.piece];
    // The stop at this moment. A close is removed only when it has no other stop.
    const int at = moment.kind == TimelineEvent::Kind::kWait ? moment.stop : piece.stops.size() == 1 ? 0 : -1;
    const bool gone = at >= 0 && IsLeftOut(piece.stops[at]);
    const double busy = Busy(m, gone ? &piece.stops[at] : nullptr);
    switch (moment.kind) {
      case TimelineEvent::Kind::kClose: Close(moment, busy, gone); break;
      case TimelineEvent::Kind::kWait: Wait(m, busy, gone); break;
      case TimelineEvent::Kind::kStep:
        host_ += busy;
        Flush();
        break;
    }
  }

  // Returns the host's own time before the moment, without the work that it did for the break that is left
  // out. `gone` is the moment's stop if that is the break, otherwise null.
  double Busy(size_t m, const WaitPoint* gone) {
    const TimelineEvent& moment = lane_.moments[m];
    double busy = std::max(0.0, moment.begin_us - observed_);
    observed_ = std::max(observed_, moment.end_us);
    if (moment.kind != TimelineEvent::Kind::kClose)
      return gone != nullptr && moment.end_us <= gone->over_at_us ? 0 : busy;
    if (m == 0) return busy;
    const TimelineEvent& before = lane_.moments[m - 1];
    for (const WaitPoint& stop : pieces_[before.piece].stops) {
      if (IsLeftOut(stop)) busy -= std::clamp(stop.over_at_us - before.end_us, 0.0, busy);
    }
    return busy;
  }

  void Close(const TimelineEvent& moment, double busy, bool gone) {
    const Piece& piece = pieces_[moment.piece];
    uploads_ = uploads_ || piece.uploaded_bytes > 0;
    if (gone) {
      Flush();  // Occurrences of one break are not merged.
      host_ += std::max(0.0, busy - piece.close->send_us);
      pending_ = true;
      pending_us_ = piece.execute_us;
      pending_compile_us_ = piece.compile_us;
      return;
    }
    host_ += busy;
    const double execute_us = pending_ ? MergedTime(moment.piece) : piece.execute_us;
    Dispatch(piece.compile_us + pending_compile_us_, execute_us);
    pending_ = false;
    pending_us_ = pending_compile_us_ = 0;
  }

  // Returns the time of the pending graph merged with the piece's.
  double MergedTime(size_t piece) const {
    const auto here = std::lower_bound(lane_.pieces.begin(), lane_.pieces.end(), piece);
    const Piece& first = pieces_[here == lane_.pieces.begin() ? *here : *std::prev(here)];
    const double execute_us = pieces_[piece].execute_us, both = execute_us + pending_us_;
    return std::max(
        {execute_us, pending_us_, both - static_cast<double>(first.fusion_lost_bytes) * lane_.us_per_byte});
  }

  void Wait(size_t m, double busy, bool gone) {
    const TimelineEvent& moment = lane_.moments[m];
    if (gone) {
      device_ += overheads_[m].of_uploads_us;
      return;
    }
    Flush();
    host_ += busy;
    if (without_ != nullptr) {
      host_ = std::max(host_, device_) + overheads_[m].us;
      return;
    }
    const double end = host_ + (moment.end_us - moment.begin_us);
    const double over = overheads_[m].us = std::max(0.0, end - std::max(host_, device_));
    if (std::exchange(uploads_, false)) {
      after_uploads_.push_back(m);
    } else {
      least_us_ = least_us_ < 0 ? over : std::min(least_us_, over);
    }
    host_ = end;
    device_ = std::min(device_, end);
  }

  void Dispatch(double compile_us, double execute_us) {
    device_ = std::max(device_, host_ + compile_us) + execute_us;
  }
  // Dispatches the pending graph, if there is one.
  void Flush() {
    if (std::exchange(pending_, false)) Dispatch(pending_compile_us_, pending_us_);
    pending_us_ = pending_compile_us_ = 0;
  }

  const std::vector<Piece>& pieces_;
  const ThreadLane& lane_;
  const WaitPoint* const without_;
  std::vector<WaitOverhead>& overheads_;
  double host_ = 0, device_ = 0;                    // The times at which host and device become free.
  double observed_ = 0;                             // The recorded end of the previous moments.
  double pending_us_ = 0, pending_compile_us_ = 0;  // The times of a graph that waits to be merged.
  bool pending_ = false;
  std::vector<size_t> after_uploads_;  // Waits for graphs whose uploads were under way.
  double least_us_ = -1;               // The smallest overhead of the other waits; -1 when there are none.
  bool uploads_ = false;
};

}  // namespace

double Simulate(const std::vector<Piece>& pieces, const ThreadLane& lane, const WaitPoint* without,
                std::vector<WaitOverhead>& overheads) {
  return Simulation(pieces, lane, without, overheads).Run();
}

}  // namespace hlod::report
