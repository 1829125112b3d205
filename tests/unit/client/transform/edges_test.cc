// Derivatives at points where a function's formula has none, or another branch: beside derivatives by hand.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "hlod/transform/jacobian.h"
#include "hlod/transform/transform.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using std::numbers::pi;

class Edges : public TensorTest {
 protected:
  Tensor At(const std::vector<double>& values) {
    return FromValues<double>(values, Dims{static_cast<int64_t>(values.size())}, device());
  }
  Tensor At(const std::vector<std::complex<double>>& values, Dims dims) {
    return FromValues<std::complex<double>>(values, std::move(dims), device());
  }
  // Returns the derivatives of a function of one number, in reverse mode.
  template <typename F>
  std::vector<double> Slopes(F f, const std::vector<double>& x) {
    return Grad([f](const Tensor& x) { return Sum(f(x)); })(At(x)).template ToVector<double>();
  }
  template <typename F>
  std::vector<double> Curvatures(F f, const std::vector<double>& x) {
    const auto slope = Grad([f](const Tensor& x) { return Sum(f(x)); });
    return Grad([slope](const Tensor& x) { return Sum(slope(x)); })(At(x)).template ToVector<double>();
  }
};

void ExpectNear(const std::vector<double>& values, const std::vector<double>& expected, double error) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], error * (1 + std::abs(expected[i]))) << i;
  }
}

TEST_F(Edges, SincHasItsSecondDerivativeAtZero) {
  const auto sinc = [](const Tensor& x) { return Sinc(x); };
  // With y = pi x: sinc' = pi (y cos y - sin y) / y^2, sinc'' = -pi^2 (sin y / y + 2 (y cos y - sin y) /
  // y^3).
  const std::vector<double> x = {0, 1e-8, -1e-3, 0.1, -0.1499, 0.1501, 0.5, 1, -2.5};
  std::vector<double> slopes, curvatures;
  for (const double at : x) {
    const double y = pi * at;
    const bool small = std::abs(y) < 0.05;
    const double quotient = small ? -1. / 3 + y * y / 30 : (y * std::cos(y) - std::sin(y)) / (y * y * y);
    const double value = small ? 1 - y * y / 6 : std::sin(y) / y;
    slopes.push_back(pi * y * quotient);
    curvatures.push_back(-pi * pi * (value + 2 * quotient));
  }
  ExpectNear(Slopes(sinc, x), slopes, 1e-12);
  ExpectNear(Curvatures(sinc, x), curvatures, 1e-10);
}

// The polynomials of degree 3 and their derivatives.
TEST_F(Edges, ChebyshevPolynomialsAreDifferentiatedInsideAtAndBeyondOne) {
  const std::vector<double> x = {0, 0.5, 1, -1, -0.25, 2, -3};
  const auto expect = [&](auto polynomial, auto slope, auto curvature) {
    std::vector<double> slopes, curvatures;
    for (const double at : x) {
      slopes.push_back(slope(at));
      curvatures.push_back(curvature(at));
    }
    const auto of_three = [polynomial](const Tensor& x) { return polynomial(x, 3); };
    ExpectNear(Slopes(of_three, x), slopes, 1e-9);
    ExpectNear(Curvatures(of_three, x), curvatures, 1e-6);
  };
  // 4 x^3 - 3 x, 8 x^3 - 4 x, 8 x^3 - 4 x^2 - 4 x + 1 and 8 x^3 + 4 x^2 - 4 x - 1.
  expect([](const Tensor& x, int n) { return ChebyshevPolynomialT(x, n); },
         [](double x) { return 12 * x * x - 3; }, [](double x) { return 24 * x; });
  expect([](const Tensor& x, int n) { return ChebyshevPolynomialU(x, n); },
         [](double x) { return 24 * x * x - 4; }, [](double x) { return 48 * x; });
  expect([](const Tensor& x, int n) { return ChebyshevPolynomialV(x, n); },
         [](double x) { return 24 * x * x - 8 * x - 4; }, [](double x) { return 48 * x - 8; });
  expect([](const Tensor& x, int n) { return ChebyshevPolynomialW(x, n); },
         [](double x) { return 24 * x * x + 8 * x - 4; }, [](double x) { return 48 * x + 8; });
  for (const int degree : {0, 1}) {
    const auto slopes =
        Slopes([degree](const Tensor& x) { return ChebyshevPolynomialT(x, degree); }, {0, 0.5, 1, -1, 2});
    EXPECT_THAT(slopes, ::testing::Each(degree));
  }
}

TEST_F(Edges, ALengthHasItsSecondDerivativeWhereOneSideIsZero) {
  const auto length = [](const Tensor& x) { return Hypot(x, 2.0); };
  ExpectNear(Slopes(length, {0, 1.5}), {0, 0.6}, 1e-15);
  ExpectNear(Curvatures(length, {0, 1.5}), {0.5, 4 / std::pow(2.5, 3)}, 1e-14);
}

