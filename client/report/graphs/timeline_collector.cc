// One function per kind of event.
#include "client/report/graphs/timeline_collector.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/base/saturated.h"

namespace hlod::report {
namespace {

bool IsRead(WaitCause cause) { return cause == WaitCause::kRead || cause == WaitCause::kSettle; }

std::string CauseOf(const CloseEvent& close) {
  return close.operation == "phase" ? "phase" : std::string(Name(close.cause));
}

// Returns the last of the piece's stops at that line, or null when it has none.
WaitPoint* StopAt(Piece* piece, const Origin& origin) {
  if (piece == nullptr) return nullptr;
  const auto found = std::find_if(piece->stops.rbegin(), piece->stops.rend(),
                                  [&](const WaitPoint& stop) { return stop.origin == origin; });
  return found == piece->stops.rend() ? nullptr : &*found;
}

}  // namespace

void TimelineCollector::Add(const Event& event) {
  std::visit(
      [&](const auto& what) {
        if constexpr (requires { Take(what, event.at_us); }) Take(what, event.at_us);
      },
      event.what);
}

void TimelineCollector::Finish() {
  for (ThreadLane& lane : lanes_) {
    std::stable_sort(lane.moments.begin(), lane.moments.end(),
                     [](const TimelineEvent& a, const TimelineEvent& b) { return a.end_us < b.end_us; });
  }
}

ThreadLane* TimelineCollector::LastLane(uint64_t session) {
  const auto lane = lane_of_session_.find(session);
  return lane == lane_of_session_.end() ? nullptr : &lanes_[lane->second];
}

Piece* TimelineCollector::LastPiece(uint64_t session) {
  const ThreadLane* const lane = LastLane(session);
  return lane == nullptr ? nullptr : &pieces_[lane->pieces.back()];
}

void TimelineCollector::Take(const CloseEvent& close, double at_us) {
  const auto [entry, fresh] = lane_of_.try_emplace({close.session, close.device}, lanes_.size());
  if (fresh) lanes_.emplace_back();
  lane_of_session_[close.session] = entry->second;
  ThreadLane& lane = lanes_[entry->second];
  Piece piece;
  piece.close = &close;
  piece.cause = CauseOf(close);
  if (close.cause != TraceCause::kSync)
    piece.stops.push_back(
        {.cause = close.cause, .origin = close.origin, .operation = close.operation, .over_at_us = at_us});
  piece.uploaded_bytes = std::exchange(uploaded_[close.session], 0);
  for (const auto& input : close.inputs) AddSaturated(piece.number_bytes, input.number ? input.bytes : 0);
  lane.moments.push_back({TimelineEvent::Kind::kClose, at_us, at_us, pieces_.size()});
  lane.pieces.push_back(pieces_.size());
  piece_of_close_[close.close] = pieces_.size();
  pieces_.push_back(std::move(piece));
}

void TimelineCollector::Take(const ForceEvent& force, double) {
  const auto found = piece_of_close_.find(force.close != 0 ? force.close : force.value.close);
  if (found == piece_of_close_.end()) return;
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

void TimelineCollector::Take(const TransferEvent& transfer, double at_us) {
  WaitPoint* const here = StopAt(LastPiece(transfer.session), transfer.origin);
  const int64_t bytes = transfer.value.bytes;
  switch (DirectionOf(transfer.cause)) {
    case Direction::kHostToDevice:
      AddSaturated(uploaded_[transfer.session], bytes);
      if (here == nullptr) break;
      AddSaturated(here->host_to_device_bytes, bytes);
      ++here->host_to_device_calls;
      break;
    case Direction::kDeviceToHost: {
      const auto made = piece_of_close_.find(transfer.value.close);
      if (made != piece_of_close_.end()) AddSaturated(pieces_[made->second].read_bytes, bytes);
      if (here == nullptr) break;
      AddSaturated(here->device_to_host_bytes, bytes);
      ++here->device_to_host_calls;
      break;
    }
    case Direction::kDeviceToDevice: break;
  }
  if (here != nullptr) here->over_at_us = at_us;
}

void TimelineCollector::Take(const WaitEvent& wait, double at_us) {
  ThreadLane* const lane = LastLane(wait.session);
  if (lane == nullptr || !IsRead(wait.cause)) return;
  Piece& last = pieces_[lane->pieces.back()];
  WaitPoint* const here = wait.cause == WaitCause::kRead ? StopAt(&last, wait.origin) : nullptr;
  if (here != nullptr) {
    here->wait_us += wait.us;
    here->over_at_us = at_us;
  }
  lane->moments.push_back({TimelineEvent::Kind::kWait, at_us - wait.us, at_us, lane->pieces.back(),
                           here == nullptr ? -1 : static_cast<int>(here - last.stops.data())});
}

void TimelineCollector::Take(const HostFunctionEvent& host, double at_us) {
  // Sets it on the last closes whose results the function took.
  for (ThreadLane& lane : lanes_) {
    WaitPoint* const here = StopAt(&pieces_[lane.pieces.back()], host.origin);
    if (here == nullptr || here->cause != TraceCause::kHostFunction) continue;
    here->host_function = &host;
    here->over_at_us = at_us;
  }
}

void TimelineCollector::Take(const StepEvent& step, double at_us) {
  ThreadLane* const lane = LastLane(step.session);
  if (lane == nullptr) return;
  lane->moments.push_back({TimelineEvent::Kind::kStep, at_us, at_us, lane->pieces.back()});
}

}  // namespace hlod::report
