// Host tensors that are computed by a daemon. Expected values are from loops in this file, or known sums.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/tensor/value/host_daemon.h"
#include "hlod/observe/events.h"
#include "hlod/transform/control.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

constexpr int64_t kSize = 192;

float Entry(int64_t row, int64_t column) { return static_cast<float>((row * 3 + column * 5) % 7 - 3); }

Tensor Matrix() {
  std::vector<float> values;
  for (int64_t i = 0; i < kSize * kSize; ++i) values.push_back(Entry(i / kSize, i % kSize));
  return FromValues<float>(values, Dims{kSize, kSize});
}

// The square of the matrix. Its entries are small integers, so that f32 is exact in every order of summation.
std::vector<float> Square() {
  std::vector<float> square;
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < kSize; ++k) sum += Entry(i / kSize, k) * Entry(k, i % kSize);
    square.push_back(sum);
  }
  return square;
}

class HostTensors : public ::testing::Test {
 protected:
  void SetUp() override {
    ResetTraceStats();
    // Whatever ran before: enough was computed that the daemon is worth its start.
    before_ = lazy::HostDaemonPrograms();
    for (int i = 0; i < 20 && Computed() == 0; ++i) MatMul(Matrix(), Matrix());
    before_ = lazy::HostDaemonPrograms();
  }
  // The number of programs of this test that the daemon computed.
  int64_t Computed() const { return lazy::HostDaemonPrograms() - before_; }

 private:
  int64_t before_ = 0;
};

TEST_F(HostTensors, LargeProductsAreComputedByADaemonWithTheSameValues) {
  EXPECT_EQ(MatMul(Matrix(), Matrix()).ToVector<float>(), Square());
  EXPECT_EQ(Computed(), 1);
}

TEST_F(HostTensors, SmallComputationsAreMadeInThisProcess) {
  Tensor x = FromValues<float>({1, 2, 3}, Dims{3});
  for (int i = 0; i < 1000; ++i) x = x * 1.0 + 0.0;
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(Computed(), 0);
}

TEST_F(HostTensors, ProgramsOfSeveralResultsComeBackInOrder) {
  constexpr int64_t kCount = 200'000;
  const auto [sorted, order] = Sort(Arange(kCount, 0, -1, {.type = kF32}));
  EXPECT_EQ(sorted[0].Item<float>(), 1);
  EXPECT_EQ(sorted[kCount - 1].Item<float>(), kCount);
  EXPECT_EQ(order[0].Item<int64_t>(), kCount - 1);
  EXPECT_EQ(order[kCount - 1].Item<int64_t>(), 0);
  EXPECT_GE(Computed(), 1);
}

TEST_F(HostTensors, GradientsAreThoseOfTheProduct) {
  Tensor x = Matrix();
  x.RequiresGrad_();
  Sum(MatMul(x, Matrix())).Backward();
  // d sum(x y) / d x[i][k] is the sum of row k of y.
  const std::vector<float> gradient = x.Grad().ToVector<float>();
  for (const int64_t i : {int64_t{0}, kSize * kSize / 2 + 17, kSize * kSize - 1}) {
    float sum = 0;
    for (int64_t j = 0; j < kSize; ++j) sum += Entry(i % kSize, j);
    EXPECT_EQ(gradient[static_cast<size_t>(i)], sum);
  }
  EXPECT_GE(Computed(), 1);
}

TEST_F(HostTensors, TheirDaemonIsNotObserved) {
  class Counter : public Observer {
   public:
    void OnEvent(const Event&) override { ++events; }
    int events = 0;
  } counter;
  {
    const Observation observation(counter);
    MatMul(Matrix(), Matrix());
  }
  // A slow operation on host tensors would be one event.
  EXPECT_LE(counter.events, 1);
  EXPECT_EQ(Computed(), 1);
  EXPECT_EQ(GetTraceStats().compiles, 0);
}

