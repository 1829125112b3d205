// LAPACK steps compared with the evaluator's own loops, and custom calls that are refused when a module is
// compiled.
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/hlo/text/text.h"
#include "common/lapack/library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;
using testing::HasSubstr;

// Returns a stack of positive definite matrices, Hermitian when the type is complex. With `with_indefinite`,
// the last one is not positive definite.
template <typename T>
Literal Definite(hlo::PrimitiveType type, int64_t batch, int64_t n, bool with_indefinite) {
  Literal literal(Shape::Array(type, {batch, n, n}));
  T* a = literal.data<T>().data();
  for (int64_t i = 0; i < batch * n * n; ++i) {
    const int64_t row = i / n % n, column = i % n, low = std::min(row, column), high = std::max(row, column);
    a[i] = T(static_cast<float>((low * 7 + high * 3) % 5) / 4);
    if constexpr (!std::is_floating_point_v<T>)
      a[i] += T(0, row == column ? 0 : static_cast<float>((high - low) % 3) * (row > column ? 1 : -1));
    if (row == column) a[i] += T(static_cast<float>(3 * n));
  }
  if (with_indefinite) a[batch * n * n - 1] = T(-1);
  return literal;
}

TEST(Cholesky, BothTrianglesOfEveryType) {
  for (const bool lower : {false, true}) {
    const auto text = [&](const std::string& type) {
      return absl::StrCat("ENTRY e { p = ", type, "[3,5,5] parameter(0)\n ROOT r = ", type,
                          "[3,5,5] cholesky(p), lower=", lower ? "true" : "false", " }");
    };
    const auto expect = [&](const std::string& type, Literal argument, double rtol) {
      StepTestOptions options{.rtol = rtol, .atol = rtol, .arguments = {}, .describe = "cholesky"};
      options.arguments.emplace(0, std::move(argument));
      ExpectStep(text(type), options);
    };
    expect("f32", Definite<float>(hlo::kF32, 3, 5, true), 1e-5);
    expect("f64", Definite<double>(hlo::kF64, 3, 5, true), 1e-13);
    expect("c64", Definite<std::complex<float>>(hlo::kC64, 3, 5, true), 1e-5);
    expect("c128", Definite<std::complex<double>>(hlo::kC128, 3, 5, true), 1e-13);
  }
}

// The number of matrices is too large to factor, or to count in bytes, but none has elements.
TEST(Cholesky, AnyNumberOfEmptyMatricesIsNothingToDo) {
  for (const char* const text :
       {"ENTRY e { p = f32[4611686018427387904,0,0] parameter(0)\n"
        " ROOT r = f32[4611686018427387904,0,0] cholesky(p), lower=true }",
        "ENTRY e { p = f32[4611686018427387904,0,0] parameter(0)\n"
        " q = f32[4611686018427387904,0,3] parameter(1)\n"
        " ROOT r = f32[4611686018427387904,0,3] triangular-solve(p, q), left_side=true, lower=true,"
        " transpose_a=NO_TRANSPOSE, unit_diagonal=true }"}) {
    const auto module = hlo::ParseModule(absl::StrCat("HloModule empty\n", text));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto plan = Compile(**module);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<Literal> arguments;
    for (const hlo::NodeId parameter : (*module)->entry().parameters())
      arguments.emplace_back((*module)->entry()[parameter].shape());
    EXPECT_TRUE(RunPlan(**plan, arguments).ok());
  }
}

TEST(TriangularSolve, EverySideTriangleAndTransposition) {
  for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
    for (const char* side : {"true", "false"}) {
      for (const char* lower : {"true", "false"}) {
        for (const char* unit : {"true", "false"}) {
          const auto expect = [&](const std::string& type, Literal a, double rtol) {
            StepTestOptions options{
                .rtol = rtol, .atol = rtol, .arguments = {}, .describe = "triangular-solve"};
            options.arguments.emplace(0, std::move(a));
            const std::string b = side == std::string("true") ? "[2,4,3]" : "[2,3,4]";
            ExpectStep(absl::StrCat("ENTRY e { a = ", type, "[2,4,4] parameter(0)\n b = ", type, b,
                                    " parameter(1)\n ROOT r = ", type, b,
                                    " triangular-solve(a, b), left_side=", side, ", lower=", lower,
                                    ", unit_diagonal=", unit, ", transpose_a=", transpose, " }"),
                       options);
          };
          expect("f32", Definite<float>(hlo::kF32, 2, 4, false), 1e-4);
          expect("f64", Definite<double>(hlo::kF64, 2, 4, false), 1e-12);
          expect("c128", Definite<std::complex<double>>(hlo::kC128, 2, 4, false), 1e-12);
        }
      }
    }
  }
}

