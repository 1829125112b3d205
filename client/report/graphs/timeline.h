// A run as a timeline: graphs, waits and the host's time between them, which can be gone through again with
// some of the breaks gone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hlod/observe/profile.h"
#include "hlod/tensor/trace.h"

namespace hlod::analysis {

// A line of the program that stands between two graphs.
struct WaitPoint {
  TraceCause cause{};
  Origin origin;
  std::string operation;
  const ForceEvent* force = nullptr;
  const HostFunctionEvent* host_function = nullptr;
  // There: bytes each way, waiting, and when the last of it was over.
  int64_t host_to_device_bytes = 0, device_to_host_bytes = 0;
  int64_t host_to_device_calls = 0, device_to_host_calls = 0;
  double wait_us = 0, over_at_us = 0;

  bool IsSameLine(const WaitPoint& other) const {
    return cause == other.cause && origin == other.origin && operation == other.operation;
  }
};

// A close, and what happened on its account until the next one of its session.
struct Piece {
  const CloseEvent* close = nullptr;
  std::string cause;  // Name(TraceCause), or "phase".
  // Of a break, that is a close which is not the end of a step: what caused it, then what would have, had it
  // not been there: reads and host functions that found its results. Without all of them the next close were
  // one with this.
  std::vector<WaitPoint> stops;
  // Uploaded since the close before; read of its results, whenever that was.
  int64_t uploaded_bytes = 0, read_bytes = 0;
  int64_t number_bytes = 0;                             // That travelled in the execute.
  double compile_us = 0, queue_us = 0, execute_us = 0;  // The daemon's, as the account has them on average.
  // With the next close of the same step as one: what would not be moved, and not be kept meanwhile.
  int64_t fusion_lost_bytes = 0, held_bytes = 0;

  bool is_break() const { return !stops.empty(); }
  double wait_us() const;  // At all of its stops.
};

// What a thread of the program did with one session's device, in order.
struct TimelineEvent {
  enum class Kind : uint8_t { kClose, kWait, kStep } kind = Kind::kClose;
  double begin_us = 0, end_us = 0;
  size_t piece = 0;  // kClose: it; kWait: the last one before.
  int stop = -1;     // Of a kWait at one of its stops: which.
};

class Timeline {
 public:
  // Refers to the run, which must outlive it.
  explicit Timeline(const Profile& run);

  // In order of closing.
  const std::vector<Piece>& pieces() const { return pieces_; }
  // By how much the run is shorter without a line that stops it.
  double SavedWithout(const WaitPoint& line) const;
  // How many graphs, told apart by program and line, there would be then, and how many executes of them.
  struct Counts {
    int64_t graphs = 0, executes = 0;
  };
  Counts CountsWithout(const WaitPoint* line) const;  // Null: as it was.

 private:
  struct ThreadLane {
    std::vector<size_t> pieces;
    std::vector<TimelineEvent> moments;
    double us_per_byte = 0;  // Of memory, as far as the graphs show it.
  };
  void Collect(const Profile& run);
  void TakeTimes(const Profile& run);
  void FindSharing();
  // What a wait took beyond the device's executes: the way there and back, and with uploads on the way the
  // time until the device had them, which is not saved with the wait.
  struct Overhead {
    double us = 0, of_uploads_us = 0;
  };
  // How long a lane takes; `without` is null, or the line that is gone. `overheads`, one a moment, are found
  // when nothing is gone.
  double Simulate(const ThreadLane& lane, const WaitPoint* without, std::vector<Overhead>& overheads) const;
  void AddForce(const ForceEvent& force, const std::map<uint64_t, size_t>& piece_of_close);

  std::vector<Piece> pieces_;
  std::vector<ThreadLane> lanes_;
};

}  // namespace hlod::analysis
