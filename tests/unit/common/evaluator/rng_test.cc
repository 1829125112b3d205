// rng by its distribution, rng-get-and-update-state by XLA's own numbers (jax 0.10.2 on the CPU).
#include <cmath>
#include <set>

#include "common/evaluator/random_counters.h"
#include "common/hlo/text/text.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

constexpr int64_t kDraws = 20000;

Literal Draw(RandomDistribution distribution, PrimitiveType type, double a, double b,
             int64_t count = kDraws) {
  const auto scalar = [type](double x) { return hlo::Convert(Literal::Scalar(x), type).value(); };
  return Result(EvaluateOne(
      {.opcode = kRng, .attributes = RngAttributes{distribution}, .declared = Shape::Array(type, {count})},
      {scalar(a), scalar(b)}));
}

// The mean, the variance, and the kurtosis: the fourth central moment divided by the squared variance.
struct Moments {
  double mean = 0, variance = 0, kurtosis = 0;

  explicit Moments(const std::vector<double>& numbers) {
    const auto count = static_cast<double>(numbers.size());
    for (const double x : numbers) mean += x / count;
    for (const double x : numbers) variance += (x - mean) * (x - mean) / count;
    for (const double x : numbers) kurtosis += std::pow(x - mean, 4) / count / (variance * variance);
  }
};

// Returns four standard deviations of a mean of kDraws numbers with this variance.
double Margin(double variance) { return 4 * std::sqrt(variance / kDraws); }

TEST(Rng, UniformFloatsFillTheirIntervalEvenly) {
  for (const PrimitiveType type : {kF32, kF64, kF16, kBF16}) {
    const std::vector<double> numbers = Numbers(Draw(RandomDistribution::kUniform, type, -2, 4));
    const Moments moments(numbers);
    EXPECT_NEAR(moments.mean, 1, Margin(3) + 0.01) << Name(type);
    EXPECT_NEAR(moments.variance, 3, 0.1) << Name(type);
    std::vector<int> bins(6);
    for (const double x : numbers) {
      ASSERT_GE(x, -2) << Name(type);
      ASSERT_LE(x, 4) << Name(type);
      ++bins[std::min<size_t>(5, static_cast<size_t>(x + 2))];
    }
    for (const int bin : bins)
      EXPECT_NEAR(bin, kDraws / 6., 4 * std::sqrt(kDraws / 6.) + 0.01 * kDraws) << Name(type);
  }
}

TEST(Rng, NormalFloatsHaveTheStatedMeanAndDeviation) {
  for (const PrimitiveType type : {kF32, kF64, kF16, kBF16}) {
    const Moments moments(Numbers(Draw(RandomDistribution::kNormal, type, 3, 2)));
    EXPECT_NEAR(moments.mean, 3, Margin(4) + 0.01) << Name(type);
    EXPECT_NEAR(moments.variance, 4, 0.2) << Name(type);
    EXPECT_NEAR(moments.kurtosis, 3, 0.2) << Name(type);
  }
  // An odd number of draws leaves half of a pair out.
  EXPECT_EQ(Draw(RandomDistribution::kNormal, kF32, 0, 1, 7).element_count(), 7);
}

TEST(Rng, UniformIntegersTakeEachValueAlike) {
  for (const PrimitiveType type : {kS8, kU8, kS16, kS32, kU32, kS64, kU64}) {
    const double low = IsSigned(type) ? -3 : 3;
    std::vector<int> counts(5);
    for (const double x : Numbers(Draw(RandomDistribution::kUniform, type, low, low + 5))) {
      ASSERT_GE(x, low) << Name(type);
      ASSERT_LT(x, low + 5) << Name(type);
      ++counts[static_cast<size_t>(x - low)];
    }
    for (const int count : counts) EXPECT_NEAR(count, kDraws / 5., 4 * std::sqrt(kDraws / 5.)) << Name(type);
  }
}

TEST(Rng, EqualInstructionsAndTurnsOfALoopDrawAnew) {
  const auto module = ParseModule(R"(
body {
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  last = f32[4] get-tuple-element(s), index=2
  z = f32[] constant(0)
  o = f32[] constant(1)
  r = f32[4] rng(z, o), distribution=rng_uniform
  ROOT t = (s32[], f32[4], f32[4]) tuple(next, last, r)
}
condition {
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  ROOT p = pred[] compare(i, two), direction=LT
}
ENTRY e {
  z = f32[] constant(0)
  o = f32[] constant(1)
  i = s32[] constant(0)
  a = f32[4] rng(z, o), distribution=rng_uniform
  b = f32[4] rng(z, o), distribution=rng_uniform
  init = (s32[], f32[4], f32[4]) tuple(i, a, b)
  w = (s32[], f32[4], f32[4]) while(init), condition=condition, body=body
  c = f32[4] get-tuple-element(w), index=1
  d = f32[4] get-tuple-element(w), index=2
  ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  RandomCounters counters;
  std::set<double> seen;
  for (int run = 0; run < 2; ++run) {
    const Literal drawn = Result(Evaluate(**module, {}, {.random = &counters}));
    for (const Literal* leaf : drawn.Leaves()) {
      for (const double x : Numbers(*leaf)) EXPECT_TRUE(seen.insert(x).second) << x;
    }
  }
  EXPECT_EQ(seen.size(), 32u);
}

TEST(RngGetAndUpdateState, CountsFromXlasStartForEachInstruction) {
  const auto module = ParseModule(
      "ENTRY e {\n a = u64[2] rng-get-and-update-state(), delta=3\n"
      " b = u64[2] rng-get-and-update-state(), delta=5\n ROOT t = (u64[2], u64[2]) tuple(a, b)\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  RandomCounters counters;
  for (const auto& [a, b] : std::vector<std::pair<uint64_t, uint64_t>>{
           {117515157, 117515157}, {117515160, 117515162}, {117515163, 117515167}}) {
    const Literal both = Result(Evaluate(**module, {}, {.random = &counters}));
    EXPECT_THAT(both.elements()[0].data<uint64_t>(), ElementsAre(a, 0));
    EXPECT_THAT(both.elements()[1].data<uint64_t>(), ElementsAre(b, 0));
  }
}

}  // namespace
}  // namespace hlod
