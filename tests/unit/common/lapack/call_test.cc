// LAPACK's calls: small systems worked out by hand, and every way in which a call can fail to fit its
// routine.
#include "common/lapack/call.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "common/lapack/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hlod::lapack {
namespace {

using hlo::Dims;
using hlo::Shape;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

absl::StatusOr<Call> Make(std::string_view target, const std::vector<Shape>& operands,
                          const std::vector<Shape>& results, std::string_view config = "{}") {
  std::vector<const Shape*> in, out;
  for (const Shape& shape : operands) in.push_back(&shape);
  for (const Shape& shape : results) out.push_back(&shape);
  return Call::Make(target, in, out, config);
}
std::string Error(const absl::StatusOr<Call>& call) {
  EXPECT_FALSE(call.ok());
  return call.ok() ? "" : std::string(call.status().message().data(), call.status().message().size());
}

Shape F32(Dims dims) { return Shape::Array(hlo::kF32, std::move(dims)); }
Shape S32(Dims dims) { return Shape::Array(hlo::kS32, std::move(dims)); }

// Runs all problems of a call.
void Solve(const Call& call, const std::vector<const void*>& operands, const std::vector<void*>& results) {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const void* operand : operands) in.push_back(static_cast<const std::byte*>(operand));
  for (void* result : results) out.push_back(static_cast<std::byte*>(result));
  std::vector<std::byte> scratch(call.scratch_bytes() + 64);
  void* aligned = scratch.data();
  size_t room = scratch.size();
  ASSERT_NE(std::align(64, call.scratch_bytes(), aligned, room), nullptr);
  const auto place = call.Place(static_cast<std::byte*>(aligned));
  for (int64_t problem = 0; problem < call.batch(); ++problem)
    call.Run(in.data(), out.data(), problem, *place);
}

TEST(Call, LuPivotsTheLargerRow) {
  const auto call = Make("lapack_sgetrf_ffi", {F32({2, 2, 2})}, {F32({2, 2, 2}), S32({2, 2}), S32({2})});
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->batch(), 2);
  const std::vector<float> a = {1, 2, 3, 4, 0, 0, 0, 0};
  std::vector<float> lu(8);
  std::vector<int32_t> pivots(4), info(2);
  Solve(*call, {a.data()}, {lu.data(), pivots.data(), info.data()});
  EXPECT_THAT(lu, Pointwise(FloatNear(1e-6f), {3.f, 4.f, 1 / 3.f, 2 / 3.f, 0.f, 0.f, 0.f, 0.f}));
  EXPECT_THAT(pivots, ElementsAre(2, 2, 1, 2));
  EXPECT_THAT(info, ElementsAre(0, 1));  // The second matrix has a zero pivot, so its info is 1.
}

using Sides = std::vector<std::pair<int64_t, int64_t>>;

// A matrix of rows by columns, row by row.
struct Matrix {
  int64_t rows, columns;
  std::vector<double> values;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  double& At(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double At(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
};
// Numbers without a pattern; a large diagonal keeps triangles well-conditioned.
Matrix Numbers(int64_t rows, int64_t columns, double diagonal = 0) {
  Matrix m(rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      m.At(r, c) =
          std::sin(static_cast<double>((r + 1) * (c + 2) * (r + 2 * c + 3))) + (r == c ? diagonal : 0);
  }
  return m;
}
Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix product(a.rows, b.columns);
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t k = 0; k < a.columns; ++k) product.At(r, c) += a.At(r, k) * b.At(k, c);
    }
  }
  return product;
}
Matrix Transposed(const Matrix& a) {
  Matrix transposed(a.columns, a.rows);
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < a.columns; ++c) transposed.At(c, r) = a.At(r, c);
  }
  return transposed;
}
// Returns a triangle, with zeros elsewhere, and ones on the diagonal if `unit`.
Matrix Triangle(const Matrix& a, bool lower, bool unit) {
  Matrix triangle(a.rows, a.columns);
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < a.columns; ++c) {
      if (r == c) triangle.At(r, c) = unit ? 1 : a.At(r, c);
      else if ((r > c) == lower) triangle.At(r, c) = a.At(r, c);
    }
  }
  return triangle;
}
void ExpectNear(const Matrix& a, const Matrix& b) {
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-10) << i;
}
Shape F64(Dims dims) { return Shape::Array(hlo::kF64, std::move(dims)); }

