// The ledger's rows, totals and the daemon's sum always agree.
#include "server/device/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Ledger, APrefetchMovesToTheRowOfItsRead) {
  SessionLedger ledger;
  ledger.RecordPrefetch(5, {1, Cause::kPrefetch, 3, 8}, 16);
  ledger.RecordPrefetch(6, {1, Cause::kPrefetch, 3, 8}, 4);
  ledger.RecordRead(5, {0, Cause::kScalarRead, 4, 9});
  ledger.RecordRead(5, {0, Cause::kDownload, 4, 9});   // It was read before.
  ledger.RecordRead(77, {0, Cause::kDownload, 4, 9});  // No prefetch.
  Account account = ledger.account();
  ASSERT_EQ(account.rows.size(), 2u);
  EXPECT_EQ(account.rows[0].key, (RowKey{1, Cause::kScalarRead, 4, 9}));
  EXPECT_EQ(account.rows[0].amount, (Amount{16, 1}));
  EXPECT_EQ(account.rows[1].key, (RowKey{1, Cause::kPrefetch, 3, 8}));
  EXPECT_EQ(account.rows[1].amount, (Amount{4, 1}));
  ExpectRowsSumToTotals(account);
  ledger.RecordRead(6, {0, Cause::kScalarRead, 4, 9});
  account = ledger.account();
  ASSERT_EQ(account.rows.size(), 1u);
  EXPECT_EQ(account.rows[0].amount, (Amount{20, 2}));
  ExpectRowsSumToTotals(account);
}

