// Puts a recorded run in order, and simulates it again as if some of its breaks were gone.
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
#include "client/report/graphs/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hlod::report {
namespace {

bool IsRead(WaitCause cause) { return cause == WaitCause::kRead || cause == WaitCause::kSettle; }

std::string CauseOf(const CloseEvent& close) {
  return close.operation == "phase" ? "phase" : std::string(Name(close.cause));
}

// The times of a program, added up over rows of the account.
struct Times {
  double queue_us = 0, run_us = 0;
  int64_t count = 0;
  void Add(const RunRow& row) {
    queue_us += static_cast<double>(row.queue.sum_us);
    run_us += static_cast<double>(row.run.sum_us);
    count += row.count;
  }
};

int64_t BytesOf(const CloseEvent& close) {
  int64_t bytes = 0;
  for (const auto& input : close.inputs) bytes += input.bytes;
  std::set<uint64_t> buffers;
  for (const auto& output : close.outputs) {
    if (buffers.insert(output.buffer).second) bytes += output.bytes;
  }
  return bytes;
}

// Returns the last of the piece's stops at that line, or null when it has none.
WaitPoint* StopAt(Piece* piece, const Origin& origin) {
  if (piece == nullptr) return nullptr;
  const auto found = std::find_if(piece->stops.rbegin(), piece->stops.rend(),
                                  [&](const WaitPoint& stop) { return stop.origin == origin; });
  return found == piece->stops.rend() ? nullptr : &*found;
}

}  // namespace

double Piece::wait_us() const {
  double us = 0;
  for (const WaitPoint& stop : stops) us += stop.wait_us;
  return us;
}

Timeline::Timeline(const Profile& run) {
  Collect(run);
  TakeTimes(run);
  FindSharing();
}

void Timeline::Collect(const Profile& run) {
  std::map<std::pair<uint64_t, int>, size_t> lane_of;
  std::map<uint64_t, size_t> lane_of_session;  // The last lane of the session that closed a trace.
  std::map<uint64_t, int64_t> uploaded;        // By session, the bytes uploaded since its last close.
  std::map<uint64_t, size_t> piece_of_close;
  const auto last_piece = [&](uint64_t session) -> Piece* {
    const auto lane = lane_of_session.find(session);
    return lane == lane_of_session.end() ? nullptr : &pieces_[lanes_[lane->second].pieces.back()];
  };
  for (const Event& event : run.events) {
    if (const auto* close = std::get_if<CloseEvent>(&event.what)) {
      const auto [entry, fresh] = lane_of.try_emplace({close->session, close->device}, lanes_.size());
      if (fresh) lanes_.emplace_back();
      lane_of_session[close->session] = entry->second;
      ThreadLane& lane = lanes_[entry->second];
      Piece piece;
      piece.close = close;
      piece.cause = CauseOf(*close);
      if (close->cause != TraceCause::kSync)
        piece.stops.push_back({.cause = close->cause,
                               .origin = close->origin,
                               .operation = close->operation,
                               .over_at_us = event.at_us});
      piece.uploaded_bytes = std::exchange(uploaded[close->session], 0);
      for (const auto& input : close->inputs) piece.number_bytes += input.number ? input.bytes : 0;
      lane.moments.push_back({TimelineEvent::Kind::kClose, event.at_us, event.at_us, pieces_.size()});
      lane.pieces.push_back(pieces_.size());
      piece_of_close[close->close] = pieces_.size();
      pieces_.push_back(std::move(piece));
    } else if (const auto* force = std::get_if<ForceEvent>(&event.what)) {
      AddForce(*force, piece_of_close);
    } else if (const auto* transfer = std::get_if<TransferEvent>(&event.what)) {
      WaitPoint* const here = StopAt(last_piece(transfer->session), transfer->origin);
      switch (DirectionOf(transfer->cause)) {
        case Direction::kHostToDevice:
          uploaded[transfer->session] += transfer->value.bytes;
          if (here == nullptr) break;
          here->host_to_device_bytes += transfer->value.bytes;
          ++here->host_to_device_calls;
          break;
        case Direction::kDeviceToHost: {
          const auto made = piece_of_close.find(transfer->value.close);
          if (made != piece_of_close.end()) pieces_[made->second].read_bytes += transfer->value.bytes;
          if (here == nullptr) break;
          here->device_to_host_bytes += transfer->value.bytes;
          ++here->device_to_host_calls;
          break;
        }
        case Direction::kDeviceToDevice: break;
      }
      if (here != nullptr) here->over_at_us = event.at_us;
    } else if (const auto* wait = std::get_if<WaitEvent>(&event.what)) {
      const auto lane = lane_of_session.find(wait->session);
      if (lane == lane_of_session.end() || !IsRead(wait->cause)) continue;
      Piece& last = *last_piece(wait->session);
      WaitPoint* const here = wait->cause == WaitCause::kRead ? StopAt(&last, wait->origin) : nullptr;
      if (here != nullptr) {
        here->wait_us += wait->us;
        here->over_at_us = event.at_us;
      }
      lanes_[lane->second].moments.push_back(
          {TimelineEvent::Kind::kWait, event.at_us - wait->us, event.at_us,
           lanes_[lane->second].pieces.back(),
           here == nullptr ? -1 : static_cast<int>(here - last.stops.data())});
    } else if (const auto* host = std::get_if<HostFunctionEvent>(&event.what)) {
      // Sets it on the last closes whose results the function took.
      for (ThreadLane& lane : lanes_) {
        WaitPoint* const here = StopAt(&pieces_[lane.pieces.back()], host->origin);
        if (here == nullptr || here->cause != TraceCause::kHostFunction) continue;
        here->host_function = host;
        here->over_at_us = event.at_us;
      }
    } else if (const auto* step = std::get_if<StepEvent>(&event.what)) {
      const auto lane = lane_of_session.find(step->session);
      if (lane == lane_of_session.end()) continue;
      lanes_[lane->second].moments.push_back(
          {TimelineEvent::Kind::kStep, event.at_us, event.at_us, lanes_[lane->second].pieces.back()});
    }
  }
  for (ThreadLane& lane : lanes_) {
    std::stable_sort(lane.moments.begin(), lane.moments.end(),
                     [](const TimelineEvent& a, const TimelineEvent& b) { return a.end_us < b.end_us; });
  }
}

