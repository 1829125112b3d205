// One budget over all sessions, a share of it per user, and the charges to it. Numbers are computed by hand.
#include "server/device/memory/side_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/errors/error.h"
#include "server/device/buffers/buffer_table.h"
#include "server/device/ledger/ledger.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/programs/recent_digests.h"

namespace hlod::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(SideMemory, AUserAloneHasThreeQuartersAndTheNextThreeQuartersOfTheRest) {
  SideMemory memory(1600);
  const std::shared_ptr<MemoryShare> first = memory.ShareOf("user 1"), second = memory.ShareOf("user 2");
  EXPECT_TRUE(first->Reserve(1200, "A program").ok());
  EXPECT_FALSE(first->Reserve(1, "A program").ok());
  EXPECT_FALSE(second->Reserve(301, "A program").ok());
  EXPECT_TRUE(second->Reserve(300, "A program").ok());
  EXPECT_EQ(memory.used_bytes(), 1500);
  first->Release(1200);
  EXPECT_TRUE(second->Reserve(900, "A program").ok()) << "1200 of 1600 bytes.";
}

// A session has 900 of the 1200 bytes that a user may take alone; of the 300 that are left, the next has
// 225.
TEST(SideMemory, ASessionLeavesRoomForTheOthersOfItsUser) {
  SideMemory memory(1600);
  const std::shared_ptr<MemoryShare> user = memory.ShareOf("user 1");
  const std::shared_ptr<MemoryShare> first = memory.ShareForSession("user 1"),
                                     second = memory.ShareForSession("user 1");
  EXPECT_TRUE(first->Reserve(900, "A reply").ok());
  const absl::Status refused = first->Reserve(1, "A reply");
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("A reply of 1 bytes beside 900 of this session"),
                    HasSubstr("can take 300 more"), HasSubstr("side_memory is 1600")));
  EXPECT_EQ(first->Check(1, "A reply"), refused);
  EXPECT_FALSE(second->Reserve(226, "A reply").ok());
  EXPECT_TRUE(second->Reserve(225, "A reply").ok());
  EXPECT_EQ(user->used_bytes(), 1125);
  EXPECT_EQ(memory.used_bytes(), 1125);
  first->Release(900);
  EXPECT_EQ(user->used_bytes(), 225);
  EXPECT_TRUE(user->Reserve(975, "A connection").ok())
      << "Memory that does not belong to a session has the user's limit.";
}

TEST(SideMemory, ARefusalNamesWhatIsTooMuchAndTheLimit) {
  SideMemory memory(1000);
  const std::shared_ptr<MemoryShare> share = memory.ShareOf("user 1"), other = memory.ShareOf("user 2");
  ASSERT_TRUE(share->Reserve(100, "A program").ok());
  ASSERT_TRUE(other->Reserve(200, "A program").ok());
  const absl::Status refused = share->Reserve(7000, "A reply");
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("A reply of 7000 bytes"), HasSubstr("100 of this user's"),
                    HasSubstr("300 of all"), HasSubstr("side_memory is 1000")));
  EXPECT_EQ(share->Check(7000, "A reply"), refused);
  EXPECT_EQ(memory.used_bytes(), 300);
}

TEST(SideMemory, SessionsOfOneUserShareAndAUserWhoseSessionsAreGoneBeginsAnew) {
  SideMemory memory(1000);
  std::shared_ptr<MemoryShare> share = memory.ShareOf("user 1");
  EXPECT_EQ(memory.ShareOf("user 1"), share);
  ASSERT_TRUE(share->Reserve(10, "A program").ok());
  share->Release(10);
  share.reset();
  EXPECT_EQ(memory.ShareOf("user 1")->used_bytes(), 0);
}

TEST(SideMemory, ABudgetTakesFromBothOrFromNeither) {
  SideMemory memory(1000);
  const std::shared_ptr<MemoryShare> share = memory.ShareOf("user 1");
  {
    ByteBudget budget(2000, "staging_bytes_max", "that wait", share);
    EXPECT_TRUE(budget.Reserve(700, "A program").ok());
    const absl::Status refused = budget.Reserve(100, "A program");
    EXPECT_THAT(std::string(refused.message()), HasSubstr("side_memory"));
    EXPECT_EQ(budget.Check(100, "A program"), refused);
    EXPECT_EQ(budget.used(), 700);
    EXPECT_EQ(memory.used_bytes(), 700);
    budget.Charge(900);
    EXPECT_EQ(memory.used_bytes(), 1600) << "A charge goes beyond limits.";
    budget.Release(1000);
    EXPECT_EQ(memory.used_bytes(), 600);
  }
  EXPECT_EQ(memory.used_bytes(), 0) << "What a budget has goes with it.";
}

