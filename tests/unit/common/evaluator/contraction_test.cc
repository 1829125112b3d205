// dot, convolution, linear algebra and transforms against hand arithmetic.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

Literal Dot(DotAttributes dot, Literal a, Literal b, std::optional<Shape> declared = std::nullopt) {
  return Result(
      EvaluateOne({.opcode = kDot, .attributes = dot, .declared = declared}, {std::move(a), std::move(b)}));
}

TEST(Dot, ContractsAnyDimensions) {
  const Literal a = Literal::Array<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
                b = Literal::Array<float>({2, 3}, {1, 0, 2, 0, 1, 1});
  EXPECT_THAT(Numbers(Dot({.lhs_contracting = {1}, .rhs_contracting = {1}}, a, b)),
              ElementsAre(7, 5, 16, 11));
  EXPECT_THAT(Numbers(Dot({.lhs_contracting = {0}, .rhs_contracting = {0}}, a, b)),
              ElementsAre(1, 4, 6, 2, 5, 9, 3, 6, 12));
  EXPECT_THAT(Numbers(Dot({.lhs_contracting = {0, 1}, .rhs_contracting = {0, 1}}, a, b)), ElementsAre(18));
  EXPECT_THAT(
      Numbers(
          Dot({.lhs_contracting = {1}, .rhs_contracting = {1}, .lhs_batch = {0}, .rhs_batch = {0}}, a, b)),
      ElementsAre(7, 11));
}

TEST(Dot, WidensToTheStatedTypeAndWrapsInItsOwn) {
  const Literal a = Literal::Array<int8_t>({1, 2}, {100, 100}),
                b = Literal::Array<int8_t>({2, 1}, {100, 100});
  const DotAttributes product{.lhs_contracting = {1}, .rhs_contracting = {0}};
  EXPECT_THAT(Numbers(Dot(product, a, b, Shape::Array(kS32, {1, 1}))), ElementsAre(20000));
  EXPECT_THAT(Numbers(Dot(product, a, b)), ElementsAre(32));  // 20000 mod 256.
}

TEST(Dot, FloatsAreSummedInDouble) {
  const Literal a = Literal::Array<float>({1, 3}, {1e8f, 1, -1e8f}),
                b = Literal::Array<float>({3, 1}, {1, 1, 1});
  EXPECT_THAT(Numbers(Dot({.lhs_contracting = {1}, .rhs_contracting = {0}}, a, b)), ElementsAre(1));
}

TEST(Dot, NothingToContractGivesZero) {
  EXPECT_THAT(Numbers(Dot({.lhs_contracting = {1}, .rhs_contracting = {0}}, Literal::Array<float>({2, 0}, {}),
                          Literal::Array<float>({0, 1}, {}))),
              ElementsAre(0, 0));
}

// One spatial dimension: input [batch, feature, x], kernel [in, out, x].
ConvolutionAttributes Conv1d(WindowDimension window) {
  ConvolutionAttributes conv;
  conv.window = {window};
  conv.input_batch = 0, conv.input_feature = 1, conv.input_spatial = {2};
  conv.kernel_input_feature = 0, conv.kernel_output_feature = 1, conv.kernel_spatial = {2};
  conv.output_batch = 0, conv.output_feature = 1, conv.output_spatial = {2};
  return conv;
}

std::vector<double> Convolve(ConvolutionAttributes conv, Literal x, Literal kernel) {
  return Numbers(
      Result(EvaluateOne({.opcode = kConvolution, .attributes = conv}, {std::move(x), std::move(kernel)})));
}

TEST(Convolution, WindowsOfEveryKind) {
  const Literal x = Literal::Array<float>({1, 1, 4}, {1, 2, 3, 4}),
                k = Literal::Array<float>({1, 1, 2}, {10, 1});
  EXPECT_THAT(Convolve(Conv1d({.size = 2}), x, k), ElementsAre(12, 23, 34));
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .stride = 2, .padding_low = 1, .padding_high = 1}), x, k),
              ElementsAre(1, 23, 40));
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .window_dilation = 2}), x, k), ElementsAre(13, 24));
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .base_dilation = 2}), x, k), ElementsAre(10, 2, 20, 3, 30, 4));
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .reversal = true}), x, k), ElementsAre(21, 32, 43));
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .padding_low = -1}), x, k), ElementsAre(23, 34));
}

