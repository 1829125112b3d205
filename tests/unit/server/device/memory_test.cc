// The pool and the accounts: bytes are charged exactly, blocks never overlap, and all is returned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "common/base/errors/error.h"
#include "server/device/memory/backing_pool.h"
#include "server/device/memory/device_memory.h"

namespace hlod::device {
namespace {

TEST(BackingPool, PiecesNeverOverlapAndAreAligned) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(64 << 20).value();
  std::mt19937 random(7);
  std::map<std::byte*, Piece> live;
  for (int turn = 0; turn < 20000; ++turn) {
    if (live.size() < 200 && random() % 2 == 0) {
      const int64_t bytes = 1 + static_cast<int64_t>(random() % (random() % 8 == 0 ? 200'000 : 2'000));
      const absl::StatusOr<Piece> piece = pool->Allocate(bytes);
      ASSERT_TRUE(piece.ok()) << piece.status();
      ASSERT_EQ(reinterpret_cast<uintptr_t>(piece->data) % 64, 0u);
      const auto after = live.lower_bound(piece->data);
      if (after != live.end()) {
        ASSERT_LE(piece->data + bytes, after->first);
      }
      if (after != live.begin()) {
        const Piece& before = std::prev(after)->second;
        ASSERT_LE(before.data + before.bytes, piece->data);
      }
      live[piece->data] = *piece;
    } else if (!live.empty()) {
      auto victim = std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
      pool->Free(victim->second);
      live.erase(victim);
    }
  }
  for (const auto& [data, piece] : live) pool->Free(piece);
  EXPECT_EQ(pool->used_bytes(), 0);
}

TEST(BackingPool, FreedNeighboursJoin) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(4 << 20).value();
  std::vector<Piece> pieces;
  for (int i = 0; i < 64; ++i) pieces.push_back(pool->Allocate(64 << 10).value());
  EXPECT_FALSE(pool->Allocate(64).ok());
  for (size_t i = 0; i < pieces.size(); i += 2) pool->Free(pieces[i]);
  EXPECT_FALSE(pool->Allocate(128 << 10).ok()) << "Every second piece is in use.";
  for (size_t i = 1; i < pieces.size(); i += 2) pool->Free(pieces[i]);
  EXPECT_TRUE(pool->Allocate(4 << 20).ok());
}

TEST(BackingPool, TheLastBlockThatFitsIsFound) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(4 << 20).value();
  // Sizes of one class: 64 KiB and a little more. The larger block is freed first, so the search reaches it
  // last.
  const Piece larger = pool->Allocate((64 << 10) + 640).value();
  std::vector<Piece> walls = {pool->Allocate(64).value()}, smaller;
  for (int i = 0; i < 32; ++i) {
    smaller.push_back(pool->Allocate(64 << 10).value());
    walls.push_back(pool->Allocate(64).value());
  }
  while (pool->Allocate(64 << 10).ok()) {  // Fills the rest.
  }
  while (pool->Allocate(64).ok()) {
  }
  pool->Free(larger);
  for (const Piece& piece : smaller) pool->Free(piece);
  EXPECT_TRUE(pool->Allocate((64 << 10) + 640).ok());
}

// Uses the kernel's count of the process's memory, which does not include pages of a memory file.
TEST(BackingPool, WhatIsFreeGoesBackToTheKernelAndWhatIsUsedKeepsItsBytes) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(256 << 20).value();
  const Piece first = pool->Allocate(64 << 20).value(), kept = pool->Allocate(3 << 20).value(),
              last = pool->Allocate(64 << 20).value();
  for (const Piece& piece : {first, kept, last}) std::memset(piece.data, 7, static_cast<size_t>(piece.bytes));
  const auto resident = [](const Piece& piece) {
    const uintptr_t page = 4096, begin = (reinterpret_cast<uintptr_t>(piece.data) + page - 1) / page * page;
    std::vector<unsigned char> present(static_cast<size_t>(piece.bytes) / page - 1);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), present.size() * page, present.data()), 0);
    return std::count_if(present.begin(), present.end(), [](unsigned char page_is) { return page_is & 1; });
  };
  pool->Free(first);
  pool->Free(last);
  EXPECT_GT(resident(first), 16000);
  pool->ReturnFree();
  // Everything except up to 2 MiB at either end, which other pieces share.
  EXPECT_LE(resident(first), 1024);
  EXPECT_LE(resident(last), 1024);
  EXPECT_TRUE(std::all_of(kept.data, kept.data + kept.bytes, [](std::byte b) { return b == std::byte{7}; }));
  const Piece again = pool->Allocate(64 << 20).value();
  std::memset(again.data, 1, static_cast<size_t>(again.bytes));
  EXPECT_TRUE(std::all_of(kept.data, kept.data + kept.bytes, [](std::byte b) { return b == std::byte{7}; }));
}

TEST(BackingPool, MemoryIsReusedNotGrown) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(1 << 30).value();
  for (int i = 0; i < 1000; ++i) pool->Free(pool->Allocate(5'000'000).value());
  EXPECT_EQ(pool->grown_bytes(), 6 << 20);
}