std::string CompileError(const std::string& text) {
  const auto module = hlo::ParseModule("HloModule test\n" + text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const absl::Status status = Compile(**module, {.threads = 1}).status();
  EXPECT_FALSE(status.ok());
  return std::string(status.message().data(), status.message().size());
}

TEST(CustomCall, ThatDoesNotFitItsRoutineIsRefused) {
  EXPECT_THAT(CompileError(R"(ENTRY e { p = f32[2,3] parameter(0)
    ROOT r = (f32[2,3], s32[]) custom-call(p), custom_call_target="lapack_spotrf_ffi",
      backend_config={uplo = 76 : ui8}, api_version=API_VERSION_TYPED_FFI })"),
              testing::AllOf(HasSubstr("f32[...,n,n] is expected"), HasSubstr("instruction r")));
  EXPECT_THAT(CompileError(R"(ENTRY e { p = f32[2,3] parameter(0)
    ROOT r = f32[3,2] custom-call(p), custom_call_target="Sharding" })"),
              HasSubstr("Sharding"));
}
TEST(CustomCall, ThatIsUnknownIsRefusedWithTheNearest) {
  EXPECT_THAT(
      CompileError(R"(ENTRY e { p = f32[2,2] parameter(0)
    ROOT r = f32[2,2] custom-call(p), custom_call_target="lapack_sgetref_ffi" })"),
      testing::AllOf(HasSubstr("\"lapack_sgetref_ffi\" is not known"), HasSubstr("lapack_sgetrf_ffi")));
}

TEST(CustomCall, ThatCutsUpForPartitionsSaysWhatItNeeds) {
  EXPECT_THAT(
      CompileError(R"(ENTRY e { p = f32[2,4] parameter(0)
    ROOT r = f32[1,4] custom-call(p), custom_call_target="SPMDFullToShardShape" })"),
      HasSubstr("this program is compiled for one partition. It runs on a daemon with as many devices"));
}

// LAPACK calls xerbla for an illegal argument: xerbla prints a message and, in the reference LAPACK, ends the
// process.
TEST(Lapack, AnArgumentThatItRefusesEndsNothing) {
  using Getrf = void(const int32_t*, const int32_t*, double*, const int32_t*, int32_t*, int32_t*);
  auto* const getrf = reinterpret_cast<Getrf*>(lapack::FindRoutine("dgetrf_"));
  ASSERT_NE(getrf, nullptr);
  const int32_t rows = -1, columns = 1, stride = 1;
  int32_t pivot = 0, info = 0;
  double a = 1;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  getrf(&rows, &columns, &a, &stride, &pivot, &info);
  EXPECT_EQ(info, -1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// The reflection of a column with a NaN has NaN throughout, and so has what it is applied to. The columns
// before it keep theirs.
template <typename T>
void ExpectQrKeepsNan(const char* routine) {
  using Geqrf = void(const int32_t*, const int32_t*, T*, const int32_t*, T*, T*, const int32_t*, int32_t*);
  auto* const geqrf = reinterpret_cast<Geqrf*>(lapack::FindRoutine(routine));
  ASSERT_NE(geqrf, nullptr);
  constexpr int32_t kRows = 40, kColumns = 33, kWork = 64 * kColumns;
  for (const auto [row, column] : {std::pair{0, 0}, {1, 0}, {39, 1}, {1, 1}, {0, 2}, {20, 20}}) {
    std::vector<T> a(kRows * kColumns), tau(kColumns), work(kWork);
    for (size_t i = 0; i < a.size(); ++i) a[i] = T(static_cast<float>(i * 7919 % 101) / 50 - 1);
    a[static_cast<size_t>(column * kRows + row)] = T(std::numeric_limits<float>::quiet_NaN());
    int32_t info = 0;
    geqrf(&kRows, &kColumns, a.data(), &kRows, tau.data(), work.data(), &kWork, &info);
    for (int32_t c = 0; c < kColumns; ++c) {
      for (int32_t r = 0; r < kRows; ++r) {
        const T value = a[static_cast<size_t>(c * kRows + r)];
        EXPECT_EQ(value != value, c == column || (c > column && r >= column))
            << "NaN at " << row << ", " << column << "; element " << r << ", " << c;
      }
    }
  }
}
TEST(Lapack, QrKeepsNan) {
  ExpectQrKeepsNan<float>("sgeqrf_");
  ExpectQrKeepsNan<double>("dgeqrf_");
  ExpectQrKeepsNan<std::complex<float>>("cgeqrf_");
  ExpectQrKeepsNan<std::complex<double>>("zgeqrf_");
}

}  // namespace
}  // namespace hlod::engine
