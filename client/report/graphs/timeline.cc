// Puts a recorded run in order. simulation.cc tells how it is simulated again without some of its breaks.
#include "client/report/graphs/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "client/report/graphs/simulation.h"
#include "client/report/graphs/timeline_collector.h"
#include "common/base/saturated.h"

namespace hlod::report {
namespace {

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
  for (const auto& input : close.inputs) AddSaturated(bytes, input.bytes);
  std::set<uint64_t> buffers;
  for (const auto& output : close.outputs) {
    if (buffers.insert(output.buffer).second) AddSaturated(bytes, output.bytes);
  }
  return bytes;
}

}  // namespace

double Piece::wait_us() const {
  double us = 0;
  for (const WaitPoint& stop : stops) us += stop.wait_us;
  return us;
}

Timeline::Timeline(const Profile& run) {
  TimelineCollector collector(pieces_, lanes_);
  for (const Event& event : run.events) collector.Add(event);
  collector.Finish();
  TakeTimes(run);
  FindSharing();
}

namespace {

// Averages per program, from the most exact rows that exist.
class ProgramTimes {
 public:
  explicit ProgramTimes(const Profile& run) {
    for (const ProfileAccount& account : run.accounts) {
      for (const RunRow& row : account.account.runs) {
        by_program_[row.digest].Add(row);
        if (row.other_steps || row.other_programs) continue;
        by_step_[{row.digest, row.origin.file, row.origin.line, row.step}].Add(row);
        by_line_[{row.digest + row.origin.file, row.origin.line}].Add(row);
      }
      for (const CompileRow& row : account.account.compiles) {
        auto& [us, count] = compiled_[row.digest];
        us += static_cast<double>(row.compile_us);
        count += row.count;
      }
    }
  }

  // Returns the times of the program, line and step; else of the program and line; else of the program. Null
  // when it did not run.
  const Times* Of(const CloseEvent& close) const {
    const auto step = by_step_.find({close.program, close.origin.file, close.origin.line, close.step});
    if (step != by_step_.end()) return &step->second;
    const auto line = by_line_.find({close.program + close.origin.file, close.origin.line});
    if (line != by_line_.end()) return &line->second;
    const auto program = by_program_.find(close.program);
    return program == by_program_.end() ? nullptr : &program->second;
  }
  // Returns the time of one compile, or 0 when it is not known.
  double CompileOf(const std::string& program) const {
    const auto found = compiled_.find(program);
    if (found == compiled_.end() || found->second.second <= 0) return 0;
    return found->second.first / static_cast<double>(found->second.second);
  }

 private:
  std::map<std::tuple<std::string, std::string, int, uint64_t>, Times> by_step_;
  std::map<std::pair<std::string, int>, Times> by_line_;  // Program and file, and the line.
  std::map<std::string, Times> by_program_;
  std::map<std::string, std::pair<double, int64_t>> compiled_;
};

}  // namespace

void Timeline::TakeTimes(const Profile& run) {
  const ProgramTimes programs(run);
  for (Piece& piece : pieces_) {
    const CloseEvent& close = *piece.close;
    const Times* const times = programs.Of(close);
    if (times != nullptr && times->count > 0) {
      piece.queue_us = times->queue_us / static_cast<double>(times->count);
      piece.execute_us = times->run_us / static_cast<double>(times->count);
    }
    if (close.found == ProgramSource::kCompiled) piece.compile_us = programs.CompileOf(close.program);
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
        AddSaturated(piece.held_bytes, bytes);
        // The next graph reads it again; when it also donates it, it was written for the next graph alone.
        AddSaturated(piece.fusion_lost_bytes, bytes);
        if (read->second) AddSaturated(piece.fusion_lost_bytes, bytes);
      }
      for (const auto& input : close.inputs) {
        if (!input.number && read_by_next.contains(input.buffer))
          AddSaturated(piece.fusion_lost_bytes, input.bytes);
      }
    }
  }
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
    std::vector<WaitOverhead> overheads;
    const double with = Simulate(pieces_, lane, nullptr, overheads);
    saved += with - Simulate(pieces_, lane, &line, overheads);
  }
  return std::max(0.0, saved);
}

}  // namespace hlod::report