// The factors multiply to the matrix: small matrices are factored without the library, larger ones by it.
TEST(Call, FactorsMultiplyToTheMatrix) {
  for (const auto& [rows, columns] : Sides{{1, 1}, {3, 3}, {5, 9}, {16, 7}, {16, 16}, {17, 20}}) {
    const int64_t least = std::min(rows, columns);
    const Matrix a = Numbers(rows, columns);
    Matrix lu(rows, columns);
    std::vector<int32_t> pivots(static_cast<size_t>(least));
    int32_t info = -1;
    const auto call =
        Make("lapack_dgetrf_ffi", {F64({rows, columns})}, {F64({rows, columns}), S32({least}), S32({})});
    ASSERT_TRUE(call.ok()) << call.status();
    Solve(*call, {a.values.data()}, {lu.values.data(), pivots.data(), &info});
    EXPECT_EQ(info, 0);
    Matrix lower(rows, least), upper(least, columns), permuted = a;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        if (r > c) lower.At(r, c) = lu.At(r, c);
        else upper.At(r, c) = lu.At(r, c);
      }
      if (r < least) lower.At(r, r) = 1;
    }
    for (int64_t k = 0; k < least; ++k) {
      EXPECT_LE(std::abs(lower.At(rows - 1, k)), 1);
      for (int64_t c = 0; c < columns; ++c)
        std::swap(permuted.At(k, c), permuted.At(pivots[static_cast<size_t>(k)] - 1, c));
    }
    ExpectNear(Product(lower, upper), permuted);
  }
  for (const int64_t n : {1, 3, 8, 31, 32, 33}) {
    for (const bool lower : {true, false}) {
      const Matrix a = Product(Numbers(n, n, 3), Transposed(Numbers(n, n, 3)));
      Matrix factor(n, n);
      int32_t info = -1;
      const auto call = Make("lapack_dpotrf_ffi", {F64({n, n})}, {F64({n, n}), S32({})},
                             lower ? "{uplo = 76}" : "{uplo = 85}");
      ASSERT_TRUE(call.ok()) << call.status();
      Solve(*call, {a.values.data()}, {factor.values.data(), &info});
      EXPECT_EQ(info, 0);
      const Matrix triangle = Triangle(factor, lower, false);
      ExpectNear(lower ? Product(triangle, Transposed(triangle)) : Product(Transposed(triangle), triangle),
                 a);
      // The other triangle stays.
      ExpectNear(Triangle(factor, !lower, true), Triangle(a, !lower, true));
    }
  }
}

TEST(Call, SolutionsSolveTheEquations) {
  for (const auto& [m, n] : Sides{{1, 1}, {3, 3}, {5, 2}, {2, 7}, {16, 16}, {16, 40}, {17, 3}}) {
    for (int variant = 0; variant < 16; ++variant) {
      const bool left = (variant & 1) != 0, lower = (variant & 2) != 0, transposed = (variant & 4) != 0,
                 unit = (variant & 8) != 0;
      const int64_t side = left ? m : n;
      const Matrix b = Numbers(m, n);
      Matrix a = Numbers(side, side, unit ? 0 : 4), x(m, n);
      if (unit) {
        for (double& value : a.values) value /= 8;
      }
      const std::string config = "{side = " + std::to_string(left ? 'L' : 'R') +
                                 ", uplo = " + std::to_string(lower ? 'L' : 'U') +
                                 ", trans_x = " + std::to_string(transposed ? 'T' : 'N') +
                                 ", diag = " + std::to_string(unit ? 'U' : 'N') + "}";
      const auto call = Make("lapack_dtrsm_ffi", {F64({side, side}), F64({m, n})}, {F64({m, n})}, config);
      ASSERT_TRUE(call.ok()) << call.status();
      Solve(*call, {a.values.data(), b.values.data()}, {x.values.data()});
      const Matrix triangle = Triangle(a, lower, unit), op = transposed ? Transposed(triangle) : triangle;
      ExpectNear(left ? Product(op, x) : Product(x, op), b);
    }
  }
}

