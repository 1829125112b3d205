// A run as a timeline: graphs, waits and the host's time between them, which can be simulated again without
// some of its breaks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hlod/observe/profile.h"
#include "hlod/tensor/trace.h"

namespace hlod::report {

// A line of the program that separates two graphs.
struct WaitPoint {
  TraceCause cause{};
  Origin origin;
  std::string operation;
  const ForceEvent* force = nullptr;
  const HostFunctionEvent* host_function = nullptr;
  // At this line: the bytes each way, the time waited, and when the last transfer or wait was over.
  int64_t host_to_device_bytes = 0, device_to_host_bytes = 0;
  int64_t host_to_device_calls = 0, device_to_host_calls = 0;
  double wait_us = 0, over_at_us = 0;

  bool IsSameLine(const WaitPoint& other) const {
    return cause == other.cause && origin == other.origin && operation == other.operation;
  }
};

// A close, and the events caused by it until the next close of its session.
struct Piece {
  const CloseEvent* close = nullptr;
  std::string cause;  // Name(TraceCause), or "phase".
  // The stops of a break, that is, of a close which is not the end of a step. The first one caused it. The
  // others would have caused it if the first had not: reads and host functions that used its results. Without
  // all of them the next close would be merged with this one.
  std::vector<WaitPoint> stops;
  // The bytes uploaded since the previous close, and the bytes of its results that were read at any time.
  int64_t uploaded_bytes = 0, read_bytes = 0;
  int64_t number_bytes = 0;                             // The bytes of numbers that travelled in the execute.
  double compile_us = 0, queue_us = 0, execute_us = 0;  // The daemon's times, as averages from the account.
  // The bytes that would not be moved, and not be kept meanwhile, if it were merged with the next close of
  // the same step.
  int64_t fusion_lost_bytes = 0, held_bytes = 0;

  bool is_break() const { return !stops.empty(); }
  double wait_us() const;  // The time waited at all of its stops.
};

// An action of a thread of the program on one session's device, in order.
struct TimelineEvent {
  enum class Kind : uint8_t { kClose, kWait, kStep } kind = Kind::kClose;
  double begin_us = 0, end_us = 0;
  size_t piece = 0;  // For kClose the event's own piece, otherwise the last one before.
  int stop = -1;     // For a kWait at one of its piece's stops the index of the stop, else -1.
};

// The closes and moments of one session and device, as indices of pieces.
struct ThreadLane {
  std::vector<size_t> pieces;
  std::vector<TimelineEvent> moments;
  double us_per_byte = 0;  // The time of memory traffic, estimated from the graphs.
};

class Timeline {
 public:
  // Refers to the run, which must outlive it.
  explicit Timeline(const Profile& run);

  // In order of closing.
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Returns by how much the run is shorter without a line that stops it.
  double SavedWithout(const WaitPoint& line) const;
  // The number of graphs, distinguished by program and line, and of their executes.
  struct Counts {
    int64_t graphs = 0, executes = 0;
  };
  Counts CountsWithout(const WaitPoint* line) const;  // With null, the recorded counts.

 private:
  void TakeTimes(const Profile& run);
  void FindSharing();

  std::vector<Piece> pieces_;
  std::vector<ThreadLane> lanes_;
};

}  // namespace hlod::report
