// Fourier transforms compared with their definition, and refused arguments. Results recorded from PyTorch are
// in operation/.
#include <cmath>
#include <complex>
#include <numbers>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using fft::Norm;
using Number = std::complex<double>;

class Fourier : public TensorTest {
 protected:
  // Returns sum over j of x[j] exp(sign 2 pi i j k / n), where x is cut or padded with zeros to n.
  static std::vector<Number> Defined(std::vector<Number> x, size_t n, int sign) {
    x.resize(n);
    std::vector<Number> spectrum(n);
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) {
        const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
        spectrum[k] += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * turn);
      }
    }
    return spectrum;
  }
  static double Divisor(Norm norm, bool forward, size_t n) {
    if (norm == Norm::kOrtho) return std::sqrt(static_cast<double>(n));
    return (norm == Norm::kForward) == forward ? static_cast<double>(n) : 1;
  }
  static void ExpectNear(const Tensor& actual, const std::vector<Number>& expected, double divisor,
                         const std::string& what) {
    const std::vector<Number> values = actual.To(kC128).ToVector<Number>();
    ASSERT_EQ(values.size(), expected.size()) << what;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_LT(std::abs(values[i] - expected[i] / divisor), 1e-5) << what << " " << i;
    }
  }
  static double Distance(const Tensor& x, const Tensor& y) {
    return Amax(Abs(x - y)).To(kF64).Item<double>();
  }

  const std::vector<Number> signal_ = {{1, 2}, {-0.5, 0}, {3, -1}, {0.25, 0.5}, {-2, 1}};
  const std::vector<float> reals_ = {1, -0.5, 3, 0.25, -2};
};

TEST_F(Fourier, OneDimensionIsAsDefinedForEverySizeAndNorm) {
  std::vector<std::complex<float>> narrow(signal_.begin(), signal_.end());
  const std::vector<Number> reals(reals_.begin(), reals_.end());
  for (const Device& where : {Device(), device()}) {
    const Tensor x = FromValues(narrow, Dims{5}, where), real = FromValues(reals_, Dims{5}, where);
    for (const Norm norm : {Norm::kBackward, Norm::kForward, Norm::kOrtho}) {
      for (const size_t n : {3u, 4u, 5u, 8u}) {
        const std::string what = std::to_string(n) + " on " + where.ToString();
        const auto size = static_cast<int64_t>(n);
        const double there = Divisor(norm, true, n), back = Divisor(norm, false, n);
        ExpectNear(fft::Fft(x, size, -1, norm), Defined(signal_, n, -1), there, "fft " + what);
        ExpectNear(fft::Ifft(x, size, 0, norm), Defined(signal_, n, 1), back, "ifft " + what);
        std::vector<Number> half = Defined(reals, n, -1);
        half.resize(n / 2 + 1);
        ExpectNear(fft::Rfft(real, size, -1, norm), half, there, "rfft " + what);
        half = Defined(reals, n, 1);
        half.resize(n / 2 + 1);
        ExpectNear(fft::Ihfft(real, size, -1, norm), half, back, "ihfft " + what);
        // The whole spectrum, completed with the conjugates of its half.
        std::vector<Number> whole = signal_;
        whole.resize(n / 2 + 1);
        whole[0] = whole[0].real();
        if (n % 2 == 0) whole[n / 2] = whole[n / 2].real();
        whole.resize(n);
        for (size_t k = n / 2 + 1; k < n; ++k) whole[k] = std::conj(whole[n - k]);
        ExpectNear(fft::Irfft(x, size, -1, norm), Defined(whole, n, 1), back, "irfft " + what);
        ExpectNear(fft::Hfft(x, size, -1, norm), Defined(whole, n, -1), there, "hfft " + what);
      }
    }
  }
}

TEST_F(Fourier, MoreThanThreeDimensionsAreTransformedTogether) {
  const Tensor x =
      Sin(Arange(0, 2 * 3 * 4 * 5 * 2, 1, {.type = kF64, .device = device()})).Reshape({2, 3, 4, 5, 2});
  Tensor each = x;
  for (const int64_t dim : {1, 4, 2, 3}) each = fft::Fft(each, {}, dim);
  const Dims dims = {3, 1, 4, 2};
  EXPECT_LT(Distance(fft::Fftn(x, {}, dims), each), 1e-9);
  EXPECT_LT(Distance(fft::Ifftn(fft::Fftn(x, {}, dims), {}, dims), x), 1e-12);
  Tensor half = fft::Rfft(x, {}, 2);
  for (const int64_t dim : {4, 1, 3}) half = fft::Fft(half, {}, dim);
  EXPECT_LT(Distance(fft::Rfftn(x, {}, dims), half), 1e-9);
  EXPECT_LT(Distance(fft::Irfftn(half, {5, 3, 2, 4}, dims), x), 1e-12);
  // The forward transform of this kind is the conjugate of the inverse one.
  EXPECT_LT(Distance(fft::Ihfftn(x, {}, dims, Norm::kForward), Conj(fft::Rfftn(x, {}, dims))), 1e-9);
  EXPECT_LT(Distance(fft::Hfftn(fft::Ihfftn(x, {}, dims), {5, 3, 2, 4}, dims), x), 1e-12);
}

