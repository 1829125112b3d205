// Waits for values and for room, and hands values over.
#include "server/device/execution/session_channels.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::device {

struct SessionChannels::Slot {
  MemoryCharge charge;
  std::optional<Value> value;
};

namespace {

constexpr std::chrono::milliseconds kBetweenLooks(5);
// The bytes charged for a value besides its data, and for each of its arrays: a shape, a block, a pointer.
constexpr int64_t kValueBytes = 512, kArrayBytes = 1024;

absl::Status Ended(const SessionChannels::QueueKey& place) {
  return MakeError(ErrorKind::kCancelled,
                   absl::StrFormat("The execute (command %d) has ended: nothing more passes %s of it.",
                                   place.execution, place.channel.ToString()));
}

}  // namespace

absl::Status SessionChannels::Late(const QueueKey& place, std::string_view what) const {
  return MakeError(ErrorKind::kPending,
                   absl::StrFormat("%s on %s of device %d within channel_wait_us (%d).", what,
                                   place.channel.ToString(), place.device, limits_.channel_wait_us));
}

bool SessionChannels::IsOver(const QueueKey& place) const {
  return place.execution != 0 && place.channel.kind != hlo::Channel::Kind::kPeer &&
         !open_.contains(place.execution);
}

void SessionChannels::Tidy(std::map<QueueKey, Queue>::iterator at) {
  if (at->second.slots.empty() && at->second.receivers.empty()) queues_.erase(at);
}

absl::StatusOr<std::shared_ptr<SessionChannels::Slot>> SessionChannels::MakeSlot(size_t arrays) const {
  const int64_t bytes = kValueBytes + static_cast<int64_t>(arrays) * kArrayBytes;
  ASSIGN_OR_RETURN(MemoryCharge charge, MemoryCharge::Take(share_, bytes, "A value in a channel"));
  return std::make_shared<Slot>(Slot{std::move(charge), std::nullopt});
}

absl::StatusOr<std::shared_ptr<SessionChannels::Slot>> SessionChannels::Append(const QueueKey& place,
                                                                               size_t arrays) {
  MutexLock lock(&mu_);
  if (IsOver(place)) return Ended(place);
  if (values_ >= limits_.channel_values_max) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%d values of this session wait in channels; the limit channel_values_max is %d.",
                        values_, limits_.channel_values_max));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Slot> slot, MakeSlot(arrays));
  ++values_;
  return queues_[place].slots.emplace_back(std::move(slot));
}

void SessionChannels::Fill(const std::shared_ptr<Slot>& slot, Value value) {
  MutexLock lock(&mu_);
  slot->value = std::move(value);
  changed_.SignalAll();
}

void SessionChannels::Remove(const QueueKey& place, const std::shared_ptr<Slot>& slot) {
  MutexLock lock(&mu_);
  const auto at = queues_.find(place);
  if (at == queues_.end()) return;
  values_ -= static_cast<int64_t>(std::erase(at->second.slots, slot));
  Tidy(at);
  changed_.SignalAll();
}

void SessionChannels::Await(const QueueKey& place, uint64_t command, Receiver receiver) {
  std::shared_ptr<Slot> slot;
  {
    MutexLock lock(&mu_);
    if (closed_) return;  // The receiver is destroyed with the caller's frame.
    Queue& queue = queues_[place];
    if (!queue.slots.empty()) {
      // A program's values are complete as soon as they have a slot.
      slot = std::move(queue.slots.front());
      queue.slots.pop_front();
      --values_;
      Tidy(queues_.find(place));
      changed_.SignalAll();
    } else if (!IsOver(place)) {
      queue.receivers.emplace_back(command, std::move(receiver));
      return;
    } else {
      Tidy(queues_.find(place));
    }
  }
  if (slot == nullptr) return receiver({.error = Ended(place)});
  receiver(*std::move(slot->value));
}

bool SessionChannels::Forget(const QueueKey& place, uint64_t command) {
  std::list<std::pair<uint64_t, Receiver>> gone;
  MutexLock lock(&mu_);
  const auto at = queues_.find(place);
  if (at == queues_.end()) return false;
  auto& receivers = at->second.receivers;
  const auto found = std::ranges::find(receivers, command, &std::pair<uint64_t, Receiver>::first);
  if (found == receivers.end()) return false;
  gone.splice(gone.end(), receivers, found);
  Tidy(at);
  return true;
}

absl::Status SessionChannels::Put(const QueueKey& place, Value value, Stop stop) {
  Receiver receiver;
  {
    const absl::Time deadline = absl::Now() + absl::Microseconds(limits_.channel_wait_us);
    MutexLock lock(&mu_);
    while (!closed_) {
      Queue& queue = queues_[place];
      if (!queue.receivers.empty()) {
        receiver = std::move(queue.receivers.front().second);
        queue.receivers.pop_front();
        Tidy(queues_.find(place));
        break;
      }
      if (values_ < limits_.channel_values_max) {
        ASSIGN_OR_RETURN(const std::shared_ptr<Slot> slot, MakeSlot(value.shapes.size()));
        slot->value = std::move(value);
        ++values_;
        queue.slots.push_back(slot);
        changed_.SignalAll();
        return absl::OkStatus();
      }
      Tidy(queues_.find(place));
      RETURN_IF_ERROR(stop());
      if (absl::Now() > deadline)
        return Late(place, absl::StrFormat("There was no room beside %d values", values_));
      changed_.WaitFor(&mu_, kBetweenLooks);
    }
  }
  if (receiver != nullptr) receiver(std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<SessionChannels::Value> SessionChannels::Take(const QueueKey& place, Stop stop) {
  const absl::Time deadline = absl::Now() + absl::Microseconds(limits_.channel_wait_us);
  std::shared_ptr<Slot> slot;
  {
    MutexLock lock(&mu_);
    while (true) {
      const auto at = queues_.find(place);
      if (at != queues_.end() && !at->second.slots.empty() && at->second.slots.front()->value.has_value()) {
        slot = std::move(at->second.slots.front());
        at->second.slots.pop_front();
        --values_;
        Tidy(at);
        changed_.SignalAll();
        break;
      }
      RETURN_IF_ERROR(stop());
      if (absl::Now() > deadline) return Late(place, "No value came");
      changed_.WaitFor(&mu_, kBetweenLooks);
    }
  }
  if (!slot->value->error.ok()) return slot->value->error;
  return *std::move(slot->value);
}

void SessionChannels::BeginExecution(uint64_t execution) {
  MutexLock lock(&mu_);
  open_.insert(execution);
}

void SessionChannels::EndExecution(uint64_t execution) {
  std::vector<std::pair<QueueKey, Queue>> gone;
  {
    MutexLock lock(&mu_);
    open_.erase(execution);
    std::erase_if(queues_, [&](auto& entry) {
      mu_.AssertHeld();
      auto& [place, queue] = entry;
      const bool is_taken_later =
          place.channel.kind == hlo::Channel::Kind::kToHost && queue.receivers.empty();
      if (place.execution != execution || is_taken_later) return false;
      values_ -= static_cast<int64_t>(queue.slots.size());
      gone.emplace_back(place, std::move(queue));
      return true;
    });
  }
  for (auto& [place, queue] : gone) {
    for (auto& [command, receiver] : queue.receivers) receiver({.error = Ended(place)});
  }
}

std::map<SessionChannels::QueueKey, SessionChannels::Queue> SessionChannels::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  values_ = 0;
  changed_.SignalAll();
  return std::exchange(queues_, {});
}

}  // namespace hlod::device