void Timeline::AddForce(const ForceEvent& force, const std::map<uint64_t, size_t>& piece_of_close) {
  const auto found = piece_of_close.find(force.close != 0 ? force.close : force.value.close);
  if (found == piece_of_close.end()) return;
  Piece& piece = pieces_[found->second];
  if (!piece.is_break()) return;  // A read after the end of a step stops no recorded trace.
  if (force.close != 0) {
    piece.stops.front().force = &force;
    return;
  }
  // The value is there already. This line would have made the break itself, if the last one had not.
  const bool is_last = std::any_of(lanes_.begin(), lanes_.end(), [&](const ThreadLane& lane) {
    return lane.pieces.back() == found->second;
  });
  const WaitPoint stop{force.cause, force.origin, force.operation, &force};
  const auto same = [&](const WaitPoint& other) { return other.IsSameLine(stop); };
  if (is_last && std::none_of(piece.stops.begin(), piece.stops.end(), same)) piece.stops.push_back(stop);
}

void Timeline::TakeTimes(const Profile& run) {
  // Chooses the most exact row that exists: of the program, line and step; of the program and line; of the
  // program.
  using ByStep = std::tuple<std::string, std::string, int, uint64_t>;
  std::map<ByStep, Times> by_step;
  std::map<std::pair<std::string, int>, Times> by_line;  // Program and file, and the line.
  std::map<std::string, Times> by_program;
  std::map<std::string, std::pair<double, int64_t>> compiled;
  for (const ProfileAccount& account : run.accounts) {
    for (const RunRow& row : account.account.runs) {
      by_program[row.digest].Add(row);
      if (row.other_steps || row.other_programs) continue;
      by_step[{row.digest, row.origin.file, row.origin.line, row.step}].Add(row);
      by_line[{row.digest + row.origin.file, row.origin.line}].Add(row);
    }
    for (const CompileRow& row : account.account.compiles) {
      auto& [us, count] = compiled[row.digest];
      us += static_cast<double>(row.compile_us);
      count += row.count;
    }
  }
  for (Piece& piece : pieces_) {
    const CloseEvent& close = *piece.close;
    const Times* times = nullptr;
    const auto step = by_step.find({close.program, close.origin.file, close.origin.line, close.step});
    if (step != by_step.end()) times = &step->second;
    const auto line = by_line.find({close.program + close.origin.file, close.origin.line});
    if (times == nullptr && line != by_line.end()) times = &line->second;
    const auto program = by_program.find(close.program);
    if (times == nullptr && program != by_program.end()) times = &program->second;
    if (times != nullptr && times->count > 0) {
      piece.queue_us = times->queue_us / static_cast<double>(times->count);
      piece.execute_us = times->run_us / static_cast<double>(times->count);
    }
    const auto found = compiled.find(close.program);
    if (close.found == ProgramSource::kCompiled && found != compiled.end() && found->second.second > 0)
      piece.compile_us = found->second.first / static_cast<double>(found->second.second);
  }
  for (ThreadLane& lane : lanes_) {
    // A graph may be slow because it computes. One core reads and writes large arrays at 20 GB/s.
    double bytes_per_us = 20'000;
    for (const size_t p : lane.pieces) {
      const Piece& piece = pieces_[p];
      if (piece.execute_us <= 0) continue;
      bytes_per_us = std::max(bytes_per_us, static_cast<double>(BytesOf(*piece.close)) / piece.execute_us);
    }
    lane.us_per_byte = 1 / bytes_per_us;
  }
}

