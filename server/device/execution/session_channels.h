// Queues of values by channel, between the running programs of a session and between them and their client.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/base/system/mutex.h"
#include "common/hlo/collectives/channels.h"
#include "server/device/memory/device_memory.h"
#include "server/device/memory/side_memory.h"

namespace hlod::device {

// Independent of commands and handles. Thread-safe: calls callbacks and destroys values without holding its
// lock.
class SessionChannels {
 public:
  // The key of one queue: a channel of a device, of an execute on a device, or between the participants of an
  // execute.
  struct QueueKey {
    hlo::Channel channel;
    uint32_t device = 0;     // 0 for kPeer.
    uint64_t execution = 0;  // For kPeer and for an execute's own channels, its command.
    friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
  };
  struct Value {
    absl::Status error;  // OK, or the reason why there is no value.
    std::vector<hlo::Shape> shapes;
    std::vector<const std::byte*> arrays;  // Addresses in `blocks`, or in memory that `keeper` keeps alive.
    std::vector<Block> blocks;
    std::shared_ptr<const void> keeper;
  };
  using Receiver = std::function<void(Value)>;
  using Stop = hlo::Channels::Stop;
  // A position in a queue for a value that has not arrived yet.
  struct Slot;

  // `share` is charged with the tables of waiting values. The bytes of values are in the devices' memory.
  SessionChannels(const Limits& limits, std::shared_ptr<MemoryShare> share)
      : limits_(limits), share_(std::move(share)) {}

  // For the client. Append adds a slot at the end of the queue, for a value of `arrays` arrays. It returns an
  // error of kind limit when the session has too many values, or the user's share of memory has no room, and
  // of kind cancelled when the queue is of an execute that has ended.
  absl::StatusOr<std::shared_ptr<Slot>> Append(const QueueKey& place, size_t arrays);
  void Fill(const std::shared_ptr<Slot>& slot, Value value);
  void Remove(const QueueKey& place, const std::shared_ptr<Slot>& slot);
  // Calls `receiver`, perhaps at once, with the queue's next value that is not for an earlier receiver, or
  // with an error when the execute whose queue it is has ended. Forget(command) removes the receiver; it
  // returns false if it was already called or removed.
  void Await(const QueueKey& place, uint64_t command, Receiver receiver);
  bool Forget(const QueueKey& place, uint64_t command);

  // For a program. Both wait for at most channel_wait_us, and fail with kind pending.
  absl::Status Put(const QueueKey& place, Value value, Stop stop);
  absl::StatusOr<Value> Take(const QueueKey& place, Stop stop);

  // Opens an execute's own channels to the client and from there.
  void BeginExecution(uint64_t execution);
  // Drops the values that an execute has not received, from its participants or from the client. Its values
  // for the client stay until they are taken; receivers that still wait are called with an error.
  void EndExecution(uint64_t execution);
  struct Queue;
  // Ends all receiving, and drops values that programs send from now on. Returns the waiting values, for the
  // caller to destroy.
  std::map<QueueKey, Queue> Close();

  struct Queue {
    std::deque<std::shared_ptr<Slot>> slots;
    std::list<std::pair<uint64_t, Receiver>> receivers;  // The receivers, with their commands.
  };

 private:
  absl::Status Late(const QueueKey& place, std::string_view what) const;
  // Returns true when the queue is an own channel of an execute that has ended.
  bool IsOver(const QueueKey& place) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tidy(std::map<QueueKey, Queue>::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::StatusOr<std::shared_ptr<Slot>> MakeSlot(size_t arrays) const;

  const Limits& limits_;
  const std::shared_ptr<MemoryShare> share_;
  Mutex mu_;
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  std::map<QueueKey, Queue> queues_ ABSL_GUARDED_BY(mu_);  // The queues that have a slot or a receiver.
  std::set<uint64_t> open_ ABSL_GUARDED_BY(mu_);           // The executes with channels of their own.
  int64_t values_ ABSL_GUARDED_BY(mu_) = 0;                // The number of slots.
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::device
