// Rows, totals and the daemon's sum always agree.
#include "server/device/ledger.h"

#include <gtest/gtest.h>

#include <random>

namespace hlod::device {
namespace {

constexpr Cause kCauses[] = {Cause::kUpload, Cause::kConstant, Cause::kDownload, Cause::kScalarRead,
                             Cause::kDonationCopy};

void ExpectRowsSumToTotals(const Account& account) {
  Amount sums[3];
  for (const Row& row : account.rows) sums[static_cast<int>(DirectionOf(row.key.cause))] += row.amount;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sums[i], account.directions[i]);
}

TEST(Ledger, RowsSumToTotalsWhateverHappens) {
  std::mt19937 random(11);
  SessionLedger ledger;
  Amount expected[3];
  for (int i = 0; i < 10000; ++i) {
    const Cause cause = kCauses[random() % 5];
    const auto bytes = static_cast<int64_t>(random() % 5000);
    ledger.Record(
        {static_cast<uint32_t>(random() % 2), cause, static_cast<uint32_t>(random() % 7), random() % 9},
        bytes);
    expected[static_cast<int>(DirectionOf(cause))] += Amount{bytes, 1};
  }
  const Account account = ledger.account();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(account.directions[i], expected[i]);
  ExpectRowsSumToTotals(account);
}

TEST(Ledger, ManyStepsStayExactInBoundedMemory) {
  SessionLedger ledger;
  for (uint64_t step = 0; step < 100'000; ++step) ledger.Record({0, Cause::kUpload, 1, step}, 8);
  const Account account = ledger.account();
  EXPECT_EQ(account.directions[0], (Amount{800'000, 100'000}));
  EXPECT_LE(account.rows.size(), SessionLedger::kRowsMax + 1);
  ExpectRowsSumToTotals(account);
}

TEST(Ledger, EndedSessionsStayInTheSum) {
  Ledger daemon;
  for (int session = 0; session < 3; ++session) {
    SessionLedger ledger;
    ledger.Record({0, Cause::kUpload, 5, 1}, 100);
    ledger.Record({0, Cause::kUpload, 6, 2}, 100);
    ledger.Count(&Counters::executes, 2);
    daemon.Fold(ledger.account());
  }
  const Account ended = daemon.ended();
  EXPECT_EQ(ended.directions[0], (Amount{600, 6}));
  EXPECT_EQ(ended.counters.executes, 6);
  ASSERT_EQ(ended.rows.size(), 1u) << "Lines of ended sessions are nobody else's business.";
  ExpectRowsSumToTotals(ended);
}

}  // namespace
}  // namespace hlod::device