// The square of a distance has a second derivative where the distance is 0: 2 is the mean, and is the target.
TEST_F(Edges, SquaresOfDistancesHaveTheirSecondDerivativeAtZero) {
  const auto hessian = [this](auto f, const std::vector<double>& x) {
    return Hessian(f)(At(x))
        .Contiguous()
        .View({static_cast<int64_t>(x.size() * x.size())})
        .template ToVector<double>();
  };
  // The variance's is 2 / (n - 1) times 1 - 1 / n on the diagonal and -1 / n beside it.
  const double third = 1. / 3;
  ExpectNear(hessian([](const Tensor& x) { return Var(x); }, {1, 2, 3}),
             {2 * third, -third, -third, -third, 2 * third, -third, -third, -third, 2 * third}, 1e-12);
  ExpectNear(hessian([](const Tensor& x) { return Norm(x); }, {3, 0}), {0, 0, 0, third}, 1e-12);
  ExpectNear(hessian([](const Tensor& x) { return Square(Norm(x)); }, {3, 0}), {2, 0, 0, 2}, 1e-12);
  const Tensor target = At({1, 2});
  ExpectNear(hessian([&](const Tensor& x) { return SmoothL1Loss(x, target); }, {1, 2.5}), {0.5, 0, 0, 0.5},
             1e-12);
  ExpectNear(hessian([&](const Tensor& x) { return HuberLoss(x, target); }, {1, 9}), {0.5, 0, 0, 0}, 1e-12);
  ExpectNear(Curvatures([](const Tensor& x) { return SphericalBesselJ0(x); }, {0}), {-third}, 1e-12);
}

// More than 25 rows, for which distances are computed from products.
TEST_F(Edges, DistancesToItselfHaveNoSlope) {
  constexpr int64_t kRows = 30;
  const auto sum = [](const Tensor& x) { return Sum(Cdist(x, x.Detach())); };
  std::vector<double> x, expected;
  for (int64_t i = 0; i < kRows; ++i)
    x.insert(x.end(), {static_cast<double>(i), static_cast<double>(i * i % 7)});
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t d = 0; d < 2; ++d) {
      double slope = 0;
      for (int64_t j = 0; j < kRows; ++j) {
        const double length = std::hypot(x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
        if (i != j) slope += (x[2 * i + d] - x[2 * j + d]) / length;
      }
      expected.push_back(slope);
    }
  }
  ExpectNear(Grad(sum)(At(x).View({kRows, 2})).View({2 * kRows}).ToVector<double>(), expected, 1e-9);
}

TEST_F(Edges, TheAngleOfZeroHasNoSlope) {
  const auto angle = [](const Tensor& z) { return Sum(Angle(z)); };
  const std::vector<std::complex<double>> z = {{0, 0}, {3, 4}, {0., -2.}};
  const auto slopes = Grad(angle)(At(z, {3})).ToVector<std::complex<double>>();
  // d angle = (x dy - y dx) / |z|^2, and JAX's gradient is the derivative by x minus i times that by y.
  const std::vector<std::complex<double>> expected = {0, {-4 / 25., -3 / 25.}, {0.5, 0}};
  for (size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(std::abs(slopes[i] - expected[i]), 0, 1e-15) << i;
  // The angles of the four zeros.
  const auto zeros = Angle(At({{0., 0.}, {0., -0.}, {-0., 0.}, {-0., -0.}}, {4})).ToVector<double>();
  EXPECT_THAT(zeros, ElementsAre(0, 0, pi, -pi));
  EXPECT_TRUE(std::signbit(zeros[1]));
}

TEST_F(Edges, AcoshOfComplexNumbersHasTheSlopeOfItsBranch) {
  const std::vector<std::complex<double>> z = {{2, 1}, {-2, 1}, {-2, -1}, {-0.5, 3}, {0.5, -0.25}};
  const auto real = [](const Tensor& z) { return Sum(Real(Acosh(z))); };
  const auto slopes = Grad(real)(At(z, {5})).ToVector<std::complex<double>>();
  for (size_t i = 0; i < z.size(); ++i) {  // Differences of the real part along both axes.
    const auto value = [](std::complex<double> at) { return std::acosh(at).real(); };
    const double h = 1e-6, by_x = (value(z[i] + h) - value(z[i] - h)) / (2 * h);
    const std::complex<double> step(0, h);
    const double by_y = (value(z[i] + step) - value(z[i] - step)) / (2 * h);
    EXPECT_NEAR(std::abs(slopes[i] - std::complex<double>(by_x, -by_y)), 0, 1e-8) << i;
  }
}

// U S V^H is the matrix itself, whichever phases its vectors have: its derivative in a direction is the
// direction.
TEST_F(Edges, TheProductOfComplexSingularVectorsMovesAsTheMatrix) {
  using C = std::complex<double>;
  const std::vector<C> a = {{1, 0}, {2, 1}, {0, 1}, {3, -1}, {-1, 0.5}, {0.25, 2}};
  const std::vector<C> t = {{0.5, -1}, {0, 2}, {1, 1}, {-0.25, 0}, {2, 0.5}, {1, -3}};
  for (const Dims& dims : {Dims{2, 3}, Dims{3, 2}}) {
    const auto whole = [](const Tensor& a) {
      const auto [u, s, vh] = linalg::Svd(a);
      return MatMul(u * s.Unsqueeze(0), vh);
    };
    const auto [value, moved] = Jvp(whole, std::tuple(At(a, dims)), std::tuple(At(t, dims)));
    const auto values = value.Contiguous().View({6}).ToVector<C>(),
               moves = moved.Contiguous().View({6}).ToVector<C>();
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(std::abs(values[i] - a[i]), 0, 1e-13) << i;
      EXPECT_NEAR(std::abs(moves[i] - t[i]), 0, 1e-12) << i;
    }
  }
}