// The matrix is upper triangular, so its eigenvalues are the diagonal. A workspace query makes these routines
// write to the matrix.
template <typename R>
void ExpectComplexEigenvalues(const std::string& letter, hlo::PrimitiveType type) {
  using C = std::complex<R>;
  const auto shape = [&](Dims dims) { return Shape::Array(type, std::move(dims)); };
  const std::vector<C> a = {{0, 2}, 1, 0, 3};
  std::vector<C> values(2), left(4), right(4), triangle(4);
  int32_t info = -1, sorted = -1;
  const auto eigen = Make("lapack_" + letter + "geev_ffi", {shape({2, 2})},
                          {shape({2}), shape({2, 2}), shape({2, 2}), S32({})},
                          "{compute_left = 86 : ui8, compute_right = 86 : ui8}");
  ASSERT_TRUE(eigen.ok()) << eigen.status();
  Solve(*eigen, {a.data()}, {values.data(), left.data(), right.data(), &info});
  EXPECT_EQ(info, 0);
  EXPECT_THAT(values, ElementsAre(C(0, 2), C(3, 0)));
  const auto schur = Make("lapack_" + letter + "gees_ffi", {shape({2, 2})},
                          {shape({2, 2}), shape({2, 2}), shape({2}), S32({}), S32({})},
                          "{mode = 86 : ui8, sort = 78 : ui8}");
  ASSERT_TRUE(schur.ok()) << schur.status();
  info = -1;
  Solve(*schur, {a.data()}, {triangle.data(), right.data(), values.data(), &sorted, &info});
  EXPECT_EQ(info, 0);
  EXPECT_THAT(values, ElementsAre(C(0, 2), C(3, 0)));
  EXPECT_EQ(triangle[0], C(0, 2));
}
TEST(Call, ComplexEigenvalues) {
  ExpectComplexEigenvalues<float>("c", hlo::kC64);
  ExpectComplexEigenvalues<double>("z", hlo::kC128);
}

// Matrices are row-major in hlod and column-major in LAPACK; a matrix that is not square shows a confusion.
TEST(Call, SingularValuesOfAWideMatrix) {
  const auto call = Make("lapack_sgesdd_ffi", {F32({2, 3})},
                         {F32({2, 3}), F32({2}), F32({2, 2}), F32({2, 3}), S32({})}, "{mode = 83 : ui8}");
  ASSERT_TRUE(call.ok()) << call.status();
  const std::vector<float> a = {3, 0, 0, 0, 0, 2};
  std::vector<float> rest(6), s(2), u(4), vt(6);
  int32_t info = -1;
  Solve(*call, {a.data()}, {rest.data(), s.data(), u.data(), vt.data(), &info});
  EXPECT_EQ(info, 0);
  EXPECT_THAT(s, Pointwise(FloatNear(1e-6f), {3.f, 2.f}));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const float product = u[2 * i] * s[0] * vt[j] + u[2 * i + 1] * s[1] * vt[3 + j];
      EXPECT_NEAR(product, a[3 * i + j], 1e-6) << i << ' ' << j;
    }
  }
}

TEST(Call, EigenvaluesOfARotationAreAPair) {
  const std::vector<Shape> results = {F32({2}), F32({2}), Shape::Array(hlo::kC64, {2, 2}),
                                      Shape::Array(hlo::kC64, {2, 2}), S32({})};
  const auto call =
      Make("lapack_sgeev_ffi", {F32({2, 2})}, results, "{compute_left = 78 : ui8, compute_right = 86 : ui8}");
  ASSERT_TRUE(call.ok()) << call.status();
  std::vector<float> a = {0, -1, 1, 0}, re(2), im(2);
  std::vector<std::complex<float>> left(4), right(4);
  int32_t info = -1;
  Solve(*call, {a.data()}, {re.data(), im.data(), left.data(), right.data(), &info});
  EXPECT_EQ(info, 0);
  EXPECT_THAT(re, Pointwise(FloatNear(1e-6f), {0.f, 0.f}));
  EXPECT_THAT(im, Pointwise(FloatNear(1e-6f), {1.f, -1.f}));
  for (int j = 0; j < 2; ++j) {  // A v = w v, column by column.
    const std::complex<float> w(re[j], im[j]);
    EXPECT_LT(std::abs(-right[2 + j] - w * right[j]), 1e-6);
    EXPECT_LT(std::abs(right[j] - w * right[2 + j]), 1e-6);
  }
  // An iteration over numbers that are not finite might not end.
  a[0] = std::numeric_limits<float>::quiet_NaN();
  Solve(*call, {a.data()}, {re.data(), im.data(), left.data(), right.data(), &info});
  EXPECT_EQ(info, -4);
}

