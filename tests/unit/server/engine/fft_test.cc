// fft: every kind, many factors, long and short lines, inner dimensions; compared with the evaluator, which
// sums by the definition, and with the known transforms of impulses.
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/hlo/literal.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::PrimitiveType;
using hlo::Shape;

bool IsDouble(const std::string& type) { return type == "f64" || type == "c128"; }
PrimitiveType TypeOf(const std::string& name) {
  return name == "f32" ? hlo::kF32 : name == "f64" ? hlo::kF64 : name == "c64" ? hlo::kC64 : hlo::kC128;
}

// Fills a literal with numbers in [-1, 1], imaginary parts included.
template <typename T>
void FillNumbers(Literal& literal) {
  std::minstd_rand random(static_cast<uint32_t>(literal.bytes().size()) + 1);
  std::uniform_real_distribution<T> distribution(-1, 1);
  T* const numbers = reinterpret_cast<T*>(literal.bytes().data());
  for (size_t i = 0; i < literal.bytes().size() / sizeof(T); ++i) numbers[i] = distribution(random);
}

std::string Text(const std::string& from, const std::vector<int64_t>& from_dims, const std::string& to,
                 const std::vector<int64_t>& to_dims, const std::string& kind,
                 const std::vector<int64_t>& length) {
  return absl::StrCat("ENTRY e { p = ", from, "[", absl::StrJoin(from_dims, ","),
                      "] parameter(0)\n ROOT r = ", to, "[", absl::StrJoin(to_dims, ","),
                      "] fft(p), fft_type=", kind, ", fft_length={", absl::StrJoin(length, ","), "} }");
}

// Expects the evaluator's transform of the innermost `rank` dimensions of an array. `dims` are the sizes of
// the real side if there is one.
void ExpectTransform(const std::string& kind, bool wide, const std::vector<int64_t>& dims, size_t rank) {
  const std::string complex = wide ? "c128" : "c64", real = wide ? "f64" : "f32";
  std::vector<int64_t> half = dims;
  half.back() = half.back() / 2 + 1;
  const bool from_real = kind == "RFFT", to_real = kind == "IRFFT";
  const std::vector<int64_t> length(dims.end() - static_cast<int64_t>(rank), dims.end());
  const std::string from = from_real ? real : complex, to = to_real ? real : complex;
  const std::string text = Text(from, to_real ? half : dims, to, from_real ? half : dims, kind, length);
  Literal argument(Shape::Array(TypeOf(from), to_real ? half : dims));
  IsDouble(from) ? FillNumbers<double>(argument) : FillNumbers<float>(argument);
  double elements = 1;
  for (const int64_t n : length) elements *= static_cast<double>(n);
  // Errors of both sides grow like the results: with the square root of the number n of terms; an inverse
  // transform is also divided by n.
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  const double scale = inverse ? 1 / std::sqrt(elements) : std::sqrt(elements);
  StepTestOptions options{.atol = (wide ? 1e-13 : 4e-6) * scale, .arguments = {}, .describe = "fft"};
  options.arguments.emplace(0, std::move(argument));
  SCOPED_TRACE(text);
  ExpectStep(text, options);
}

TEST(Fft, EveryKindAtLengthsOfAllSorts) {
  // One, small radices and their products, primes with passes of their own, primes that become convolutions,
  // long lines, and real lines around a block of 64 pairs.
  for (const int64_t n : {1,  2,  3,  4,  5,  6,   7,   8,   9,   11,  15,  16,  30,
                          43, 47, 64, 94, 97, 120, 256, 257, 258, 262, 360, 509, 1000}) {
    for (const char* kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
      for (const bool wide : {false, true}) {
        ExpectTransform(kind, wide, {n}, 1);
        if (n <= 256) ExpectTransform(kind, wide, {n <= 64 ? 11 : 3, n}, 1);
      }
    }
  }
}
TEST(Fft, SeveralDimensions) {
  for (const char* kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    for (const bool wide : {false, true}) {
      ExpectTransform(kind, wide, {4, 6}, 2);
      ExpectTransform(kind, wide, {3, 5, 7}, 2);
      ExpectTransform(kind, wide, {2, 9, 4, 10}, 3);
      ExpectTransform(kind, wide, {2, 3, 47, 12}, 3);
      ExpectTransform(kind, wide, {1, 1, 2}, 3);
      ExpectTransform(kind, wide, {300, 12}, 2);  // There are enough columns for tiles.
      ExpectTransform(kind, wide, {288, 2}, 2);   // There are too few columns for tiles.
    }
  }
}
TEST(Fft, NothingToTransform) {
  for (const char* kind : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
    ExpectTransform(kind, false, {0, 8}, 1);
    ExpectTransform(kind, false, {0, 3}, 2);
  }
}

// Transforms impulses at several places: X[k] is the sum of their roots of unity.
template <typename T>
void ExpectImpulses(int64_t n, const std::string& type, double tolerance, int threads) {
  SCOPED_TRACE(absl::StrCat(type, "[", n, "]"));
  const std::vector<int64_t> places = {1, n / 3, n - 1};
  Literal argument(Shape::Array(TypeOf(type), {n}));
  for (size_t i = 0; i < places.size(); ++i) {
    argument.data<std::complex<T>>()[places[i]] = {static_cast<T>(i + 1), static_cast<T>(0.5)};
  }
  const std::vector<Literal> results =
      RunStepText(Text(type, {n}, type, {n}, "FFT", {n}), {std::move(argument)}, threads);
  ASSERT_EQ(results.size(), 1);
  double worst = 0;
  for (int64_t k = 0; k < n; ++k) {
    std::complex<double> expected = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      const auto turns =
          static_cast<double>(static_cast<__int128>(places[i]) * k % n) / static_cast<double>(n);
      expected += std::complex<double>(static_cast<double>(i + 1), 0.5) *
                  std::polar(1.0, -2 * std::numbers::pi * turns);
    }
    worst = std::max(worst, std::abs(expected - std::complex<double>(results[0].data<std::complex<T>>()[k])));
  }
  EXPECT_LT(worst, tolerance);
}
TEST(Fft, LongLines) {
  // Powers of two and of ten, a prime, twice a prime, and a product of two medium primes.
  for (const int64_t n : {16384, 65536, 100'000, 65537, 131'074, 1'018'081, 1'048'576}) {
    ExpectImpulses<float>(n, "c64", 1e-5, n < 100'000 ? 3 : 1);
    ExpectImpulses<double>(n, "c128", 1e-13, 1);
  }
}

// A line that is not finite does not affect its neighbours, which share its tile.
TEST(Fft, LinesDoNotTouchEachOther) {
  Literal argument(Shape::Array(hlo::kC64, {5, 12}));
  FillNumbers<float>(argument);
  Literal clean = argument;
  for (int64_t k = 0; k < 12; ++k) argument.data<std::complex<float>>()[2 * 12 + k] = std::nanf("");
  const std::string text = Text("c64", {5, 12}, "c64", {5, 12}, "FFT", {12});
  const auto got = RunStepText(text, {std::move(argument)}), expected = RunStepText(text, {std::move(clean)});
  ASSERT_EQ(got.size(), 1);
  for (int64_t i = 0; i < 60; ++i) {
    const std::complex<float> x = got[0].data<std::complex<float>>()[i];
    if (i / 12 == 2) {
      EXPECT_TRUE(std::isnan(x.real())) << i;
    } else {
      EXPECT_EQ(x, expected[0].data<std::complex<float>>()[i]) << i;
    }
  }
}

}  // namespace
}  // namespace hlod::engine