// det of [[a, b], [c, d]] is a d - b c, whatever the rank.
TEST_F(Edges, TheDeterminantOfAMatrixWithoutInverseHasSecondDerivatives) {
  const auto det = [](const Tensor& a) { return linalg::Det(a.View({2, 2})); };
  const std::vector<double> expected = {0, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1, 0, 0, 0};
  for (const std::vector<double>& a :
       {std::vector<double>{0, 0, 0, 1}, {1, 2, 2, 4}, {0, 0, 0, 0}, {3, 1, 2, 5}}) {
    ExpectNear(Hessian(det)(At(a)).View({16}).ToVector<double>(), expected, 1e-7);
  }
  // The rank of [[1, 2, 3], [4, 5, 6], [7, 8, 9]] is two; det has the mixed derivatives a33 by a11 and a22.
  const auto of_three = [](const Tensor& a) { return linalg::Det(a.View({3, 3})); };
  const auto by_both = Hessian(of_three)(At({1, 2, 3, 4, 5, 6, 7, 8, 9})).ToVector<double>();
  ExpectNear({by_both[0 * 9 + 4], by_both[0 * 9 + 8], by_both[0 * 9 + 5], by_both[1 * 9 + 3], by_both[0]},
             {9, 5, -8, -9, 0}, 1e-6);
}

// The product of x, y and z of one element has the second derivatives z, y and x, also where they are 0.
TEST_F(Edges, ScatteredProductsHaveSecondDerivativesAtZeros) {
  const auto product = [](const Tensor& x) {
    const Tensor zeros = FromValues<int64_t>({0, 0}, Dims{2}, x.device());
    return Sum(ScatterReduce(x.Slice(0, 0, 1), 0, zeros, x.Slice(0, 1, 3), ScatterReduction::kProd));
  };
  for (const std::vector<double>& x :
       {std::vector<double>{2, 3, 5}, {2, 0, 5}, {2, 0, 0}, {0, 0, 5}, {0, 0, 0}}) {
    const std::vector<double> expected = {0, x[2], x[1], x[2], 0, x[0], x[1], x[0], 0};
    ExpectNear(Hessian(product)(At(x)).View({9}).ToVector<double>(), expected, 1e-12);
  }
  const Tensor lengths = FromValues<int64_t>({2, 2}, Dims{2}, device());
  const auto segments = [lengths](const Tensor& x) {
    return Sum(SegmentReduce(x, ScatterReduction::kProd, {.lengths = lengths}));
  };
  const std::vector<double> expected = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
  ExpectNear(Hessian(segments)(At({0, 2, 0, 0})).View({16}).ToVector<double>(), expected, 1e-12);
}

// With f = log Ndtr and its slope r = density / Ndtr: f'' = -r (x + r), which vanishes far right of 0.
TEST_F(Edges, ExponentialUnitsHavePyTorchsSidesAtZero) {
  // The derivatives that PyTorch 2.9 computes at 0: the slope of the left side, and no curvature.
  const auto elu = [](const Tensor& x) { return Elu(x, 2); };
  const auto celu = [](const Tensor& x) { return Celu(x, 2); };
  const auto selu = [](const Tensor& x) { return Selu(x); };
  const double left = 1.0507009873554805 * 1.6732632423543772, e = std::exp(-1);
  ExpectNear(Slopes(elu, {0, -0.0, -1, 3}), {2, 2, 2 * e, 1}, 1e-15);
  ExpectNear(Curvatures(elu, {0, -0.0, -1, 3}), {0, 0, 2 * e, 0}, 1e-15);
  ExpectNear(Slopes(celu, {0, -0.0, -2, 3}), {1, 1, e, 1}, 1e-15);
  ExpectNear(Curvatures(celu, {0, -0.0, -2, 3}), {0, 0, e / 2, 0}, 1e-15);
  ExpectNear(Slopes(selu, {0, -0.0, -1}), {left, left, left * e}, 1e-15);
  ExpectNear(Curvatures(selu, {0, -0.0, -1}), {0, 0, left * e}, 1e-15);
}