TEST(SideMemory, ACompileTakesWhatItsModuleTakesParsedAndGivesItBack) {
  SideMemory memory(1000);
  {
    MemoryCharge charge(memory.ShareOf("user 1"));
    charge.Grow(100);
    charge.Grow(-40);
    EXPECT_EQ(memory.used_bytes(), 60);
    absl::StatusOr<MemoryCharge> taken = MemoryCharge::Take(memory.ShareOf("user 1"), 50, "A program");
    ASSERT_TRUE(taken.ok());
    charge = *std::move(taken);
    EXPECT_EQ(memory.used_bytes(), 110);
  }
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(SideMemory, HandlesAreChargedAndSoAreTheReasonsOfDeadOnesAsFarAsTheyAreKept) {
  SideMemory memory(1 << 30);
  {
    BufferTable table(/*reasons_kept=*/2, memory.ShareOf("user 1"));
    for (Handle handle = 1; handle <= 5; ++handle) {
      ASSERT_TRUE(table.Claim(handle).ok());
      table.Put(handle, {std::make_shared<Buffer>(), nullptr});
    }
    table.Put(5, {std::make_shared<Buffer>(), nullptr});  // Fills the same handle.
    EXPECT_EQ(memory.used_bytes(), 5 * BufferTable::kHandleBytes);
    for (Handle handle = 1; handle <= 4; ++handle) table.Erase(handle, {});
    EXPECT_EQ(memory.used_bytes(), BufferTable::kHandleBytes + 2 * BufferTable::kReasonBytes);
    table.Clear();
    EXPECT_EQ(memory.used_bytes(), 2 * BufferTable::kReasonBytes);
  }
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(SideMemory, TheRowsOfALedgerAreChargedOnceEachAndGoWithIt) {
  SideMemory memory(1 << 30);
  {
    SessionLedger ledger(memory.ShareOf("user 1"));
    ledger.Record({.device = 0, .cause = Cause::kUpload, .origin = 1, .step = 1}, 100);
    const int64_t of_row = memory.used_bytes();
    EXPECT_GE(of_row, static_cast<int64_t>(sizeof(RowKey) + sizeof(Amount)));
    ledger.Record({.device = 0, .cause = Cause::kUpload, .origin = 1, .step = 1}, 100);
    EXPECT_EQ(memory.used_bytes(), of_row);
    ledger.RecordRun({}, Digest{}, std::string(1000, 'p'), {}, 0);
    EXPECT_GE(memory.used_bytes(), of_row + 1000);
    CompileRow row;
    row.reason_text = std::string(1000, 'r');
    row.slow_steps = {std::string(500, 's')};
    const int64_t before = memory.used_bytes();
    for (size_t i = 0; i < 2 * SessionLedger::kCompileRowsMax; ++i) ledger.RecordCompile(row);
    const auto kept = static_cast<int64_t>(SessionLedger::kCompileRowsMax *
                                           (sizeof(CompileRow) + 1000 + sizeof(std::string) + 500));
    EXPECT_EQ(memory.used_bytes(), before + kept);
  }
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(SideMemory, DigestsAreChargedAsFarAsTheyAreKept) {
  SideMemory memory(1 << 30);
  {
    RecentDigests digests(2, memory.ShareOf("user 1"));
    digests.Insert(Digest{1});
    const int64_t of_one = memory.used_bytes();
    EXPECT_GE(of_one, static_cast<int64_t>(2 * sizeof(Digest)));
    for (uint8_t i = 1; i < 9; ++i) digests.Insert(Digest{i});
    EXPECT_EQ(memory.used_bytes(), 2 * of_one);
  }
  EXPECT_EQ(memory.used_bytes(), 0);
}

}  // namespace
}  // namespace hlod::device