// Iterations over numbers that are not finite may not end (gesdd and gesvd of such a 40 x 7 matrix do not),
// and the reference LAPACK ends the process for some.
template <typename T>
void ExpectNanOfWhatIsNotFinite(char letter, hlo::PrimitiveType type, T bad) {
  const auto real = hlo::RealType(type), complex = hlo::ComplexType(real);
  const auto shape = [](hlo::PrimitiveType element, Dims dims) {
    return Shape::Array(element, std::move(dims));
  };
  const bool is_complex = type != real;
  const Shape square = shape(type, {9, 9}), tall = shape(type, {40, 7}), line = shape(type, {9});
  const std::vector<Shape> triple = {tall, shape(real, {7}), shape(type, {40, 7}), shape(type, {7, 7}),
                                     S32({})};
  struct Case {
    std::string name, config;
    Shape operand;
    std::vector<Shape> results;
  };
  const Shape vectors = shape(complex, {9, 9});
  const std::vector<Case> cases = {
      {"gesdd", "{mode = 83}", tall, triple},
      {"gesvd", "{mode = 83}", tall, triple},
      {is_complex ? "heevd" : "syevd", "{mode = 86, uplo = 76}", square, {square, shape(real, {9}), S32({})}},
      {"geev", "{compute_left = 86, compute_right = 86}", square,
       is_complex ? std::vector<Shape>{line, vectors, vectors, S32({})}
                  : std::vector<Shape>{line, line, vectors, vectors, S32({})}},
      {"gees", "{mode = 86, sort = 78}", square,
       is_complex ? std::vector<Shape>{square, square, line, S32({}), S32({})}
                  : std::vector<Shape>{square, square, line, line, S32({}), S32({})}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(letter + c.name);
    const auto call = Make("lapack_" + (letter + c.name) + "_ffi", {c.operand}, c.results, c.config);
    ASSERT_TRUE(call.ok()) << call.status();
    hlo::Literal a(c.operand);
    for (size_t i = 0; i < a.data<T>().size(); ++i) a.data<T>()[i] = T(static_cast<float>(i * i % 11));
    a.data<T>()[a.data<T>().size() / 2] = bad;
    std::vector<hlo::Literal> results(c.results.begin(), c.results.end());
    std::vector<void*> out;
    for (hlo::Literal& result : results) out.push_back(result.bytes().data());
    Solve(*call, {a.bytes().data()}, out);
    EXPECT_EQ(results.back().data<int32_t>()[0], -4);
    for (const hlo::Literal& result : results) {
      if (result.shape().type == hlo::kS32) continue;
      const auto all_nan = [&]<typename R>(R) {
        const R* const numbers = reinterpret_cast<const R*>(result.bytes().data());
        return std::all_of(numbers, numbers + result.bytes().size() / sizeof(R),
                           [](R x) { return std::isnan(x); });
      };
      EXPECT_TRUE(real == hlo::kF32 ? all_nan(0.0f) : all_nan(0.0));
    }
  }
}
TEST(Call, EigenvaluesAndSingularValuesOfWhatIsNotFiniteAreNan) {
  const auto expect = [](auto bad) {
    using R = decltype(bad);
    ExpectNanOfWhatIsNotFinite<R>(sizeof(R) == 4 ? 's' : 'd', sizeof(R) == 4 ? hlo::kF32 : hlo::kF64, bad);
    ExpectNanOfWhatIsNotFinite<std::complex<R>>(sizeof(R) == 4 ? 'c' : 'z',
                                                sizeof(R) == 4 ? hlo::kC64 : hlo::kC128, {1, bad});
  };
  expect(std::numeric_limits<float>::quiet_NaN());
  expect(-std::numeric_limits<float>::infinity());
  expect(std::numeric_limits<double>::quiet_NaN());
  expect(std::numeric_limits<double>::infinity());
}

TEST(Call, NoElementsNoRoutine) {
  const auto call = Make("lapack_sgeqrf_ffi", {F32({3, 0, 4})}, {F32({3, 0, 4}), F32({3, 0})});
  ASSERT_TRUE(call.ok()) << call.status();
  const auto none =
      Make("lapack_spotrf_ffi", {F32({0, 2, 2})}, {F32({0, 2, 2}), S32({0})}, "{uplo = 76 : ui8}");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->batch(), 0);
}

