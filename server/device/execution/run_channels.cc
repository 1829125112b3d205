// Copies values between a step's memory and channels.
#include "server/device/execution/run_channels.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/base/errors/status.h"
#include "server/device/devices.h"

namespace hlod::device {
namespace {

// Copies like memcpy, but checks `stop` every few milliseconds.
absl::Status Copy(const std::byte* from, std::byte* to, int64_t bytes, hlo::Channels::Stop stop) {
  constexpr int64_t kPiece = 8 << 20;
  for (int64_t at = 0; at < bytes; at += kPiece) {
    if (at > 0) RETURN_IF_ERROR(stop());
    std::memcpy(to + at, from + at, static_cast<size_t>(std::min(kPiece, bytes - at)));
  }
  return absl::OkStatus();
}

}  // namespace

SessionChannels::QueueKey RunChannels::QueueKeyOf(const hlo::Channel& channel) const {
  if (channel.kind == hlo::Channel::Kind::kPeer) return {channel, 0, execution_};
  return {channel, device_, own_ ? execution_ : 0};
}

bool RunChannels::WaitsForClient(const hlo::Channel& channel) const {
  return alone_ || channel.kind != hlo::Channel::Kind::kPeer;
}

absl::Status RunChannels::Put(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                              absl::Span<const std::byte* const> arrays, Stop stop) {
  SessionChannels::Value value;
  value.shapes.assign(shapes.begin(), shapes.end());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int64_t bytes = ByteSize(shapes[i]).value_or(0);
    ASSIGN_OR_RETURN(
        Block block,
        state_.devices.device(device_).memory.Allocate(state_.account, bytes, Category::kBuffer, [&] {
          return absl::StrFormat("a value of %s (%s)", channel.ToString(), ToStringNoLayout(shapes[i]));
        }));
    RETURN_IF_ERROR(Copy(arrays[i], block.data(), bytes, stop));
    value.arrays.push_back(block.data());
    value.blocks.push_back(std::move(block));
  }
  std::optional<FairQueue::Pause> pause;
  return state_.channels.Put(QueueKeyOf(channel), std::move(value), [&]() -> absl::Status {
    if (WaitsForClient(channel) && !pause.has_value()) pause.emplace(state_.devices.device(device_).queue);
    return stop();
  });
}

absl::Status RunChannels::Take(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                               absl::Span<std::byte* const> arrays, Stop stop) {
  // While the program waits, the device runs other executes, which the client may need before it sends the
  // value.
  std::optional<FairQueue::Pause> pause;
  ASSIGN_OR_RETURN(const SessionChannels::Value value,
                   state_.channels.Take(QueueKeyOf(channel), [&]() -> absl::Status {
                     if (WaitsForClient(channel) && !pause.has_value())
                       pause.emplace(state_.devices.device(device_).queue);
                     return stop();
                   }));
  pause.reset();
  RETURN_IF_ERROR(hlo::CheckTaken(channel, value.shapes, shapes));
  for (size_t i = 0; i < shapes.size(); ++i)
    RETURN_IF_ERROR(Copy(value.arrays[i], arrays[i], ByteSize(shapes[i]).value_or(0), stop));
  return absl::OkStatus();
}

}  // namespace hlod::device
