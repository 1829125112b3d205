// Calls that name a LAPACK routine run the routine; without LAPACK, or when they do not fit it, they run
// their callee.
#include "common/passes/expand/use_routines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "common/lapack/library.h"

namespace hlod::passes {
namespace {

using hlo::Literal;
using testing::HasSubstr;
using testing::Not;

// Returns a call of a routine on a 2 x 2 matrix whose callee returns zeros, so that the result shows which
// one ran. `rest` is the text after the call `c`.
std::string CallOf(const std::string& target, const std::string& config, const std::string& results,
                   const std::string& zeros, const std::string& rest) {
  return "HloModule m\nzeros {\n p = f64[2,2] parameter(0)\n" + zeros +
         "}\nENTRY e {\n p = f64[2,2] parameter(0)\n c = " + results +
         " call(p), to_apply=zeros, frontend_attributes={hlod_routine_attributes=\"" + config +
         "\",hlod_routine=\"" + target + "\"}\n" + rest + "}\n";
}
const char kCholesky[] = "lapack_dpotrf_ffi", kLower[] = "{uplo = 76 : ui8}";
const char kZeros[] = R"(
  z = f64[] constant(0)
  a = f64[2,2] broadcast(z), dimensions={}
  i = s32[] constant(0)
  ROOT r = (f64[2,2], s32[]) tuple(a, i)
)";
const char kFactor[] = " ROOT r = f64[2,2] get-tuple-element(c), index=0\n";

std::unique_ptr<hlo::Module> Parsed(const std::string& text) {
  auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return module.ok() ? *std::move(module) : nullptr;
}
std::unique_ptr<hlo::Module> Prepared(const hlo::Module& module) {
  auto prepared = RunPipeline(module);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_TRUE(Verify(**prepared).ok()) << Verify(**prepared);
  return *std::move(prepared);
}

class Routines : public testing::Test {
 protected:
  void SetUp() override {
    if (!lapack::CheckLibrary().ok()) GTEST_SKIP() << lapack::CheckLibrary();
  }
};

// The factor of {{4, 2}, {2, 10}} is {{2, 0}, {1, 3}}; LAPACK leaves the part above its diagonal as it was.
TEST_F(Routines, ACallRunsTheRoutineThatItNames) {
  const auto module = Parsed(CallOf(kCholesky, kLower, "(f64[2,2], s32[])", kZeros, kFactor));
  const Literal x = Literal::Array<double>({2, 2}, {4, 2, 2, 10});
  const Literal factor = Evaluate(*module, {&x}).value();
  EXPECT_EQ(factor.data<double>()[0], 2);
  EXPECT_EQ(factor.data<double>()[2], 1);
  EXPECT_EQ(factor.data<double>()[3], 3);
  const auto prepared = Prepared(*module);
  EXPECT_THAT(ToText(*prepared), HasSubstr("custom_call_target=\"lapack_dpotrf_ffi\""));
  EXPECT_EQ(Evaluate(*prepared, {&x}).value(), factor);
}

TEST_F(Routines, OthersCallWhatTheyCall) {
  const std::string bodies[] = {
      CallOf("lapack_dnothing_ffi", kLower, "(f64[2,2], s32[])", kZeros, kFactor),
      // The element type is another.
      CallOf("lapack_spotrf_ffi", kLower, "(f64[2,2], s32[])", kZeros, kFactor),
      CallOf(kCholesky, "{uplo = 63 : ui8}", "(f64[2,2], s32[])", kZeros, kFactor),
      CallOf("lapack_dgetrf_ffi", "{}", "(f64[2,2], s32[])", kZeros, kFactor),  // The results are others.
  };
  const Literal x = Literal::Array<double>({2, 2}, {4, 2, 2, 10});
  for (const std::string& text : bodies) {
    const auto module = Parsed(text);
    EXPECT_EQ(Evaluate(*module, {&x}).value(), Literal::Array<double>({2, 2}, {0, 0, 0, 0})) << text;
    EXPECT_THAT(ToText(*Prepared(*module)), Not(HasSubstr("custom-call"))) << text;
  }
}

// The eigenvalues of {{2, 1}, {1, 2}} are 1 and 3.
TEST_F(Routines, VectorsThatNobodyNeedsAreNotComputed) {
  const std::string zeros = R"(
    z = f64[] constant(0)
    a = f64[2,2] broadcast(z), dimensions={}
    w = f64[2] broadcast(z), dimensions={}
    i = s32[] constant(0)
    ROOT r = (f64[2,2], f64[2], s32[]) tuple(a, w, i)
  )";
  const auto of = [&](const std::string& rest) {
    return Parsed(CallOf("lapack_dsyevd_ffi", "{mode = 86 : ui8, uplo = 76 : ui8}",
                         "(f64[2,2], f64[2], s32[])", zeros, rest));
  };
  const Literal x = Literal::Array<double>({2, 2}, {2, 1, 1, 2});
  const auto values =
      Prepared(*of(" v = f64[2,2] get-tuple-element(c), index=0\n"
                   " ROOT r = f64[2] get-tuple-element(c), index=1\n"));
  EXPECT_THAT(ToText(*values), HasSubstr("mode = 78"));
  const Literal found = Evaluate(*values, {&x}).value();
  EXPECT_NEAR(found.data<double>()[0], 1, 1e-14);
  EXPECT_NEAR(found.data<double>()[1], 3, 1e-14);
  EXPECT_THAT(ToText(*Prepared(*of(kFactor))), HasSubstr("mode = 86"));
}

}  // namespace
}  // namespace hlod::passes