TEST(Call, SaysWhatDoesNotFit) {
  const std::string uplo = "{uplo = 76 : ui8}";
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({2, 3})}, {F32({2, 3}), S32({})}, uplo)),
              HasSubstr("operand 0 of lapack_spotrf_ffi is f32[2,3], and f32[...,n,n] is expected"));
  EXPECT_THAT(Error(Make("lapack_dpotrf_ffi", {F32({2, 2})}, {F32({2, 2}), S32({})}, uplo)),
              HasSubstr("f64[...,n,n] is expected"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({5, 2, 2})}, {F32({5, 2, 2}), S32({4})}, uplo)),
              HasSubstr("result 1 of lapack_spotrf_ffi is s32[4], and s32[5] is expected"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({4})}, {F32({4}), S32({})}, uplo)),
              HasSubstr("operand 0 of lapack_spotrf_ffi is f32[4]"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({2, 2})}, {F32({2, 2})}, uplo)),
              HasSubstr("has 1 results, and 2 are expected"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {Shape::Tuple({F32({2, 2})})}, {F32({2, 2}), S32({})}, uplo)),
              HasSubstr("operand 0 of lapack_spotrf_ffi is (f32[2,2])"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({2, 2})}, {F32({2, 2}), S32({})}, "{}")),
              HasSubstr("has no attribute uplo"));
  EXPECT_THAT(Error(Make("lapack_spotrf_ffi", {F32({2, 2})}, {F32({2, 2}), S32({})}, "{uplo = 77 : ui8}")),
              HasSubstr("attribute uplo (77) of lapack_spotrf_ffi is none of the letters LU"));
  EXPECT_THAT(Error(Make("lapack_sgeqrf_ffi", {F32({2, 3})}, {F32({2, 3}), F32({3})})),
              HasSubstr("result 1 of lapack_sgeqrf_ffi is f32[3], and f32[2] is expected"));
  EXPECT_THAT(Error(Make("lapack_sorgqr_ffi", {F32({2, 3}), F32({2})}, {F32({2, 3})})),
              HasSubstr("no more columns than rows"));
  EXPECT_THAT(Error(Make("lapack_sormqr_ffi", {F32({3, 2}), F32({2}), F32({2, 4})}, {F32({2, 4})},
                         "{left = true, transpose = false}")),
              HasSubstr("as many rows of operand 0"));
  EXPECT_THAT(Error(Make("lapack_strsm_ffi", {F32({3, 3}), F32({2, 3})}, {F32({2, 3})},
                         "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}")),
              HasSubstr("lapack_strsm_ffi wants a matrix"));
  EXPECT_THAT(Error(Make("lapack_sgesdd_ffi", {F32({4, 3})},
                         {F32({4, 3}), F32({3}), F32({4, 4}), F32({3, 3}), S32({})}, "{mode = 83 : ui8}")),
              HasSubstr("of sizes that its mode does not give"));
  EXPECT_THAT(Error(Make("lapack_sgehrd_ffi", {F32({4, 4})}, {F32({4, 4}), F32({3}), S32({})},
                         "{high = 5 : i32, low = 1 : i32}")),
              HasSubstr("1 <= low <= high <= n"));
}

TEST(Call, MatricesHaveALimit) {
  const int64_t n = 1 << 15;
  const auto call = Make("lapack_sgetrf_ffi", {F32({n, n})}, {F32({n, n}), S32({n}), S32({})});
  EXPECT_EQ(call.status().code(), absl::StatusCode::kResourceExhausted) << call.status();
}

// 2^80 elements are not counted; an overflow would be seen by ubsan alone.
TEST(Call, NoMatricesOfAnySizeAreTooLarge) {
  constexpr int64_t n = int64_t{1} << 40;
  const auto call = Make("lapack_sgetrf_ffi", {F32({0, n, n})}, {F32({0, n, n}), S32({0, n}), S32({0})});
  EXPECT_EQ(call.status().code(), absl::StatusCode::kResourceExhausted) << call.status();
}

TEST(Call, TargetsOfTheTypesThatExist) {
  EXPECT_TRUE(IsTarget("lapack_sorgqr_ffi"));
  EXPECT_TRUE(IsTarget("lapack_zungqr_ffi"));
  for (const char* target : {"lapack_zorgqr_ffi", "lapack_hpotrf_ffi", "lapack_spotrf", "lapack_ffi",
                             "lapack__ffi", "potrf", ""}) {
    EXPECT_FALSE(IsTarget(target)) << target;
  }
  EXPECT_GT(Targets().size(), 50);
}

TEST(ParseConfig, NumbersAndBooleans) {
  const auto config = ParseConfig(" {left = true, transpose=false , high = 4 : i32, low = -1 : i64}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->at("left"), 1);
  EXPECT_EQ(config->at("transpose"), 0);
  EXPECT_EQ(config->at("high"), 4);
  EXPECT_EQ(config->at("low"), -1);
  EXPECT_TRUE(ParseConfig("")->empty());
  EXPECT_TRUE(ParseConfig("{}")->empty());
  for (const char* text : {"{", "uplo = 1", "{uplo}", "{uplo = L}", "{uplo = 99999999999999999999}"}) {
    EXPECT_FALSE(ParseConfig(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hlod::lapack
