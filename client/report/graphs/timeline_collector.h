// Collects the pieces and lanes of a timeline from a run's events.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "client/report/graphs/timeline.h"

namespace hlod::report {

class TimelineCollector {
 public:
  TimelineCollector(std::vector<Piece>& pieces, std::vector<ThreadLane>& lanes)
      : pieces_(pieces), lanes_(lanes) {}
  // Takes the events of a run in their order. Other events than closes and what follows them are ignored.
  void Add(const Event& event);
  // Puts the moments of each lane in order.
  void Finish();

 private:
  void Take(const CloseEvent& close, double at_us);
  void Take(const ForceEvent& force, double at_us);
  void Take(const TransferEvent& transfer, double at_us);
  void Take(const WaitEvent& wait, double at_us);
  void Take(const HostFunctionEvent& host, double at_us);
  void Take(const StepEvent& step, double at_us);
  // Return null for a session that has not closed a trace.
  ThreadLane* LastLane(uint64_t session);
  Piece* LastPiece(uint64_t session);

  std::vector<Piece>& pieces_;
  std::vector<ThreadLane>& lanes_;
  std::map<std::pair<uint64_t, int>, size_t> lane_of_;  // By session and device.
  std::map<uint64_t, size_t> lane_of_session_;          // The last lane of the session that closed a trace.
  std::map<uint64_t, int64_t> uploaded_;  // By session, the bytes uploaded since its last close.
  std::map<uint64_t, size_t> piece_of_close_;
};

}  // namespace hlod::report