TEST(Ledger, OnlyTheLastPrefetchesAreRemembered) {
  SessionLedger ledger;
  const uint64_t count = 2 * SessionLedger::kPrefetchesMax;
  for (uint64_t i = 0; i < count; ++i) ledger.RecordPrefetch(i, {0, Cause::kPrefetch, 1, i}, 4);
  for (uint64_t i = 0; i < count; ++i) ledger.RecordRead(i, {0, Cause::kDownload, 2, 0});
  const Account account = ledger.account();
  EXPECT_EQ(account.rows.size(), 1 + SessionLedger::kPrefetchesMax);
  EXPECT_EQ(account.rows[0].amount,
            (Amount{4 * SessionLedger::kPrefetchesMax, SessionLedger::kPrefetchesMax}));
  EXPECT_EQ(account.directions[1], (Amount{static_cast<int64_t>(4 * count), static_cast<int64_t>(count)}));
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

Digest DigestOf(uint32_t program) {
  Digest digest = {};
  digest[0] = static_cast<uint8_t>(program);
  digest[1] = static_cast<uint8_t>(program >> 8);
  return digest;
}

void ExpectRunsSumToCounters(const Account& account) {
  int64_t count = 0, run_us = 0, queue_us = 0;
  for (const RunRow& row : account.runs) {
    count += row.figures.count;
    run_us += row.figures.run.sum_us;
    queue_us += row.figures.queue.sum_us;
    EXPECT_LE(row.figures.run.min_us * row.figures.count, row.figures.run.sum_us);
    EXPECT_GE(row.figures.run.max_us * row.figures.count, row.figures.run.sum_us);
  }
  EXPECT_EQ(count, account.counters.executes);
  EXPECT_EQ(run_us, account.counters.execute_us);
  EXPECT_EQ(queue_us, account.counters.queue_us);
}

TEST(Ledger, RunsAreKeptByProgramLineAndStep) {
  SessionLedger ledger;
  ledger.RecordRun({.device = 0, .origin = 7, .step = 1}, DigestOf(1), "step", {10, 5, 100}, 64);
  ledger.RecordRun({.device = 0, .origin = 7, .step = 1}, DigestOf(1), "step", {20, 3, 300}, 32);
  ledger.RecordRun({.device = 0, .origin = 8, .step = 1}, DigestOf(1), "step", {30, 0, 7}, 16);
  const Account account = ledger.account(Detail::kAll);
  ASSERT_EQ(account.runs.size(), 2u);
  const RunFigures& first = account.runs[0].figures;
  EXPECT_EQ(account.runs[0].program, "step");
  EXPECT_EQ(account.runs[0].digest, DigestOf(1));
  EXPECT_EQ(account.runs[0].key.origin, 7u);
  EXPECT_EQ(first.count, 2);
  EXPECT_EQ(first.run.min_us, 100);
  EXPECT_EQ(first.run.max_us, 300);
  EXPECT_EQ(first.run.sum_us, 400);
  EXPECT_EQ(first.queue.min_us, 3);
  EXPECT_EQ(first.queue.sum_us, 8);
  EXPECT_EQ(first.peak_bytes, 64);
  EXPECT_EQ(account.samples.size(), 3u);
  EXPECT_TRUE(ledger.account().runs.empty()) << "Only when they are asked for.";
  ExpectRunsSumToCounters(account);
}

// A program's modelled time has no bound: its loops may be in a branch that is never taken.
TEST(Ledger, ModelledTimesStopAtTheLargestNumber) {
  SessionLedger ledger;
  for (int run = 0; run < 2; ++run) {
    ledger.RecordRun({}, DigestOf(1), "step", {.network_us = INT64_MAX, .network_bytes = INT64_MAX}, 8);
  }
  Account account = ledger.account(Detail::kAll);
  EXPECT_EQ(account.counters.network_us, INT64_MAX);
  EXPECT_EQ(account.runs[0].figures.network_us, INT64_MAX);
  EXPECT_EQ(account.runs[0].figures.network_bytes, INT64_MAX);
  account.AddTotals(ledger.account(Detail::kAll));
  EXPECT_EQ(account.counters.network_us, INT64_MAX);
}

// Rows of different steps are merged first, then those of programs and lines; the sums stay complete.
TEST(Ledger, ManyRunsStayExactInBoundedMemory) {
  SessionLedger ledger;
  for (uint64_t step = 0; step < 20'000; ++step)
    ledger.RecordRun({.origin = 1, .step = step}, DigestOf(1), "one", {0, 1, 2}, 8);
  Account account = ledger.account(Detail::kAll);
  EXPECT_EQ(account.runs.size(), SessionLedger::kRunRowsMax + 1);
  EXPECT_EQ(account.samples.size(), SessionLedger::kSamplesMax);
  ExpectRunsSumToCounters(account);
  for (uint32_t program = 0; program < 20'000; ++program)
    ledger.RecordRun({.origin = program, .step = 1}, DigestOf(program), "many", {0, 1, 3}, 8);
  account = ledger.account(Detail::kAll);
  EXPECT_LE(account.runs.size(), 2 * SessionLedger::kRunRowsMax + 1);
  EXPECT_EQ(account.counters.executes, 40'000);
  ExpectRunsSumToCounters(account);
  const auto others = [](const RunRow& row) { return row.key.other_programs; };
  EXPECT_EQ(std::count_if(account.runs.begin(), account.runs.end(), others), 1);
}

TEST(Ledger, ManyCompilesStayExactInBoundedMemory) {
  SessionLedger ledger;
  constexpr int kCompiles = 3000;
  for (int i = 0; i < kCompiles; ++i) {
    CompileRow row;
    row.digest = DigestOf(static_cast<uint32_t>(i));
    row.outcome = static_cast<CompileOutcome>(i % 3);
    row.compile_us = 5;
    row.at_us = i;
    ledger.RecordCompile(row);
  }
  const Account account = ledger.account(Detail::kAll);
  EXPECT_EQ(account.compiles.size(), SessionLedger::kCompileRowsMax + 3);
  EXPECT_EQ(account.compiles[0].at_us, kCompiles - 1) << "The latest first.";
  int64_t count = 0, us = 0;
  for (const CompileRow& row : account.compiles) {
    count += row.count;
    us += row.compile_us;
  }
  EXPECT_EQ(count, kCompiles);
  EXPECT_EQ(us, account.counters.compile_us);
  EXPECT_EQ(account.counters.compiles, kCompiles / 3);
}

TEST(Ledger, RunsOfEndedSessionsStayInTheSumByProgram) {
  Ledger daemon;
  for (int session = 0; session < 3; ++session) {
    SessionLedger ledger;
    ledger.RecordRun({.origin = 1, .step = 1}, DigestOf(1), "one", {0, 1, 2}, 8);
    ledger.RecordRun({.origin = 2, .step = 2}, DigestOf(1), "one", {0, 1, 4}, 16);
    ledger.RecordCompile({.digest = DigestOf(1), .compile_us = 9});
    daemon.Fold(ledger.account(Detail::kAll));
  }
  const Account ended = daemon.ended();
  ASSERT_EQ(ended.runs.size(), 1u);
  EXPECT_EQ(ended.runs[0].program, "one");
  EXPECT_EQ(ended.runs[0].figures.count, 6);
  EXPECT_EQ(ended.runs[0].figures.peak_bytes, 16);
  ExpectRunsSumToCounters(ended);
  ASSERT_EQ(ended.compiles.size(), 1u);
  EXPECT_EQ(ended.compiles[0].count, 3);
  EXPECT_EQ(ended.compiles[0].compile_us, 27);
}

}  // namespace
}  // namespace hlod::device
