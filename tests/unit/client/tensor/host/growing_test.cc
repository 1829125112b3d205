// Views that grow in a loop, as a decoder's view of its cache, compile for a bounded set of lengths. Expected
// values are from loops in this file.
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

constexpr int64_t kLength = 128, kWidth = 4, kSteps = 100;
// One program for the first step, whose slices have one element; two of the next for their own lengths; one
// per bound 32, 64 and 128.
constexpr int64_t kCompilesMax = 6;

float Key(int64_t row, int64_t column) { return std::sin(static_cast<float>(row * kWidth + column)); }
float Content(int64_t row, int64_t column) { return std::cos(static_cast<float>(row + 3 * column)); }

std::vector<float> Rows(float (*entry)(int64_t, int64_t)) {
  std::vector<float> values;
  for (int64_t i = 0; i < kLength * kWidth; ++i) values.push_back(entry(i / kWidth, i % kWidth));
  return values;
}

class Growing : public TensorTest {
 protected:
  Tensor Keys() { return OnDevice(Rows(Key), {kLength, kWidth}); }
  Tensor Contents() { return OnDevice(Rows(Content), {kLength, kWidth}); }
};

// Attention of the query (1, 1, 1, 1) to the first `length` rows.
std::vector<double> Attended(int64_t length) {
  std::vector<double> sum(kWidth);
  double total = 0;
  for (int64_t row = 0; row < length; ++row) {
    double score = 0;
    for (int64_t d = 0; d < kWidth; ++d) score += Key(row, d);
    total += std::exp(score);
    for (int64_t d = 0; d < kWidth; ++d) sum[d] += std::exp(score) * Content(row, d);
  }
  for (double& each : sum) each /= total;
  return sum;
}

double SumOfKeys(int64_t length) {
  double sum = 0;
  for (int64_t i = 0; i < length * kWidth; ++i) sum += Key(i / kWidth, i % kWidth);
  return sum;
}

void ExpectNear(const std::vector<float>& values, const std::vector<double>& expected, int64_t length) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 2e-5) << length << ", " << i;
}

TEST_F(Growing, AttentionToAGrowingCacheCompilesAFewTimes) {
  const Tensor keys = Keys(), contents = Contents(), query = OnDevice({1, 1, 1, 1}, {kWidth, 1});
  // The scores are gone when the result is read: otherwise they would be a result that grows.
  const auto attend = [&](int64_t length) {
    const Tensor scores = MatMul(keys.Slice(0, 0, length), query);
    return MatMul(Softmax(scores, 0).T(), contents.Slice(0, 0, length));
  };
  for (int64_t length = 1; length <= kSteps; ++length)
    ExpectNear(attend(length).ToVector<float>(), Attended(length), length);
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax);
  EXPECT_EQ(GetTraceStats().compiles + GetTraceStats().canonical_hits, kSteps);
}

TEST_F(Growing, ACacheThatIsWrittenAndReadCompilesAFewTimes) {
  Tensor cache = Zeros({kLength, kWidth}, {.type = kF32, .device = device()});
  const Tensor source = Contents();
  std::vector<double> expected(kWidth);
  for (int64_t length = 1; length <= kSteps; ++length) {
    cache.Slice(0, length - 1, length).Copy_(source.Slice(0, length - 1, length));
    for (int64_t d = 0; d < kWidth; ++d) expected[d] += Content(length - 1, d);
    ExpectNear(Sum(cache.Slice(0, 0, length), {0}).ToVector<float>(), expected, length);
  }
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax + 2);
}