// A loop whose length is known is as large as what its iterations do: `iterations` times 10 additions.
Tensor Looped(int64_t iterations) {
  const auto step = [](const Tensor& sum, const Tensor& x) {
    Tensor next = sum;
    for (int i = 0; i < 10; ++i) next = next + x;
    return std::pair(next, std::tuple<>());
  };
  return Scan(step, Zeros({}), Ones({iterations})).first;
}

TEST_F(HostTensors, ShortLoopsAreRunInThisProcessAndLongOnesByTheDaemon) {
  EXPECT_EQ(Looped(4).Item<float>(), 40);
  EXPECT_EQ(Computed(), 0);
  EXPECT_EQ(Looped(100'000).Item<float>(), 1'000'000);
  EXPECT_EQ(Computed(), 1);
}

// Each of the 60 functions calls the one before in both branches: 2^60 ways, of which a run takes one.
TEST(HostEstimate, AComputationThatIsCalledTwiceIsEstimatedOnce) {
  const lazy::TraceLock lock;
  lazy::TraceTables& tables = lazy::TraceTables::Get();
  const Shape scalar = Shape::Scalar(kF32);
  const auto last = [&](hlo::ComputationId before, int depth) {
    return tables.Callee(absl::StrCat("nested_", depth), [&](hlo::Builder& b) {
      const hlo::Op x = b.Parameter(0, scalar);
      const hlo::Op positive = b.Compare(x, b.Constant(0.0f), hlo::ComparisonDirection::kGt);
      return b.Conditional(positive, {x, x}, {before, before});
    });
  };
  hlo::ComputationId id =
      tables.Callee("nested", [&](hlo::Builder& b) { return b.Unary(hlo::kNegate, b.Parameter(0, scalar)); });
  std::vector<double> us{lazy::EvaluatorUs(tables.callees().computation(id))};
  for (int depth = 1; depth <= 60; ++depth) {
    id = last(id, depth);
    us.push_back(lazy::EvaluatorUs(tables.callees().computation(id)));
  }
  // Each level adds its own instructions to twice the level below.
  const double own = us[1] - 2 * us[0];
  EXPECT_NEAR(us[60] / (std::ldexp(us[0] + own, 60) - own), 1, 1e-9);
}

// Ends a forked child with 0 if it computes by itself, and the error of Connect() names the variable.
[[noreturn]] void ComputeInAChild(int64_t before) {
  const bool same = MatMul(Matrix(), Matrix()).ToVector<float>() == Square();
  const absl::Status refused = Client::Connect().status();
  const bool says = absl::StrContains(refused.message(), "unless HLOD_HOST_DAEMON=0 is set");
  _exit(!same ? 1 : lazy::HostDaemonPrograms() != before ? 2 : !says ? 3 : 0);
}

TEST_F(HostTensors, AForkedChildComputesByItselfAndIsToldWhyItCannotConnect) {
  GTEST_FLAG_SET(death_test_style, "fast");  // A fork of this process, and not a new one.
  ASSERT_EQ(MatMul(Matrix(), Matrix()).ToVector<float>(), Square());
  const int64_t before = lazy::HostDaemonPrograms();
  EXPECT_EXIT(ComputeInAChild(before), ::testing::ExitedWithCode(0), "");
  // The parent's daemon is still there.
  EXPECT_EQ(MatMul(Matrix(), Matrix()).ToVector<float>(), Square());
  EXPECT_EQ(lazy::HostDaemonPrograms(), before + 1);
}

// Ends the process with 0 if it computes the products by itself.
[[noreturn]] void ComputeAlone() {
  bool same = true;
  for (int i = 0; i < 5; ++i) same = same && MatMul(Matrix(), Matrix()).ToVector<float>() == Square();
  _exit(same && lazy::HostDaemonPrograms() == 0 ? 0 : 1);
}

TEST(HostTensorsAlone, WithoutADaemonTheValuesAreTheSame) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    ComputeAlone();
  };
  EXPECT_EXIT(with("HLOD_DAEMON", "/nonexistent"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(with("HLOD_HOST_DAEMON", "0"), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hlod
