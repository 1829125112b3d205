// Values between a session's programs that run, and between them and their client: queues by channel.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
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

// Knows neither commands nor handles. Thread-safe: what it is given is called and destroyed without its lock.
class SessionChannels {
 public:
  // One queue: a channel of a device, or between the participants of an execute.
  struct Place {
    hlo::Channel channel;
    uint32_t device = 0;     // Of kPeer 0.
    uint64_t execution = 0;  // Of kPeer the command.
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Value {
    absl::Status error;  // Why there is no value, or OK.
    std::vector<hlo::Shape> shapes;
    std::vector<const std::byte*> arrays;  // In `blocks`, or in what `keeper` keeps.
    std::vector<Block> blocks;
    std::shared_ptr<const void> keeper;
  };
  using Receiver = std::function<void(Value)>;
  using Stop = hlo::Channels::Stop;
  // A place in a queue, for a value that is not there yet.
  struct Slot;

  // The tables of values that wait are charged to `share`, as long as they wait; their bytes lie in the
  // devices' memory.
  SessionChannels(const Limits& limits, std::shared_ptr<MemoryShare> share)
      : limits_(limits), share_(std::move(share)) {}

  // The client's side. A slot at the end of the queue, for a value of so many arrays; kind limit when the
  // session's values are too many, or the user's share of memory has no room.
  absl::StatusOr<std::shared_ptr<Slot>> Append(const Place& place, size_t arrays);
  void Fill(const std::shared_ptr<Slot>& slot, Value value);
  void Remove(const Place& place, const std::shared_ptr<Slot>& slot);
  // Calls `receiver` with the queue's next value that no earlier receiver gets, perhaps at once. `command`
  // names it: Forget(command) takes it away, and is false when it is gone already.
  void Await(const Place& place, uint64_t command, Receiver receiver);
  bool Forget(const Place& place, uint64_t command);

  // A program's side: both wait, at most channel_wait_us (kind pending).
  absl::Status Put(const Place& place, Value value, Stop stop);
  absl::StatusOr<Value> Take(const Place& place, Stop stop);

  // What an execute's participants have not taken from each other goes.
  void EndExecution(uint64_t execution);
  // Nothing is received any more, and what programs put is dropped. What there was, for the caller to
  // destroy.
  std::shared_ptr<const void> Close();

 private:
  struct Queue {
    std::deque<std::shared_ptr<Slot>> slots;
    std::list<std::pair<uint64_t, Receiver>> receivers;  // By command.
  };

  absl::Status Late(const Place& place, std::string_view what) const;
  void Tidy(std::map<Place, Queue>::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::StatusOr<std::shared_ptr<Slot>> MakeSlot(size_t arrays) const;

  const Limits& limits_;
  const std::shared_ptr<MemoryShare> share_;
  Mutex mu_;
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  std::map<Place, Queue> queues_ ABSL_GUARDED_BY(mu_);  // Those with a slot or a receiver.
  int64_t values_ ABSL_GUARDED_BY(mu_) = 0;             // Slots.
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::device