// The values are those of torch.fft.fftfreq(5, d=0.5), rfftfreq(4) and fftshift.
TEST_F(Fourier, FrequenciesAreCountedFromZero) {
  EXPECT_THAT(fft::Fftfreq(5, 0.5).ToVector<float>(), ElementsAre(0, 0.4f, 0.8f, -0.8f, -0.4f));
  EXPECT_THAT(fft::Fftfreq(4, 1, {.type = kF64, .device = device()}).ToVector<double>(),
              ElementsAre(0, 0.25, -0.5, -0.25));
  EXPECT_THAT(fft::Rfftfreq(4).ToVector<float>(), ElementsAre(0, 0.25f, 0.5f));
  EXPECT_THAT(fft::Rfftfreq(1).ToVector<float>(), ElementsAre(0));
  EXPECT_THAT(fft::Fftshift(fft::Fftfreq(5, 0.2)).ToVector<float>(), ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_THAT(fft::Ifftshift(fft::Fftshift(fft::Fftfreq(5, 0.2))).ToVector<float>(),
              ElementsAre(0, 1, 2, -2, -1));
}

// The gradient of the sum of w y. y is linear in x, so finite differences are exact up to rounding.
TEST_F(Fourier, GradientsAreTheTransposes) {
  const Tensor x = Cos(Arange(0, 24, 1, {.type = kF64, .device = device()})).Reshape({2, 3, 4});
  const auto weighed = [](const Tensor& y) {
    const Tensor weight =
        Cos(Arange(0, y.numel(), 1, {.type = kF64, .device = y.device()})).Reshape(y.dims());
    return hlo::IsComplex(y.dtype()) ? Sum(Real(y) * weight) + Sum(Imag(y) * Square(weight))
                                     : Sum(y * weight);
  };
  const std::vector<std::pair<const char*, std::function<Tensor(const Tensor&)>>> transforms = {
      {"rfft", [](const Tensor& x) { return fft::Rfft(x, 5); }},
      {"rfft, even", [](const Tensor& x) { return fft::Rfft(x, {}, 1, Norm::kOrtho); }},
      {"rfftn", [](const Tensor& x) { return fft::Rfftn(x); }},
      {"irfft, even", [](const Tensor& x) { return fft::Irfft(Complex(x, Square(x))); }},
      {"irfft, odd", [](const Tensor& x) { return fft::Irfft(Complex(x, x), 5, -1, Norm::kForward); }},
      {"irfftn", [](const Tensor& x) { return fft::Irfftn(Complex(x, 2 * x)); }},
      {"hfft", [](const Tensor& x) { return fft::Hfft(Complex(x, -x), 7); }},
      {"ihfft", [](const Tensor& x) { return fft::Ihfft(x); }},
  };
  for (const auto& [name, transform] : transforms) {
    const Tensor gradient = Grad([&](const Tensor& x) { return weighed(transform(x)); })(x);
    for (const int64_t at : {0, 5, 23}) {
      const Tensor step = (Eq(Arange(0, 24, 1, {.device = device()}), at).To(kF64) * 1e-3).Reshape({2, 3, 4});
      const double slope =
          (weighed(transform(x + step)) - weighed(transform(x - step))).Item<double>() / 2e-3;
      EXPECT_NEAR(gradient.Reshape({24})[at].Item<double>(), slope, 1e-7) << name << " " << at;
    }
  }
}

TEST_F(Fourier, ABatchIsTransformedAsOne) {
  const Tensor x = Cos(Arange(0, 12, 1, {.type = kF64, .device = device()})).Reshape({3, 4});
  const auto one = [](const Tensor& x) { return fft::Irfft(fft::Rfft(x) * 2, 5); };
  EXPECT_LT(Distance(Vmap(one)(x), fft::Irfft(fft::Rfft(x) * 2, 5)), 1e-12);
}

// The padding of a short signal is refused by another operation, at the line that called this one.
TEST_F(Fourier, AnInnerRefusalHasTheCallersLine) {
  Throws([&] { Stft(Ones({8}), 20); });
  EXPECT_THAT(last_what_, HasSubstr("fourier_test.cc"));
}

TEST_F(Fourier, WhatHasNoTransformIsRefusedByName) {
  const auto expect = [](const std::function<void()>& body, const std::string& text) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr(text));
    EXPECT_THAT(last_what_, HasSubstr("fourier_test.cc"));
  };
  const Tensor x = Ones({4, 4});
  expect([&] { fft::Fft(x, 0); }, "the signal's size n (0) is not at least 1");
  expect([&] { fft::Fft(x, {}, 2); }, "fft.fft");
  expect([&] { fft::Rfft(Complex(x, x)); }, "not c64");
  expect([&] { fft::Fft(x.To(kBF16)); }, "not bf16");
  expect([&] { fft::Fftn(x, {4}, {0, 1}); }, "differ in number");
  expect([&] { fft::Fftn(x, {}, {0, 0}); }, "fft.fftn");
  expect([&] { fft::Irfft(Ones({1})); }, "the signal's size (0)");
  expect([&] { fft::Rfft(Ones({})); }, "a tensor without dimensions has no dimension -1");
  expect([&] { fft::Fft2(Ones({})); }, "a tensor without dimensions has no dimension -2");
  expect([&] { fft::Fftfreq(0); }, "n (0) is not at least 1");
  EXPECT_EQ(fft::Fft(FromValues<int64_t>({1, 2})).dtype(), kC64);
}

}  // namespace
}  // namespace hlod