// A decoder: each step writes the key and the content of its place into caches of [batch, head, place,
// width], and attends to all places so far. The batches and heads differ by a factor of the content.
TEST_F(Growing, ADecoderWithACacheCompilesAFewTimes) {
  constexpr int64_t kBatch = 2, kHeads = 2;
  const Tensor rows = Keys(), values = Contents();
  const Tensor factors = OnDevice({1, 2, 3, 4}, {kBatch, kHeads, 1, 1});
  const Tensor query = Ones({kBatch, kHeads, 1, kWidth}, {.type = kF32, .device = device()});
  Tensor keys = Zeros({kBatch, kHeads, kLength, kWidth}, {.type = kF32, .device = device()});
  Tensor contents = ZerosLike(keys);
  const auto step = [&](int64_t place) {
    keys.Slice(2, place, place + 1).Copy_(rows.Slice(0, place, place + 1));
    contents.Slice(2, place, place + 1).Copy_(factors * values.Slice(0, place, place + 1));
    return ScaledDotProductAttention(query, keys.Slice(2, 0, place + 1), contents.Slice(2, 0, place + 1),
                                     {.scale = 1});
  };
  for (int64_t place = 0; place < kSteps; ++place) {
    std::vector<double> expected;
    for (int64_t factor = 1; factor <= kBatch * kHeads; ++factor) {
      for (const double each : Attended(place + 1)) expected.push_back(static_cast<double>(factor) * each);
    }
    ExpectNear(step(place).ToVector<float>(), expected, place);
  }
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax + 2);
}

// A result that grows has a shape of its own in each step: these programs are compiled one by one, and hlod
// says so, with the line and what to do.
TEST_F(Growing, ATensorThatGrowsAndIsKeptIsToldOf) {
  const Tensor keys = Keys();
  ::testing::internal::CaptureStderr();
  for (int64_t length = 1; length <= 12; ++length) {
    const Tensor kept = keys.Slice(0, 0, length) * 2;
    EXPECT_NEAR(Sum(kept).Item<float>(), 2 * SumOfKeys(length), 1e-4);
  }
  const std::string warned = ::testing::internal::GetCapturedStderr();
  EXPECT_GE(GetTraceStats().compiles, 12);
  EXPECT_THAT(warned, HasSubstr("growing_test.cc"));
  EXPECT_THAT(warned, HasSubstr("let no tensor of its size be alive"));
}

// The divisor of a mean is a number that grows with the view.
TEST_F(Growing, MeansDivideByTheirOwnLengths) {
  const Tensor keys = Keys();
  std::vector<double> sum(kWidth);
  for (int64_t length = 1; length <= kSteps; ++length) {
    std::vector<double> mean;
    for (int64_t d = 0; d < kWidth; ++d) mean.push_back((sum[d] += Key(length - 1, d)) / length);
    ExpectNear(Mean(keys.Slice(0, 0, length), {0}).ToVector<float>(), mean, length);
  }
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax);
}

TEST_F(Growing, GradientsEndWhereTheViewEnds) {
  Tensor keys = Keys();
  keys.RequiresGrad_();
  for (int64_t length = 1; length <= kSteps; ++length) {
    const Tensor part = keys.Slice(0, 0, length);
    Mean(part * part).Backward();
    std::vector<double> gradient(kLength * kWidth);
    for (int64_t i = 0; i < length * kWidth; ++i)
      gradient[i] = 2 * Key(i / kWidth, i % kWidth) / (length * kWidth);
    ExpectNear(keys.Grad().ToVector<float>(), gradient, length);
    keys.ZeroGrad();
  }
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax);
}

// A concatenation is one longer than the view, a flattened view kWidth times as long.
TEST_F(Growing, OtherSizesThatFollowFromTheViewGrowWithIt) {
  const Tensor keys = Keys(), ones = Ones({1, kWidth}, {.type = kF32, .device = device()});
  double all = kWidth;
  for (int64_t length = 1; length <= kSteps; ++length) {
    for (int64_t d = 0; d < kWidth; ++d) all += Key(length - 1, d);
    const Tensor sum = Sum(Cat({keys.Slice(0, 0, length), ones}, 0).Flatten());
    EXPECT_NEAR(sum.Item<float>(), all, 1e-4) << length;
  }
  EXPECT_LE(GetTraceStats().compiles, kCompilesMax);
}

