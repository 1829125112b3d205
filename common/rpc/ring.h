// Messages from one process to another through memory that both map: one writer, one reader, no system call
// while the reader is awake.
//
// The memory has a page of positions, then the bytes of two rings, one for each direction. A ring is an array
// of bytes that the records of messages fill in order, and begin again at its start. `head` counts the bytes
// that the writer has ever written, `tail` those that the reader has ever read. Each side keeps its own count
// to itself, and only publishes it. Neither side trusts what the other wrote: the other's count is checked
// before it is used, and a record is copied before it is checked, so that wrong bytes are an error and
// never an access outside of the ring.
//
// A record says its size and its kind: a message, or that the next message of this direction comes in another
// way. Room for one record of the second kind is always kept.
//
// SLEEP. A reader without messages sets `asleep`, then looks once more whether `head` has moved, and only
// then sleeps. A writer moves `head` first and looks at `asleep` afterwards. All four are sequentially
// consistent: in their common order one of the two comes last, and sees what the other did. So no message
// comes without either being seen or waking the reader. A peer that breaks these rules delays its own
// messages alone: the reader's process wakes it by a word of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hlod::rpc {

// The shared part of one direction. Each member is on a cache line that one side writes, except `asleep`.
struct RingPositions {
  alignas(64) std::atomic<uint64_t> head;
  alignas(64) std::atomic<uint64_t> tail;
  alignas(64) std::atomic<uint32_t> asleep;  // 1 while the reader sleeps, or is about to.
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free,
              "Two processes use these without a lock.");

// The place of one direction in the memory.
struct RingPlace {
  RingPositions* positions = nullptr;
  absl::Span<std::byte> bytes;  // A power of two of them.
};

// The two directions, in memory of RingPair::kBytes bytes, which is zero before its first use.
struct RingPair {
  static constexpr size_t kRingBytes = 128 << 10;
  // The size up to which a message is copied through a ring. A reader keeps no memory for larger ones.
  static constexpr size_t kMessageBytes = kRingBytes / 4;
  static constexpr size_t kBytes = 4096 + 2 * kRingBytes;
  explicit RingPair(absl::Span<std::byte> memory);
  RingPlace to_daemon, to_client;
};

// Not thread-safe, but the writer and the reader of a ring may be on different threads.
class RingWriter {
 public:
  explicit RingWriter(RingPlace place) : place_(place) {}

  // Writes one message, the concatenation of `parts`. Returns false, and writes nothing, if there is no room
  // or it has more than RingPair::kMessageBytes bytes.
  // DATA_LOSS if the reader's side of the ring is broken.
  absl::StatusOr<bool> Write(absl::Span<const absl::Span<const std::byte>> parts);
  // Tells the reader that the next message comes in another way. To be followed by a message only when
  // IsHalfFree() has returned true since.
  absl::Status WriteElsewhere();
  // Returns true when at least half of the ring is free. DATA_LOSS as above.
  absl::StatusOr<bool> IsHalfFree();

 private:
  // Returns the number of free bytes, of which there are at least `wanted` unless the reader is behind.
  absl::StatusOr<size_t> Free(size_t wanted);
  void Copy(const std::byte* from, size_t bytes);
  void Publish();

  const RingPlace place_;
  uint64_t head_ = 0;        // Written, perhaps not yet published.
  uint64_t known_tail_ = 0;  // The reader's count as last seen.
};

class RingReader {
 public:
  explicit RingReader(RingPlace place) : place_(place) {}

  enum class Got { kNothing, kMessage, kElsewhere };
  // Takes the next record, and replaces the content of `message` if it is one. DATA_LOSS if the ring is
  // broken; then it must not be read any more.
  absl::StatusOr<Got> Read(std::string& message);
  // Returns true when there may be a record.
  bool HasRecord() const { return place_.positions->head.load(std::memory_order_acquire) != tail_; }

  // Waits for a record for at most about `timeout`: on the processor for a few microseconds, unless that was
  // in vain lately or the thread has no more than one processor, which the writer may need; then asleep.
  // Returns early, perhaps without one, when interrupted. Returns HasRecord().
  bool Wait(std::chrono::microseconds timeout);
  // Returns true if waits may begin on the processor: as far as the last one counted, there is another for
  // the writer.
  bool may_spin() const { return !alone_; }
  // Ends the current wait, or else the next one. May be called on any thread.
  void Interrupt();

 private:
  bool Spin();
  bool Sleep(std::chrono::microseconds timeout);

  const RingPlace place_;
  uint64_t tail_ = 0;
  uint64_t known_head_ = 0;  // The writer's count as last checked.
  // 1 when interrupted. It is not in the shared memory: a peer cannot keep a reader from being interrupted.
  std::atomic<uint32_t> interrupted_{0};
  int luck_ = 8;  // Falls with each spin in vain, and rises with each that ended with a record in time.
  int resting_ = 0;      // The number of waits since luck ran out.
  bool alone_ = false;   // True if the thread may use one processor only, when last counted.
  std::chrono::steady_clock::time_point count_again_;
  int empty_wakes_ = 0;  // The number of times in a row that it was woken for no record.
};

}  // namespace hlod::rpc