void Timeline::FindSharing() {
  for (const ThreadLane& lane : lanes_) {
    for (size_t i = 0; i + 1 < lane.pieces.size(); ++i) {
      Piece& piece = pieces_[lane.pieces[i]];
      const CloseEvent& close = *piece.close;
      const CloseEvent& next = *pieces_[lane.pieces[i + 1]].close;
      if ((!piece.is_break() && piece.cause != "phase") || next.step != close.step) continue;
      // By buffer, true if the next graph donates it.
      std::map<uint64_t, bool> read_by_next;
      for (const auto& input : next.inputs) {
        if (!input.number) read_by_next[input.buffer] |= input.donated;
      }
      std::map<uint64_t, int64_t> results;
      for (const auto& output : close.outputs) results[output.buffer] = output.bytes;
      for (const auto& [buffer, bytes] : results) {
        const auto read = read_by_next.find(buffer);
        if (read == read_by_next.end()) continue;
        piece.held_bytes += bytes;
        // The next graph reads it again; when it also donates it, it was written for the next graph alone.
        piece.fusion_lost_bytes += read->second ? 2 * bytes : bytes;
      }
      for (const auto& input : close.inputs) {
        if (!input.number && read_by_next.contains(input.buffer)) piece.fusion_lost_bytes += input.bytes;
      }
    }
  }
}