TEST_F(Growing, TheLargestElementIsAmongThoseOfTheView) {
  // Descending, so that every element beyond a view that was taken from the end would be smaller, and of the
  // other sign than the padding.
  const Tensor x = OnDevice({-1, -2, -3, -4, -5, -6, -7, -8}, {8});
  for (int64_t length = 2; length <= 8; ++length) {
    EXPECT_EQ(Amax(x.Slice(0, 0, length)).Item<float>(), -1);
    EXPECT_EQ(Amin(x.Slice(0, 0, length)).Item<float>(), -length);
    EXPECT_EQ(Argmin(x.Slice(0, 0, length)).Item<int64_t>(), length - 1);
    EXPECT_EQ(Prod(x.Slice(0, 0, length) * -1).Item<float>(),
              std::round(std::tgamma(static_cast<float>(length) + 1)));
  }
}

// A result that grows has a shape of its own in every step, so that its programs have, too.
TEST_F(Growing, ResultsThatGrowAreRight) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {6});
  std::vector<float> expected = {2};
  for (int64_t length = 2; length <= 6; ++length) {
    expected.push_back(2 * static_cast<float>(length));
    EXPECT_EQ((x.Slice(0, 0, length) * 2).ToVector<float>(), expected);
  }
}

// Two programs for the first lengths, then one for those up to 1280, and one for those up to 1536: a power of
// two would be 2048.
TEST_F(Growing, LongViewsHaveBoundsThatAreNear) {
  std::vector<float> values(2048);
  std::iota(values.begin(), values.end(), 0.F);
  const Tensor x = OnDevice(values, {2048});
  for (int64_t length = 1100; length <= 1500; length += 20)
    EXPECT_EQ(Amax(x.Slice(0, 0, length)).Item<float>(), length - 1);
  EXPECT_EQ(GetTraceStats().compiles, 4);
}

// The widths change 200 times as much as the heights in the third step, by chance: a bound for the heights
// would be far too much for the widths.
TEST_F(Growing, SizesThatChangeIndependentlyHaveTheirOwnPrograms) {
  const Tensor a = Ones({4096}, {.device = device()}), b = Ones({4096}, {.device = device()});
  const auto squares = [&](int64_t rows, int64_t columns) {
    const Tensor ones = a.Slice(0, 0, rows).Unsqueeze(1) * b.Slice(0, 0, columns).Unsqueeze(0);
    const Tensor product = MatMul(ones.T(), ones);
    return Sum(product * product, {0, 1});
  };
  constexpr int64_t kSizes[][2] = {{20, 100}, {21, 101}, {21, 300}};
  for (const auto& [rows, columns] : kSizes) {
    EXPECT_EQ(squares(rows, columns).Item<float>(), static_cast<float>(rows * rows * columns * columns));
  }
  // The product has 300 x 300 elements; room for 200 x 11 more columns would make 25 MB of it.
  EXPECT_LT(Account().peak_bytes, 3 << 20);
}

TEST_F(Growing, TwoLengthsHaveTwoProgramsOfTheirOwn) {
  const Tensor keys = Keys();
  for (int i = 0; i < 6; ++i) Sum(keys.Slice(0, 0, i % 2 == 0 ? 5 : 7)).ToHost();
  EXPECT_EQ(GetTraceStats().compiles, 2);
}

// An update of a fixed part of an array that grows has room in it.
TEST_F(Growing, AFixedUpdateOfAGrowingArray) {
  std::vector<float> numbers(128);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const Tensor cache = OnDevice(numbers, {128});
  for (int64_t length = 2; length <= 100; ++length) {
    const auto sum = [&] {
      Tensor doubled = cache.Slice(0, 0, length) * 2;
      doubled.Slice(0, 0, 1).Fill_(7);
      return Sum(doubled);
    };
    EXPECT_EQ(sum().Item<float>(), static_cast<float>(length * (length - 1) + 7)) << length;
  }
  EXPECT_LE(GetTraceStats().compiles, 8);
}

}  // namespace
}  // namespace hlod
