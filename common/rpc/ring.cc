// Two rings of bytes. A record is a header of eight bytes, the message, and padding to a multiple of eight;
// it may continue at the start of the ring.
//
//   head 40, tail 16, ring of 32 bytes:  [ 32..40 | free, 40..48 | 16..24 | 24..32 ]
#include "common/rpc/ring.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>

#include "common/base/errors/status.h"
#include "common/rpc/ring_use.h"

namespace hlod::rpc {
namespace {

struct RecordHeader {
  uint32_t bytes = 0;
  uint32_t kind = 0;
};
constexpr uint32_t kRecordMessage = 1, kRecordElsewhere = 2;
constexpr size_t kHeaderBytes = sizeof(RecordHeader);
static_assert(kHeaderBytes == 8);

// The time for which a reader looks for a record before it sleeps: about that of a wake-up (on a virtual
// machine, of an idle core), which it saves. A longer one takes the core from those who would work.
constexpr std::chrono::nanoseconds kSpin{20'000};
constexpr int kLooksPerClock = 16;
constexpr int kLuckMax = 16, kRest = 16;
// The time after which a reader counts the processors again that its thread may use.
constexpr std::chrono::milliseconds kCount{50};
// A peer that wakes the reader again and again without a record is slowed down to one wake-up per kCalm.
constexpr int kEmptyWakesMax = 32;
constexpr std::chrono::milliseconds kCalm{1};

size_t PaddedRecord(size_t bytes) { return (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes; }

// Returns the number of processors that the calling thread may use; 0 if there are too many to tell.
int ProcessorsOfThread() {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : 0;
}

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Kernels before 5.16, and some sandboxes, cannot wait for two words. Then a reader that a peer has hidden
// from its waker (FUTEX_REQUEUE, a false `asleep`) sleeps this long.
constexpr std::chrono::milliseconds kHiddenSleepMax{100};

// The futexes in shared memory are not private: the other process uses them at another address.
void FutexWake(std::atomic<uint32_t>& word, int flags) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE | flags, 1, nullptr, nullptr, 0);
}

// Waits while `shared` is 1 and `own`, which other processes do not see, is 0.
void FutexWaitForEither(std::atomic<uint32_t>& shared, std::atomic<uint32_t>& own,
                        std::chrono::microseconds timeout) {
  static std::atomic<bool> can_wait_for_two{true};
  if (can_wait_for_two.load(std::memory_order_relaxed)) {
    futex_waitv words[2] = {};
    words[0] = {.val = 1, .uaddr = reinterpret_cast<uintptr_t>(&shared), .flags = FUTEX_32};
    words[1] = {.val = 0, .uaddr = reinterpret_cast<uintptr_t>(&own), .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
    timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const int64_t ns = end.tv_nsec + timeout.count() % 1'000'000 * 1000;
    end.tv_sec += static_cast<time_t>(timeout.count() / 1'000'000 + ns / 1'000'000'000);
    end.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    if (syscall(SYS_futex_waitv, words, 2, 0, &end, CLOCK_MONOTONIC) >= 0) return;
    if (errno != ENOSYS && errno != EPERM) return;
    can_wait_for_two = false;
  }
  timeout = std::min<std::chrono::microseconds>(timeout, kHiddenSleepMax);
  const timespec limit = {.tv_sec = 0, .tv_nsec = static_cast<long>(timeout.count() * 1000)};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&shared), FUTEX_WAIT, 1, &limit, nullptr, 0);
}

void WakeReader(std::atomic<uint32_t>& asleep) {
  if (asleep.load(std::memory_order_seq_cst) == 0) return;
  if (asleep.exchange(0, std::memory_order_seq_cst) != 0) FutexWake(asleep, 0);
}

absl::Status BrokenRing(std::string_view what, uint64_t value) {
  return DataLoss("The ring in shared memory is broken: %s (%d).", what, value);
}

}  // namespace

absl::StatusOr<RingUse> ParseRingUse(std::string_view text) {
  if (text == "off") return RingUse::kOff;
  if (text.empty() || text == "on") return RingUse::kOn;
  if (text == "first") return RingUse::kFirst;
  if (text == "all") return RingUse::kAll;
  return InvalidArgument("\"%s\" is none of off, on, first and all", text);
}

RingPair::RingPair(absl::Span<std::byte> memory) {
  static_assert(std::has_single_bit(kRingBytes) && 2 * sizeof(RingPositions) <= 4096);
  auto* const positions = reinterpret_cast<RingPositions*>(memory.data());
  to_daemon = {positions, memory.subspan(4096, kRingBytes)};
  to_client = {positions + 1, memory.subspan(4096 + kRingBytes, kRingBytes)};
}

// -----------------------------------------------------------------------------------------------------------
// writing

absl::StatusOr<size_t> RingWriter::Free(size_t wanted) {
  const size_t capacity = place_.bytes.size();
  if (capacity - static_cast<size_t>(head_ - known_tail_) < wanted) {
    const uint64_t tail = place_.positions->tail.load(std::memory_order_acquire);
    // The tail only grows, up to the head. The comparison is of differences, which do not overflow.
    if (tail - known_tail_ > head_ - known_tail_) return BrokenRing("its reader's position is wrong", tail);
    known_tail_ = tail;
  }
  return capacity - static_cast<size_t>(head_ - known_tail_);
}

void RingWriter::Copy(const std::byte* from, size_t bytes) {
  const size_t at = static_cast<size_t>(head_) & (place_.bytes.size() - 1);
  const size_t first = std::min(bytes, place_.bytes.size() - at);
  if (first > 0) std::memcpy(place_.bytes.data() + at, from, first);
  if (bytes > first) std::memcpy(place_.bytes.data(), from + first, bytes - first);
  head_ += bytes;
}

void RingWriter::Publish() {
  place_.positions->head.store(head_, std::memory_order_seq_cst);
  WakeReader(place_.positions->asleep);
}

absl::StatusOr<bool> RingWriter::Write(absl::Span<const absl::Span<const std::byte>> parts) {
  size_t bytes = 0;
  for (const absl::Span<const std::byte> part : parts) bytes += part.size();
  if (bytes > RingPair::kMessageBytes) return false;
  const size_t wanted = kHeaderBytes + PaddedRecord(bytes) + kHeaderBytes;  // The last for WriteElsewhere.
  ASSIGN_OR_RETURN(const size_t free, Free(wanted));
  if (free < wanted) return false;
  const uint64_t end = head_ + kHeaderBytes + PaddedRecord(bytes);
  const RecordHeader header = {static_cast<uint32_t>(bytes), kRecordMessage};
  Copy(reinterpret_cast<const std::byte*>(&header), sizeof(header));
  for (const absl::Span<const std::byte> part : parts) Copy(part.data(), part.size());
  head_ = end;
  Publish();
  return true;
}

absl::Status RingWriter::WriteElsewhere() {
  ASSIGN_OR_RETURN(const size_t free, Free(kHeaderBytes));
  if (free < kHeaderBytes) return BrokenRing("there is no room for its last record", free);
  const RecordHeader header = {0, kRecordElsewhere};
  Copy(reinterpret_cast<const std::byte*>(&header), sizeof(header));
  Publish();
  return absl::OkStatus();
}

absl::StatusOr<bool> RingWriter::IsHalfFree() {
  const size_t half = place_.bytes.size() / 2;
  ASSIGN_OR_RETURN(const size_t free, Free(half));
  return free >= half;
}

// -----------------------------------------------------------------------------------------------------------
// reading

absl::StatusOr<RingReader::Got> RingReader::Read(std::string& message) {
  const size_t capacity = place_.bytes.size();
  if (known_head_ == tail_) {
    const uint64_t head = place_.positions->head.load(std::memory_order_acquire);
    if (head == tail_) return Got::kNothing;
    if (head - tail_ > capacity) return BrokenRing("its writer's position is wrong", head);
    known_head_ = head;
  }
  const auto there = static_cast<size_t>(known_head_ - tail_);
  if (there < kHeaderBytes) return BrokenRing("it ends within a record", there);
  const auto copy = [this, capacity](std::byte* to, uint64_t position, size_t bytes) {
    const size_t at = static_cast<size_t>(position) & (capacity - 1);
    const size_t first = std::min(bytes, capacity - at);
    if (first > 0) std::memcpy(to, place_.bytes.data() + at, first);
    if (bytes > first) std::memcpy(to + first, place_.bytes.data(), bytes - first);
  };
  RecordHeader header;
  copy(reinterpret_cast<std::byte*>(&header), tail_, sizeof(header));
  Got got = Got::kElsewhere;
  if (header.kind == kRecordMessage) {
    if (header.bytes > there - kHeaderBytes || PaddedRecord(header.bytes) > there - kHeaderBytes)
      return BrokenRing("a record is larger than what was written", header.bytes);
    if (header.bytes > RingPair::kMessageBytes)
      return BrokenRing("a record is larger than messages may be", header.bytes);
    message.resize(header.bytes);
    copy(reinterpret_cast<std::byte*>(message.data()), tail_ + kHeaderBytes, header.bytes);
    tail_ += kHeaderBytes + PaddedRecord(header.bytes);
    got = Got::kMessage;
  } else if (header.kind == kRecordElsewhere && header.bytes == 0) {
    tail_ += kHeaderBytes;
  } else {
    return BrokenRing("a record is of no known kind", header.kind);
  }
  place_.positions->tail.store(tail_, std::memory_order_release);
  return got;
}

bool RingReader::Wait(std::chrono::microseconds timeout) {
  if (HasRecord()) return true;
  if (Spin() || timeout.count() <= 0) return HasRecord();
  return Sleep(timeout);
}

bool RingReader::Spin() {
  // Beside busy neighbours the writer may not run before this thread sleeps.
  if (luck_ <= 0 && ++resting_ < kRest) return false;
  resting_ = 0;
  const auto start = std::chrono::steady_clock::now(), end = start + kSpin;
  if (start >= count_again_) {
    count_again_ = start + kCount;
    alone_ = ProcessorsOfThread() == 1;
  }
  if (alone_) return false;
  bool found = false;
  auto now = start;
  do {
    for (int i = 0; i < kLooksPerClock && !found; ++i) {
      found = HasRecord();
      if (!found) Relax();
    }
    if (!found && interrupted_.load(std::memory_order_relaxed) != 0) return false;
    now = std::chrono::steady_clock::now();
  } while (!found && now < end);
  // If this thread has lost its processor meanwhile, it might as well have slept: perhaps the writer needed
  // it.
  luck_ = found && now < end + kSpin ? std::min(kLuckMax, luck_ + 4) : std::max(0, luck_ - 1);
  return found;
}

bool RingReader::Sleep(std::chrono::microseconds timeout) {
  std::atomic<uint32_t>& asleep = place_.positions->asleep;
  asleep.store(1, std::memory_order_seq_cst);
  const bool awake = place_.positions->head.load(std::memory_order_seq_cst) != tail_ ||
                     interrupted_.load(std::memory_order_seq_cst) != 0;
  const auto start = std::chrono::steady_clock::now();
  if (!awake) FutexWaitForEither(asleep, interrupted_, timeout);
  asleep.store(0, std::memory_order_relaxed);
  if (HasRecord() || interrupted_.exchange(0, std::memory_order_seq_cst) != 0) {
    empty_wakes_ = 0;
  } else if (std::chrono::steady_clock::now() - start < std::min<std::chrono::microseconds>(timeout, kCalm) &&
             ++empty_wakes_ >= kEmptyWakesMax) {
    std::this_thread::sleep_for(kCalm);
  }
  return HasRecord();
}

void RingReader::Interrupt() {
  interrupted_.store(1, std::memory_order_seq_cst);
  FutexWake(interrupted_, FUTEX_PRIVATE_FLAG);
  // For a reader that waits for the shared word alone; what that says is the peer's affair.
  FutexWake(place_.positions->asleep, 0);
}

}  // namespace hlod::rpc