TEST_F(Edges, PoolsSelectNanAndNoPadding) {
  // The slopes of PyTorch 2.9's max_pool1d, where window k has the cotangent k + 1.
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto slopes = [&](const std::vector<double>& x, MaxPoolOptions options, int64_t kernel) {
    const auto weighted = [&](const Tensor& x) {
      const Tensor pooled = MaxPool1d(Reshape(x, {1, 1, 4}), {kernel}, options);
      return Sum(pooled * Reshape(Arange(1, pooled.numel() + 1, 1, {.type = hlo::kF64, .device = device()}),
                                  pooled.dims()));
    };
    return Grad(weighted)(At(x)).ToVector<double>();
  };
  const MaxPoolOptions padded = {.stride = Sizes{1}, .padding = {1}}, dense = {.stride = Sizes{1}};
  using Slopes = std::vector<double>;
  EXPECT_EQ(slopes({1, nan, 2, 3}, padded, 3), (Slopes{0, 6, 0, 4}));
  EXPECT_EQ(slopes({1, nan, 2, 3}, dense, 2), (Slopes{0, 3, 0, 3}));
  EXPECT_EQ(slopes({nan, 1, nan, 3}, padded, 3), (Slopes{1, 0, 9, 0}));
  EXPECT_EQ(slopes({nan, 1, nan, 3}, {}, 2), (Slopes{1, 0, 2, 0}));
  EXPECT_EQ(slopes({-inf, -inf, -inf, -inf}, padded, 3), (Slopes{3, 3, 4, 0}));
  EXPECT_EQ(slopes({-inf, -inf, 1, -inf}, padded, 3), (Slopes{1, 0, 9, 0}));
  EXPECT_EQ(slopes({1, 1, 1, 1}, padded, 3), (Slopes{3, 3, 4, 0}));
}

TEST_F(Edges, TheLogarithmOfNdtrIsFlatFarRight) {
  const auto log_ndtr = [](const Tensor& x) { return LogNdtr(x); };
  const std::vector<double> x = {-5, -0.5, 0, 0.5, 5, 40, 60};
  std::vector<double> slopes, curvatures;
  for (const double at : x) {
    const double r =
        std::exp(-at * at / 2) / std::sqrt(2 * pi) / (0.5 * std::erfc(-at / std::numbers::sqrt2));
    slopes.push_back(r);
    curvatures.push_back(-r * (at + r));
  }
  ExpectNear(Slopes(log_ndtr, x), slopes, 1e-10);
  ExpectNear(Curvatures(log_ndtr, x), curvatures, 1e-9);
}

TEST_F(Edges, TheTailOfErfcHasItsDigits) {
  const auto erfc = [](const Tensor& x) { return Erfc(x); };
  const std::vector<double> x = {-3, 0, 0.4, 0.6, 3, 6, 10, 26};
  const std::vector<double> values = erfc(At(x)).ToVector<double>(), slopes = Slopes(erfc, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(values[i] / std::erfc(x[i]), 1, 1e-13) << x[i];
    EXPECT_NEAR(slopes[i] / (-2 / std::sqrt(pi) * std::exp(-x[i] * x[i])), 1, 1e-13) << x[i];
  }
  EXPECT_EQ(Erfc(FromValues<float>({6}, Dims{1}, device())).Item<float>(),
            static_cast<float>(std::erfc(6.0)));
}

// The slopes of det and of its logarithm by a matrix of any scale: the adjugate's and the inverse's
// transpose.
TEST_F(Edges, SmallMatricesHaveTheirOwnDeterminants) {
  for (const double scale : {1e-30, 1e-17, 1e-8, 1.0}) {
    const std::vector<double> a = {3 * scale, scale, scale, 2 * scale};
    const auto det = [](const Tensor& a) { return linalg::Det(a.View({2, 2})); };
    const auto logdet = [](const Tensor& a) { return linalg::Logdet(a.View({2, 2})); };
    std::vector<double> slopes = Slopes(det, a), logarithms = Slopes(logdet, a);
    for (double& slope : slopes) slope /= scale;
    for (double& slope : logarithms) slope *= 5 * scale;
    ExpectNear(slopes, {2, -1, -1, 3}, 1e-12);
    ExpectNear(logarithms, {2, -1, -1, 3}, 1e-12);
  }
}

}  // namespace
}  // namespace hlod