// An infinity times a zero of the padding would be NaN.
TEST(Convolution, ThePaddingMeetsNoInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Convolve(Conv1d({.size = 2, .padding_low = 1}), Literal::Array<float>({1, 1, 2}, {2, 3}),
                       Literal::Array<float>({1, 1, 2}, {inf, 1})),
              ElementsAre(2, inf));
}

TEST(Convolution, FeatureGroupsReadTheirOwnInputs) {
  ConvolutionAttributes conv = Conv1d({.size = 1});
  conv.feature_group_count = 2;
  EXPECT_THAT(Convolve(conv, Literal::Array<float>({1, 2, 2}, {1, 2, 3, 4}),
                       Literal::Array<float>({1, 2, 1}, {10, 100})),
              ElementsAre(10, 20, 300, 400));
}

TEST(Convolution, BatchGroupsReadTheirPartOfTheBatch) {
  ConvolutionAttributes conv = Conv1d({.size = 1});
  conv.batch_group_count = 2;
  EXPECT_THAT(Convolve(conv, Literal::Array<float>({2, 1, 2}, {1, 2, 3, 4}),
                       Literal::Array<float>({1, 2, 1}, {10, 100})),
              ElementsAre(10, 20, 300, 400));
}

TEST(Cholesky, FactorsFromEitherTriangle) {
  // [[4,2],[2,5]] = L L^T with L = [[2,0],[1,2]]; the triangle that is not read holds garbage.
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kCholesky, .attributes = CholeskyAttributes{true}},
                                         {Literal::Array<double>({2, 2}, {4, 99, 2, 5})}))),
              ElementsAre(2, 0, 1, 2));
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kCholesky, .attributes = CholeskyAttributes{false}},
                                         {Literal::Array<double>({2, 2}, {4, 2, 99, 5})}))),
              ElementsAre(2, 1, 0, 2));
  EXPECT_TRUE(
      std::isnan(Numbers(Result(EvaluateOne({.opcode = kCholesky, .attributes = CholeskyAttributes{true}},
                                            {Literal::Array<double>({2, 2}, {1, 2, 2, 1})})))[0]));
}

TEST(TriangularSolve, EverySideTriangleAndTransposition) {
  // With L = [[2,0],[1,4]]: the solution of L x = (2, 9) is (1, 2), and so are those of L^T x = (4, 8) and x
  // L = (4, 8).
  const Literal l = Literal::Array<double>({2, 2}, {2, 77, 1, 4}),
                u = Literal::Array<double>({2, 2}, {2, 1, 77, 4});
  const auto solve = [](const Literal& a, Literal b, TriangularSolveAttributes options) {
    return Numbers(
        Result(EvaluateOne({.opcode = kTriangularSolve, .attributes = options}, {a, std::move(b)})));
  };
  EXPECT_THAT(
      solve(l, Literal::Array<double>({2, 1}, {2, 9}), {.left_side = true, .lower = true, .transpose_a = 1}),
      ElementsAre(1, 2));
  EXPECT_THAT(
      solve(l, Literal::Array<double>({2, 1}, {4, 8}), {.left_side = true, .lower = true, .transpose_a = 2}),
      ElementsAre(1, 2));
  EXPECT_THAT(
      solve(l, Literal::Array<double>({1, 2}, {4, 8}), {.left_side = false, .lower = true, .transpose_a = 1}),
      ElementsAre(1, 2));
  EXPECT_THAT(
      solve(u, Literal::Array<double>({2, 1}, {4, 8}), {.left_side = true, .lower = false, .transpose_a = 1}),
      ElementsAre(1, 2));
  EXPECT_THAT(solve(u, Literal::Array<double>({1, 2}, {2, 9}),
                    {.left_side = false, .lower = false, .transpose_a = 1}),
              ElementsAre(1, 2));
  EXPECT_THAT(solve(l, Literal::Array<double>({2, 1}, {1, 3}),
                    {.left_side = true, .lower = true, .unit_diagonal = true, .transpose_a = 1}),
              ElementsAre(1, 2));
}

