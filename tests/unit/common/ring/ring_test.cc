// The ring in shared memory: order, room, sleep and wake-up under load, and a peer that writes nonsense.
#include "common/rpc/ring.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "common/rpc/shared_memory.h"

namespace hlod::rpc {
namespace {

using testing::HasSubstr;
using Got = RingReader::Got;

struct Memory {
  SharedMemory memory = SharedMemory::Create(RingPair::kBytes).value();
  RingPair pair{memory.bytes()};
};

absl::StatusOr<bool> WriteTo(RingWriter& writer, const std::string& text) {
  // In two parts, as a message with a header has.
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  const size_t middle = text.size() / 3;
  const absl::Span<const std::byte> parts[] = {{bytes, middle}, {bytes + middle, text.size() - middle}};
  return writer.Write(parts);
}

TEST(Ring, MessagesComeInOrderAcrossItsEnd) {
  const Memory memory;
  RingWriter writer(memory.pair.to_daemon);
  RingReader reader(memory.pair.to_daemon);
  std::string got;
  EXPECT_EQ(reader.Read(got).value(), Got::kNothing);
  for (size_t i = 0; i < 2000; ++i) {
    const std::string text(i * 7 % 1500, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(WriteTo(writer, text).value());
    ASSERT_EQ(reader.Read(got).value(), Got::kMessage);
    ASSERT_EQ(got, text);
  }
  EXPECT_EQ(reader.Read(got).value(), Got::kNothing);
}

TEST(Ring, TheOtherDirectionAndASecondMappingAreSeparateAndEqual) {
  const Memory memory;
  SharedMemory mapped =
      SharedMemory::Map(Descriptor(fcntl(memory.memory.fd(), F_DUPFD_CLOEXEC, 0)), RingPair::kBytes).value();
  const RingPair other(mapped.bytes());
  RingWriter to_daemon(memory.pair.to_daemon), to_client(other.to_client);
  RingReader daemon(other.to_daemon), client(memory.pair.to_client);
  ASSERT_TRUE(WriteTo(to_daemon, "command").value());
  ASSERT_TRUE(WriteTo(to_client, "reply").value());
  std::string got;
  ASSERT_EQ(daemon.Read(got).value(), Got::kMessage);
  EXPECT_EQ(got, "command");
  ASSERT_EQ(client.Read(got).value(), Got::kMessage);
  EXPECT_EQ(got, "reply");
  EXPECT_FALSE(daemon.HasRecord() || client.HasRecord());
}

TEST(Ring, AFullRingTakesNoMessageButTheWordThatTheyComeElsewhere) {
  const Memory memory;
  RingWriter writer(memory.pair.to_daemon);
  RingReader reader(memory.pair.to_daemon);
  int written = 0;
  while (WriteTo(writer, std::string(1000, 'x')).value()) ++written;
  // A record has 8 bytes more, and 8 are kept.
  EXPECT_EQ(written, (RingPair::kRingBytes - 8) / 1008);
  while (WriteTo(writer, "").value()) {
  }
  EXPECT_FALSE(writer.IsHalfFree().value());
  ASSERT_TRUE(writer.WriteElsewhere().ok());
  std::string got;
  for (int i = 0; i < written; ++i) ASSERT_EQ(reader.Read(got).value(), Got::kMessage);
  EXPECT_TRUE(writer.IsHalfFree().value());
  Got last = Got::kMessage;
  while (last == Got::kMessage) last = reader.Read(got).value();
  EXPECT_EQ(last, Got::kElsewhere);
  EXPECT_FALSE(WriteTo(writer, std::string(RingPair::kMessageBytes + 1, 'x')).value());
  EXPECT_TRUE(WriteTo(writer, std::string(RingPair::kMessageBytes, 'x')).value());
  ASSERT_EQ(reader.Read(got).value(), Got::kMessage);
  EXPECT_EQ(got.size(), RingPair::kMessageBytes);
}

TEST(Ring, AnInterruptEndsTheWait) {
  const Memory memory;
  RingReader reader(memory.pair.to_daemon);
  reader.Interrupt();
  EXPECT_FALSE(reader.Wait(std::chrono::hours(1)));
  std::thread other([&] {
    absl::SleepFor(absl::Milliseconds(20));  // tidy: nothing says that a reader has fallen asleep.
    reader.Interrupt();
  });
  EXPECT_FALSE(reader.Wait(std::chrono::hours(1)));
  other.join();
  EXPECT_FALSE(reader.Wait(std::chrono::milliseconds(1)));
}

// ------------------------------------------------------------------------------------------------- under
// load

// Sizes and pauses of both sides: mostly none, sometimes so long that the reader sleeps or the ring is full.
class Chance {
 public:
  explicit Chance(uint32_t seed) : random_(seed) {}
  size_t Size() {
    const uint32_t kind = Number() % 1000;
    return Number() % (kind == 0 ? 30'000 : kind < 50 ? 2000 : 120);
  }
  void Pause() {
    const uint32_t kind = Number() % 256;
    if (kind == 0) {
      const std::chrono::microseconds pause(Number() % 60);
      std::this_thread::sleep_for(pause);  // tidy: pauses are what is tested.
      return;
    }
    // About as long as a reader spins before it sleeps.
    if (kind < 64) {
      std::atomic<uint32_t> left{1 + Number() % (kind < 16 ? 10'000 : 100)};
      while (left.fetch_sub(1, std::memory_order_relaxed) > 1) {
      }
    }
  }
  uint32_t Number() { return static_cast<uint32_t>(random_()); }

 private:
  std::minstd_rand random_;
};

// The message `number` of a direction: its content follows from its number and size.
void Fill(std::string& message, size_t size, uint32_t number) {
  message.assign(size, static_cast<char>(number * 31 + 7));
  if (size >= sizeof(number)) std::memcpy(message.data(), &number, sizeof(number));
}

struct Direction {
  RingPlace place;
  uint32_t seed;
  int64_t count;
};

void WriteAll(const Direction& direction) {
  RingWriter writer(direction.place);
  Chance chance(direction.seed);
  std::string message;
  for (int64_t i = 0; i < direction.count; ++i) {
    Fill(message, chance.Size(), static_cast<uint32_t>(i));
    while (!WriteTo(writer, message).value()) std::this_thread::yield();
    chance.Pause();
  }
  ASSERT_TRUE(writer.WriteElsewhere().ok());
}

// Waits for a record. A wait that ends by its limit although there is one has slept through its arrival. (One
// without may be long, because the writer did not run.)
void Await(RingReader& reader) {
  constexpr std::chrono::seconds kLimit{10};
  const auto start = std::chrono::steady_clock::now();
  const bool found = reader.Wait(kLimit);
  EXPECT_FALSE(found && std::chrono::steady_clock::now() - start >= kLimit) << "A message was slept through.";
}

void ReadAll(const Direction& direction) {
  RingReader reader(direction.place);
  Chance sizes(direction.seed), pauses(direction.seed + 1);
  std::string got, expected;
  for (int64_t i = 0;;) {
    const Got what = reader.Read(got).value();
    if (what == Got::kNothing) {
      Await(reader);
      continue;
    }
    if (what == Got::kElsewhere) {
      ASSERT_EQ(i, direction.count);
      return;
    }
    Fill(expected, sizes.Size(), static_cast<uint32_t>(i));
    ASSERT_EQ(got.size(), expected.size()) << i;
    ASSERT_TRUE(got == expected) << i;
    sizes.Pause();  // Keeps the numbers in step with the writer's.
    pauses.Pause();
    ++i;
  }
}

TEST(Ring, MillionsOfMessagesBothWaysAreNeitherLostNorChangedNorSleptThrough) {
  const Memory memory;
  constexpr int64_t kCount = 1'000'000;
  const Direction there = {memory.pair.to_daemon, 11, kCount}, back = {memory.pair.to_client, 22, kCount};
  std::thread threads[] = {std::thread([&] { WriteAll(there); }), std::thread([&] { WriteAll(back); }),
                           std::thread([&] { ReadAll(there); }), std::thread([&] { ReadAll(back); })};
  for (std::thread& thread : threads) thread.join();
}

// Each side waits for the other, so that each message meets a reader that is about to sleep or asleep.
TEST(Ring, EveryAnswerWakesItsReader) {
  const Memory memory;
  constexpr int kCount = 50'000;
  const auto answer = [](RingPlace in, RingPlace out, uint32_t seed, bool first) {
    RingReader reader(in);
    RingWriter writer(out);
    Chance chance(seed);
    std::string got;
    if (first) {
      ASSERT_TRUE(WriteTo(writer, "0").value());
    }
    for (int i = 0; i < kCount; ++i) {
      while (reader.Read(got).value() == Got::kNothing) Await(reader);
      ASSERT_EQ(got, std::to_string(first ? 2 * i + 1 : 2 * i));
      chance.Pause();
      if (first && i + 1 == kCount) break;
      ASSERT_TRUE(WriteTo(writer, std::to_string(first ? 2 * i + 2 : 2 * i + 1)).value());
    }
  };
  std::thread one([&] { answer(memory.pair.to_client, memory.pair.to_daemon, 5, true); });
  std::thread other([&] { answer(memory.pair.to_daemon, memory.pair.to_client, 6, false); });
  one.join();
  other.join();
}

// ------------------------------------------------------------------------------------------------ a bad peer

TEST(Ring, AWritersNonsenseIsAnError) {
  const auto read_after = [](const std::function<void(RingPlace)>& damage) {
    const Memory memory;
    RingWriter writer(memory.pair.to_daemon);
    RingReader reader(memory.pair.to_daemon);
    std::string got;
    EXPECT_TRUE(WriteTo(writer, "first").value());
    EXPECT_EQ(reader.Read(got).value(), Got::kMessage);
    EXPECT_TRUE(WriteTo(writer, "second").value());
    damage(memory.pair.to_daemon);
    const absl::StatusOr<Got> read = reader.Read(got);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
    return std::string(read.status().message());
  };
  const auto set_header = [](RingPlace place, uint32_t bytes, uint32_t kind) {
    const uint32_t header[] = {bytes, kind};
    std::memcpy(place.bytes.data() + 16, header, sizeof(header));  // "first" took 16 bytes.
  };
  EXPECT_THAT(read_after([](RingPlace place) { place.positions->head = 16 + RingPair::kRingBytes + 8; }),
              HasSubstr("its writer's position is wrong (131096)"));
  EXPECT_THAT(read_after([](RingPlace place) { place.positions->head = 8; }),
              HasSubstr("its writer's position is wrong (8)"));
  EXPECT_THAT(read_after([](RingPlace place) { place.positions->head = 20; }),
              HasSubstr("it ends within a record (4)"));
  EXPECT_THAT(read_after([&](RingPlace place) { set_header(place, 9, 1); }),
              HasSubstr("a record is larger than what was written (9)"));
  EXPECT_THAT(read_after([&](RingPlace place) { set_header(place, 0xffffffff, 1); }),
              HasSubstr("a record is larger than what was written (4294967295)"));
  // The reader keeps no memory for so large a record, although all of it was written.
  EXPECT_THAT(read_after([&](RingPlace place) {
                set_header(place, RingPair::kMessageBytes + 1, 1);
                place.positions->head = 16 + 2 * RingPair::kMessageBytes;
              }),
              HasSubstr("a record is larger than messages may be (32769)"));
  EXPECT_THAT(read_after([&](RingPlace place) { set_header(place, 6, 3); }),
              HasSubstr("a record is of no known kind (3)"));
  EXPECT_THAT(read_after([&](RingPlace place) { set_header(place, 6, 2); }),
              HasSubstr("a record is of no known kind (2)"));
}

TEST(Ring, AReadersNonsenseIsAnError) {
  for (const uint64_t tail : {uint64_t{8}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const Memory memory;
    RingWriter writer(memory.pair.to_daemon);
    RingReader reader(memory.pair.to_daemon);
    std::string got;
    ASSERT_TRUE(WriteTo(writer, "first").value());
    ASSERT_TRUE(WriteTo(writer, "second").value());
    ASSERT_EQ(reader.Read(got).value(), Got::kMessage);
    const std::string large(RingPair::kMessageBytes, 'x');
    while (WriteTo(writer, large).value()) {
    }
    // The ring is full, and the writer knows now that the reader is at 16.
    memory.pair.to_daemon.positions->tail = tail;
    EXPECT_EQ(WriteTo(writer, large).status().code(), absl::StatusCode::kDataLoss) << tail;
  }
}

TEST(Ring, RandomBytesFromAPeerReachNothingOutsideOfTheRing) {
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    std::vector<std::byte> storage(RingPair::kBytes + 64);
    void* at = storage.data();
    size_t left = storage.size();
    const RingPair pair(
        {static_cast<std::byte*>(std::align(64, RingPair::kBytes, at, left)), RingPair::kBytes});
    Chance chance(seed);
    RingReader reader(pair.to_client);
    RingWriter writer(pair.to_daemon);
    std::string got;
    for (int i = 0; i < 50; ++i) {
      for (int word = 0; word < 200; ++word) {
        const uint32_t header[] = {chance.Number() % 64, 1 + chance.Number() % 40 / 39};
        std::memcpy(pair.to_client.bytes.data() + chance.Number() % (RingPair::kRingBytes / 8) * 8, header,
                    8);
      }
      pair.to_client.positions->head += chance.Number() % 2000 * (chance.Number() % 50 == 0 ? 1 : 8);
      pair.to_client.positions->asleep = chance.Number() % 3;
      pair.to_daemon.positions->tail += chance.Number() % 600;
      absl::StatusOr<Got> read = Got::kNothing;
      for (int n = 0; n < 40 && (read = reader.Read(got)).ok() && *read != Got::kNothing; ++n) {
        ASSERT_LE(got.size(), RingPair::kRingBytes);
      }
      if (!read.ok()) break;
      if (!WriteTo(writer, std::string(chance.Size() % 3000, 'x')).ok()) break;
    }
  }
}

// A reader that looks for a record on the only processor keeps the writer from writing it.
TEST(Ring, AReaderWithOneProcessorSleepsAtOnce) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  Memory memory;
  RingWriter writer(memory.pair.to_client);
  RingReader several(memory.pair.to_client), one(memory.pair.to_client);
  EXPECT_FALSE(several.Wait(std::chrono::microseconds(1)));
  EXPECT_EQ(several.may_spin(), CPU_COUNT(&before) > 1);
  std::thread pinned([&] {
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &first);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof(first), &first), 0);
    EXPECT_FALSE(one.Wait(std::chrono::microseconds(1)));
    EXPECT_FALSE(one.may_spin());
    std::thread late([&] { EXPECT_TRUE(WriteTo(writer, "now").value()); });
    while (!one.Wait(std::chrono::hours(1))) {
    }
    late.join();
  });
  pinned.join();
}

// Both futex calls below are open to every process that maps the ring.
TEST(Ring, APeerCannotHideASleepingReaderFromItsOwnProcess) {
  for (const bool requeue : {false, true}) {
    const Memory memory;
    RingReader reader(memory.pair.to_daemon);
    std::atomic<uint32_t>& asleep = memory.pair.to_daemon.positions->asleep;
    std::atomic<uint32_t>& other = memory.pair.to_client.positions->asleep;
    std::atomic<bool> woken{false};
    std::thread waiting([&] {
      while (!woken) reader.Wait(std::chrono::hours(1));
    });
    while (asleep == 0) std::this_thread::yield();
    if (requeue) {
      // Moves the reader to another word: until it has fallen asleep there is none to move.
      while (syscall(SYS_futex, reinterpret_cast<uint32_t*>(&asleep), FUTEX_REQUEUE, 0, 1L,
                     reinterpret_cast<uint32_t*>(&other), 0) < 1)
        std::this_thread::yield();
    }
    asleep = 0;  // The reader looks as if it were awake.
    woken = true;
    reader.Interrupt();
    waiting.join();
  }
}

TEST(Ring, APeerThatWakesForNothingDoesNotKeepTheReaderAwake) {
  const Memory memory;
  RingReader reader(memory.pair.to_daemon);
  std::atomic<bool> over{false};
  std::thread peer([&] {
    while (!over) memory.pair.to_daemon.positions->asleep = 0;
  });
  const absl::Time start = absl::Now();
  for (int i = 0; i < 64; ++i) reader.Wait(std::chrono::milliseconds(100));
  // From the 32nd wake-up on each wait takes a millisecond, whatever the peer does.
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(30));
  over = true;
  peer.join();
}

}  // namespace
}  // namespace hlod::rpc
