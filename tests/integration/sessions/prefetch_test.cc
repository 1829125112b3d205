// Results that a program reads after each execute come with its end, and the account is what it would be.
#include <map>

#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

class Prefetches : public ::testing::Test {
 protected:
  // Runs x + x and returns the result.
  Buffer Run() { return Must(double_.Execute({x_}))[0]; }
  // Returns the calls that the daemon has counted, by cause and line.
  std::map<std::pair<Cause, int>, int64_t> Calls() {
    std::map<std::pair<Cause, int>, int64_t> calls;
    for (const LedgerRow& row : Must(client_.Stats()).rows) {
      if (DirectionOf(row.cause) == Direction::kDeviceToHost)
        calls[{row.cause, row.origin.line}] += row.amount.calls;
    }
    return calls;
  }

  const testing::Daemon daemon_ = Must(testing::Daemon::Start());
  const Client client_ = Must(daemon_.Connect());
  const Buffer x_ = Must(client_.device(0).Upload(Counting(4)));
  const Executable double_ = Must(client_.CompileText(R"(HloModule double
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
})"));
};

constexpr int kRuns = 40;  // More than it takes until results are read ahead.

TEST_F(Prefetches, ReadsAreCountedWhereTheProgramReads) {
  int line = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Buffer y = Run();
    line = __LINE__ + 1;
    const Literal value = Must(y.ToLiteral());
    EXPECT_EQ(value.data<float>()[3], 2 * Counting(4).data<float>()[3]);
  }
  EXPECT_EQ(Calls(), (decltype(Calls()){{{Cause::kDownload, line}, kRuns}}));
}

TEST_F(Prefetches, WhatIsNotReadIsCountedApartAndEndsThem) {
  for (int i = 0; i < kRuns; ++i) ASSERT_OK(Run().ToLiteral().status());
  for (int i = 0; i < kRuns; ++i) Run();
  int64_t in_vain = 0, read = 0;
  for (const auto& [row, calls] : Calls()) (row.first == Cause::kPrefetch ? in_vain : read) += calls;
  EXPECT_EQ(in_vain, 1);
  EXPECT_EQ(read, kRuns);
}

TEST_F(Prefetches, ASecondReadCrossesAgain) {
  for (int i = 0; i < kRuns; ++i) {
    const Buffer y = Run();
    ASSERT_OK(y.ToLiteral().status());
    ASSERT_OK(y.ToLiteral().status());
  }
  EXPECT_EQ(Must(client_.Stats()).device_to_host.calls, 2 * kRuns);
}

TEST_F(Prefetches, ADeletedResultIsNotReadFromThem) {
  for (int i = 0; i < kRuns; ++i) ASSERT_OK(Run().ToLiteral().status());
  const Buffer y = Run();
  ASSERT_OK(y.Delete());
  EXPECT_EQ(KindOf(y.ToLiteral().status()), ErrorKind::kDeleted);
}

}  // namespace
}  // namespace hlod