// Lengths with small factors, with one large factor, with two, and powers; compared with the definition in
// long double.
TEST(Fft, AnyLengthIsWhatTheDefinitionSays) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const int64_t n : {1, 2, 3, 4, 12, 59, 61, 64, 67, 134, 360, 67 * 71, 1024, 2 * 509}) {
    Literal x(Shape::Array(kC128, {n}));
    const auto values = x.data<std::complex<double>>();
    for (std::complex<double>& value : values) value = {number(random), number(random)};
    const Literal forward =
        Result(EvaluateOne({.opcode = kFft, .attributes = FftAttributes{FftType::kFft, {n}}}, {x}));
    const Literal back =
        Result(EvaluateOne({.opcode = kFft, .attributes = FftAttributes{FftType::kIfft, {n}}}, {forward}));
    for (int64_t k = 0; k < n; k += n / 50 + 1) {
      std::complex<long double> sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const long double turn = static_cast<long double>(i * k % n) / static_cast<long double>(n);
        sum += std::complex<long double>(values[i]) *
               std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turn);
      }
      const std::complex<double> found = forward.data<std::complex<double>>()[k];
      EXPECT_NEAR(found.real(), static_cast<double>(sum.real()), 1e-11) << n << " at " << k;
      EXPECT_NEAR(found.imag(), static_cast<double>(sum.imag()), 1e-11) << n << " at " << k;
      EXPECT_LT(std::abs(back.data<std::complex<double>>()[k] - values[k]), 1e-12) << n << " at " << k;
    }
  }
}

// Large products use BLAS when it is installed; for integers they are exact. Element (i, j) of the product of
// i + k and k - j over k < n is n (n - 1)(2 n - 1) / 6 + (i - j) n (n - 1) / 2 - i j n.
TEST(Dot, LargeProductsAreExactToo) {
  constexpr int64_t kM = 70, kN = 80, kK = 90;
  for (const PrimitiveType type : {kF32, kF64, kC128, kS64}) {
    Literal a(Shape::Array(kF64, {kM, kK})), b(Shape::Array(kF64, {kK, kN}));
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t k = 0; k < kK; ++k) a.data<double>()[i * kK + k] = static_cast<double>(i + k);
    }
    for (int64_t k = 0; k < kK; ++k) {
      for (int64_t j = 0; j < kN; ++j) b.data<double>()[k * kN + j] = static_cast<double>(k - j);
    }
    const auto converted = [&](const Literal& x) {
      return Result(EvaluateOne({.opcode = kConvert, .declared = Shape::Array(type, x.shape().dims)}, {x}));
    };
    Literal product = Dot({.lhs_contracting = {1}, .rhs_contracting = {0}}, converted(a), converted(b));
    if (type == kC128) product = Apply(kReal, {product});
    const std::vector<double> found = Numbers(product);
    ASSERT_EQ(found.size(), static_cast<size_t>(kM * kN));
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        const int64_t expected =
            kK * (kK - 1) * (2 * kK - 1) / 6 + (i - j) * (kK * (kK - 1) / 2) - i * j * kK;
        ASSERT_EQ(found[static_cast<size_t>(i * kN + j)], static_cast<double>(expected)) << i << ", " << j;
      }
    }
  }
}

TEST(Fft, TransformsAndBack) {
  using C = std::complex<double>;
  const Literal x = Literal::Vector<double>({1, 2, 3, 4});
  const Literal half =
      Result(EvaluateOne({.opcode = kFft, .attributes = FftAttributes{FftType::kRfft, {4}}}, {x}));
  const C expected[] = {{10, 0}, {-2, 2}, {-2, 0}};
  for (int i = 0; i < 3; ++i) EXPECT_LT(std::abs(half.data<C>()[i] - expected[i]), 1e-14);
  const Literal back =
      Result(EvaluateOne({.opcode = kFft, .attributes = FftAttributes{FftType::kIrfft, {4}}}, {half}));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(back.data<double>()[i], i + 1, 1e-14);
  const Literal delta = Literal::Array<C>({2, 2}, {1, 0, 0, 0});
  const Literal flat =
      Result(EvaluateOne({.opcode = kFft, .attributes = FftAttributes{FftType::kFft, {2, 2}}}, {delta}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(flat.data<C>()[i], C(1));
}

TEST(BatchNorm, NormalizesEachFeature) {
  // Two rows, two features: means 2 and 20, variances 1 and 100.
  const Literal x = Literal::Array<float>({2, 2}, {1, 10, 3, 30});
  const Literal scale = Literal::Vector<float>({2, 1}), offset = Literal::Vector<float>({5, 0});
  const Literal training = Result(EvaluateOne(
      {.opcode = kBatchNormTraining, .attributes = BatchNormAttributes{.epsilon = 0, .feature_index = 1}},
      {x, scale, offset}));
  EXPECT_THAT(Numbers(training.elements()[0]), ElementsAre(3, -1, 7, 1));
  EXPECT_THAT(Numbers(training.elements()[1]), ElementsAre(2, 20));
  EXPECT_THAT(Numbers(training.elements()[2]), ElementsAre(1, 100));
}

}  // namespace
}  // namespace hlod