// Returns the access to the page at an address, as "rw-p".
std::string AccessTo(const std::byte* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3) return "unreadable: " + line;
    if (begin <= at && at < end) return rights;
  }
  return "none";
}

// Opening pages when they are first used waits for all threads that touch new ones.
TEST(BackingPool, ItsPagesNeedNotBeOpened) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(64 << 20, /*open=*/true).value();
  const Piece piece = pool->Allocate(1 << 20).value();
  EXPECT_EQ(AccessTo(piece.data + (32 << 20)), "rw-p");
}

// Pages that are writable count as used where the kernel does not overcommit, so the pool opens what it uses.
TEST(BackingPool, ItsPagesAreOpenedWhenUsedWhereTheKernelDoesNotOvercommit) {
  int overcommit = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> overcommit;
  EXPECT_EQ(BackingPool::KernelOvercommits(), overcommit != 2);
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(64 << 20, /*open=*/false).value();
  const Piece first = pool->Allocate(1 << 20).value();
  EXPECT_EQ(AccessTo(first.data + (32 << 20)), "---p");
  const Piece second = pool->Allocate(48 << 20).value();
  std::memset(first.data, 1, 1 << 20);
  std::memset(second.data, 2, 48 << 20);
  EXPECT_EQ(pool->Allocate(32 << 20).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool->grown_bytes(), 50 << 20);
  EXPECT_EQ(AccessTo(first.data + (60 << 20)), "---p");
  pool->Free(first);
  pool->Free(second);
}

TEST(BackingPool, NoBytesNeedNoMemory) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(2 << 20).value();
  const Piece piece = pool->Allocate(0).value();
  EXPECT_NE(piece.data, nullptr);
  pool->Free(piece);
  EXPECT_EQ(pool->grown_bytes(), 0);
}

TEST(BackingPool, RefusesImpossibleSizes) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(2 << 20).value();
  EXPECT_EQ(KindOf(pool->Allocate(-1).status()), ErrorKind::kNoMemory);
  EXPECT_EQ(KindOf(pool->Allocate(INT64_MAX).status()), ErrorKind::kNoMemory);
}

TEST(DeviceMemory, ChargesAndGivesBackExactly) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(16 << 20).value();
  DeviceMemory memory(0, 1000, *pool);
  const auto account = std::make_shared<MemoryAccount>();
  {
    const Block buffer = memory.Allocate(account, 600, Category::kBuffer, "a buffer").value();
    const Block temporary = memory.Allocate(account, 300, Category::kTemporary, "temporaries").value();
    EXPECT_EQ(memory.figures().used_bytes, 900);
    EXPECT_EQ(memory.figures().temporary_bytes, 300);
    EXPECT_EQ(account->figures().live_bytes, 900);
    const absl::Status refused = memory.Allocate(account, 101, Category::kBuffer, "one too many").status();
    EXPECT_EQ(KindOf(refused), ErrorKind::kNoMemory);
    EXPECT_THAT(std::string(refused.message()),
                testing::HasSubstr("101 bytes are wanted, 100 of 1000 are free"));
    EXPECT_TRUE(memory.Allocate(account, 100, Category::kBuffer, "just fits").ok());
  }
  EXPECT_EQ(memory.figures().used_bytes, 0);
  EXPECT_EQ(memory.figures().temporary_bytes, 0);
  EXPECT_EQ(memory.figures().peak_bytes, 1000);
  EXPECT_EQ(account->figures().live_bytes, 0);
  EXPECT_EQ(account->figures().peak_bytes, 1000);
}

TEST(DeviceMemory, StatedCapacityMayExceedTheHost) {
  const std::unique_ptr<BackingPool> pool = BackingPool::Create(4 << 20).value();
  DeviceMemory memory(0, int64_t{1} << 50, *pool);
  const auto account = std::make_shared<MemoryAccount>();
  EXPECT_TRUE(memory.Allocate(account, 1 << 20, Category::kBuffer, "a buffer").ok());
  const absl::Status refused = memory.Allocate(account, 8 << 20, Category::kBuffer, "a buffer").status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kNoMemory) << "The backing is what is missing.";
  EXPECT_EQ(memory.figures().used_bytes, 0) << "A refusal charges nothing.";
  EXPECT_EQ(account->figures().live_bytes, 0);
}

TEST(SimulatedCharge, IsNoRealMemory) {
  const auto account = std::make_shared<MemoryAccount>();
  {
    SimulatedCharge weights(account, int64_t{1} << 40);
    SimulatedCharge moved = std::move(weights);
    EXPECT_EQ(account->figures().simulated_live_bytes, int64_t{1} << 40);
    EXPECT_EQ(account->figures().live_bytes, 0);
  }
  EXPECT_EQ(account->figures().simulated_live_bytes, 0);
  EXPECT_EQ(account->figures().simulated_peak_bytes, int64_t{1} << 40);
}

}  // namespace
}  // namespace hlod::device