double Timeline::Simulate(const ThreadLane& lane, const WaitPoint* without,
                          std::vector<Overhead>& overheads) const {
  if (lane.moments.empty()) return 0;
  const double start = lane.moments.front().begin_us;
  double host = start, device = start;            // The times at which host and device become free.
  double observed = start;                        // The recorded end of the previous moments.
  double pending_us = 0, pending_compile_us = 0;  // The times of graphs that wait to be merged with the next.
  bool pending = false;
  std::vector<size_t> after_uploads;  // Waits for graphs whose uploads were under way.
  double least_us = -1;               // The smallest overhead of the other waits; -1 when there are none.
  bool uploads = false;
  const auto dispatch = [&](double compile_us, double execute_us) {
    device = std::max(device, host + compile_us) + execute_us;
  };
  const auto flush = [&] {
    if (std::exchange(pending, false)) dispatch(pending_compile_us, pending_us);
    pending_us = pending_compile_us = 0;
  };
  overheads.resize(lane.moments.size());
  for (size_t m = 0; m < lane.moments.size(); ++m) {
    const TimelineEvent& moment = lane.moments[m];
    const Piece& piece = pieces_[moment.piece];
    // The stop at this moment. A close is removed only when it has no other stop.
    const int at = moment.kind == TimelineEvent::Kind::kWait ? moment.stop : piece.stops.size() == 1 ? 0 : -1;
    const bool gone = without != nullptr && at >= 0 && piece.stops[at].IsSameLine(*without);
    // The program's own work remains; the work that it did for the break does not.
    double busy = std::max(0.0, moment.begin_us - observed);
    observed = std::max(observed, moment.end_us);
    if (moment.kind != TimelineEvent::Kind::kClose && gone && moment.end_us <= piece.stops[at].over_at_us)
      busy = 0;
    if (moment.kind == TimelineEvent::Kind::kClose && m > 0) {
      const Piece& before = pieces_[lane.moments[m - 1].piece];
      for (const WaitPoint& stop : before.stops) {
        if (without != nullptr && stop.IsSameLine(*without))
          busy -= std::clamp(stop.over_at_us - lane.moments[m - 1].end_us, 0.0, busy);
      }
    }
    switch (moment.kind) {
      case TimelineEvent::Kind::kClose: {
        uploads = uploads || piece.uploaded_bytes > 0;
        if (gone) {
          flush();  // Occurrences of one break are not merged.
          host += std::max(0.0, busy - piece.close->send_us);
          pending = true;
          pending_us = piece.execute_us;
          pending_compile_us = piece.compile_us;
          break;
        }
        host += busy;
        double execute_us = piece.execute_us;
        if (pending) {
          const Piece& first =
              pieces_[lane.pieces[std::max<size_t>(1, static_cast<size_t>(
                                                          std::lower_bound(lane.pieces.begin(),
                                                                           lane.pieces.end(), moment.piece) -
                                                          lane.pieces.begin())) -
                                  1]];
          const double both = execute_us + pending_us;
          execute_us = std::max({execute_us, pending_us,
                                 both - static_cast<double>(first.fusion_lost_bytes) * lane.us_per_byte});
        }
        dispatch(piece.compile_us + pending_compile_us, execute_us);
        pending = false;
        pending_us = pending_compile_us = 0;
        break;
      }
      case TimelineEvent::Kind::kWait: {
        if (gone) {
          device += overheads[m].of_uploads_us;
          break;
        }
        flush();
        host += busy;
        if (without == nullptr) {
          const double end = host + (moment.end_us - moment.begin_us);
          const double over = overheads[m].us = std::max(0.0, end - std::max(host, device));
          if (std::exchange(uploads, false)) {
            after_uploads.push_back(m);
          } else {
            least_us = least_us < 0 ? over : std::min(least_us, over);
          }
          host = end;
          device = std::min(device, end);
        } else {
          host = std::max(host, device) + overheads[m].us;
        }
        break;
      }
      case TimelineEvent::Kind::kStep:
        host += busy;
        flush();
        break;
    }
  }
  flush();
  for (const size_t m : after_uploads) {
    if (least_us >= 0) overheads[m].of_uploads_us = std::max(0.0, overheads[m].us - least_us);
  }
  return std::max(host, device) - start;
}

Timeline::Counts Timeline::CountsWithout(const WaitPoint* line) const {
  Counts counts;
  // A graph consists of the closes that are merged into it: the program, cause and line of each.
  using Part = std::tuple<std::string, std::string, std::string, int>;
  std::set<std::vector<Part>> graphs;
  for (const ThreadLane& lane : lanes_) {
    std::vector<Part> pending;
    const auto run = [&] {
      if (pending.empty()) return;
      graphs.insert(std::exchange(pending, {}));
      ++counts.executes;
    };
    for (size_t i = 0; i < lane.pieces.size(); ++i) {
      const Piece& piece = pieces_[lane.pieces[i]];
      const CloseEvent& close = *piece.close;
      const bool gone = line != nullptr && piece.stops.size() == 1 && piece.stops[0].IsSameLine(*line);
      if (gone) run();  // Occurrences of one break are not merged.
      pending.emplace_back(close.program, piece.cause, close.origin.file, close.origin.line);
      const bool last = i + 1 == lane.pieces.size() || pieces_[lane.pieces[i + 1]].close->step != close.step;
      if (!gone || last) run();
    }
  }
  counts.graphs = static_cast<int64_t>(graphs.size());
  return counts;
}

double Timeline::SavedWithout(const WaitPoint& line) const {
  double saved = 0;
  for (const ThreadLane& lane : lanes_) {
    std::vector<Overhead> overheads;
    const double with = Simulate(lane, nullptr, overheads);
    saved += with - Simulate(lane, &line, overheads);
  }
  return std::max(0.0, saved);
}

}  // namespace hlod::report
