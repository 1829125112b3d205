// Calls of JAX's programs for GPUs become arithmetic and LAPACK's calls: results by hand, and Random123's
// known answers.
#include "common/passes/expand/expand_gpu_calls.h"
#include "absl/strings/str_cat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::passes {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

// Returns the results of a module after its calls are replaced.
std::vector<Literal> Results(const std::string& text, const std::vector<Literal>& arguments) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(HasGpuCalls(**module));
  const auto expanded = ExpandGpuCalls(**module);
  EXPECT_TRUE(hlo::Verify(*expanded).ok()) << hlo::Verify(*expanded) << hlo::ToText(*expanded);
  EXPECT_FALSE(HasGpuCalls(*expanded));
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const auto result = Evaluate(*expanded, pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<Literal> leaves;
  for (const Literal* leaf : result->Leaves()) leaves.push_back(*leaf);
  return leaves;
}

template <typename T>
Literal Array(hlo::PrimitiveType type, const hlo::Dims& dims, const std::vector<T>& values) {
  Literal array(Shape::Array(type, dims));
  std::copy(values.begin(), values.end(), array.data<T>().begin());
  return array;
}

// The known answers of threefry2x32 with 20 rounds (Salmon et al., 2011: kat_vectors of Random123).
TEST(ExpandGpuCalls, ThreefryHasItsKnownAnswers) {
  const auto words = [](std::vector<uint32_t> values) { return Array<uint32_t>(hlo::kU32, {3}, values); };
  for (const std::string vendor : {"cu", "hip"}) {
    const std::vector<Literal> results = Results(
        "ENTRY e {\n k0 = u32[3] parameter(0)\n k1 = u32[3] parameter(1)\n x0 = u32[3] parameter(2)\n"
        " x1 = u32[3] parameter(3)\n ROOT r = (u32[3], u32[3]) custom-call(k0, k1, x0, x1), "
        "custom_call_target=\"" +
            vendor + "_threefry2x32_ffi\", api_version=API_VERSION_TYPED_FFI\n}\n",
        {words({0, 0xffffffff, 0x13198a2e}), words({0, 0xffffffff, 0x03707344}),
         words({0, 0xffffffff, 0x243f6a88}), words({0, 0xffffffff, 0x85a308d3})});
    EXPECT_THAT(results[0].data<uint32_t>(), ElementsAre(0x6b200159, 0x1cb996fc, 0xc4923a9c));
    EXPECT_THAT(results[1].data<uint32_t>(), ElementsAre(0x99ba4efe, 0xbb002be7, 0x483df7a0));
  }
}

// 0 1 2 3 becomes 2 1 0 3, then 2 0 1 3; the second problem exchanges nothing, then 1 and 3.
TEST(ExpandGpuCalls, ExchangesBecomeAPermutation) {
  const std::vector<Literal> results = Results(
      "ENTRY e {\n p = s32[2,3] parameter(0)\n ROOT r = s32[2,4] custom-call(p), "
      "custom_call_target=\"cu_lu_pivots_to_permutation\", api_version=API_VERSION_TYPED_FFI\n}\n",
      {Array<int32_t>(hlo::kS32, {2, 3}, {2, 2, 2, 0, 3, 2})});
  EXPECT_THAT(results[0].data<int32_t>(), ElementsAre(2, 0, 1, 3, 0, 3, 2, 1));
}

// [[4, 2], [2, 5]] is L L^T for L = [[2, 0], [1, 2]]. The other triangle of the result is that of the
// operand.
TEST(ExpandGpuCalls, FactorsAreLapacks) {
  const std::vector<Literal> results = Results(
      "ENTRY e {\n a = f32[2,2] parameter(0)\n ROOT r = (f32[2,2], s32[]) custom-call(a), "
      "custom_call_target=\"cusolver_potrf_ffi\", backend_config=\"{lower = true}\", "
      "api_version=API_VERSION_TYPED_FFI\n}\n",
      {Array<float>(hlo::kF32, {2, 2}, {4, 2, 2, 5})});
  EXPECT_THAT(results[0].data<float>(), Pointwise(FloatNear(1e-6f), {2.0f, 2.0f, 1.0f, 2.0f}));
  EXPECT_THAT(results[1].data<int32_t>(), ElementsAre(0));
}

// The matrix [[3, 4]] has the singular value 5, with V = [3, 4] / 5 up to the sign; JAX states that its U and
// V^T are given in the other order for a matrix with more columns than rows, and that gesvdj gives V.
TEST(ExpandGpuCalls, SingularVectorsAreWhereJaxLooksForThem) {
  const Literal a = Array<float>(hlo::kF32, {1, 2}, {3, 4});
  const std::vector<Literal> swapped = Results(
      "ENTRY e {\n a = f32[1,2] parameter(0)\n"
      " ROOT r = (f32[1,2], f32[1], f32[1,2], f32[1,1], s32[]) custom-call(a), "
      "custom_call_target=\"cusolver_gesvd_ffi\", backend_config=\"{compute_uv = true, full_matrices = "
      "false, transposed = true}\", api_version=API_VERSION_TYPED_FFI\n}\n",
      {a});
  const float u = swapped[3].data<float>()[0];
  EXPECT_THAT(swapped[1].data<float>(), Pointwise(FloatNear(1e-5f), {5.0f}));
  EXPECT_THAT(swapped[2].data<float>(), Pointwise(FloatNear(1e-6f), {0.6f * u, 0.8f * u}));
  const std::vector<Literal> jacobi = Results(
      "ENTRY e {\n a = f32[1,2] parameter(0)\n"
      " ROOT r = (f32[1,2], f32[1], f32[1,1], f32[2,1], s32[]) custom-call(a), "
      "custom_call_target=\"cusolver_gesvdj_ffi\", backend_config=\"{compute_uv = true, full_matrices = "
      "false}\", api_version=API_VERSION_TYPED_FFI\n}\n",
      {a});
  const float sign = jacobi[2].data<float>()[0];
  EXPECT_THAT(jacobi[3].data<float>(), Pointwise(FloatNear(1e-6f), {0.6f * sign, 0.8f * sign}));
}

TEST(ExpandGpuCalls, InstructionsHaveTheLineOfTheCall) {
  const auto text = [](const char* operands, const char* result, const char* target) {
    const auto module = hlo::ParseModule(absl::StrCat(
        "ENTRY e {\n a = f32[2,2] parameter(0)\n k = u32[4] parameter(1)\n ROOT r = ", result,
        " custom-call(", operands, "), custom_call_target=\"", target,
        "\", api_version=API_VERSION_TYPED_FFI, metadata={source_file=\"train.py\" source_line=7}\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() ? hlo::ToText(*ExpandGpuCalls(**module)) : "";
  };
  EXPECT_THAT(text("a", "(f32[2,2], f32[2])", "cusolver_geqrf_ffi"),
              ::testing::ContainsRegex("lapack_sgeqrf_ffi.*source_line=7"));
  const std::string rounds = text("k, k, k, k", "(u32[4], u32[4])", "cu_threefry2x32_ffi");
  EXPECT_THAT(rounds, ::testing::ContainsRegex(" or\\(.*source_line=7"));
  EXPECT_THAT(rounds, ::testing::ContainsRegex(" shift-left\\(.*source_line=7"));
}

// JAX factors matrices without rows or columns, too, and a call may have one result in a tuple.
TEST(ExpandGpuCalls, NoExchangesAreTheNumbersThemselves) {
  for (const char* const result : {"s32[3]", "(s32[3])"}) {
    const std::vector<Literal> results =
        Results(std::string("ENTRY e {\n p = s32[0] parameter(0)\n ROOT r = ") + result +
                    " custom-call(p), custom_call_target=\"hip_lu_pivots_to_permutation\", "
                    "api_version=API_VERSION_TYPED_FFI\n}\n",
                {Array<int32_t>(hlo::kS32, {0}, {})});
    EXPECT_THAT(results[0].data<int32_t>(), ElementsAre(0, 1, 2));
  }
}

// Calls with other operands, results or attributes than JAX's stay, and are refused by name.
TEST(ExpandGpuCalls, LeaveOthersAlone) {
  struct Other {
    std::string parameters, result, operands, call;
  };
  const std::string matrix = " a = f32[3,2] parameter(0)\n", lower = "backend_config=\"{lower = true}\"";
  const std::string svd = "backend_config=\"{compute_uv = true, full_matrices = true}\"";
  const std::string words = " a = u32[3] parameter(0)\n b = u32[4] parameter(1)\n";
  for (const Other& other : std::vector<Other>{
           {matrix, "f32[3,2]", "a", "custom_call_target=\"cusolver_unknown_ffi\""},
           {matrix, "f32[3,2]", "a", "custom_call_target=\"cusolver_getrf_ffi\""},
           {matrix, "f32[3,2]", "a", "custom_call_target=\"cu_threefry2x32_ffi\""},
           {matrix, "(f32[3,2], s32[])", "a", "custom_call_target=\"solver_potrf_ffi\", " + lower},
           {matrix, "(f32[3,2], s32[])", "a", "custom_call_target=\"cusolver_potrf_ffi\""},
           {matrix, "(f32[3,2], s32[])", "a",
            "custom_call_target=\"cusolver_potrf_ffi\", backend_config=\"{lower = \\\"yes\\\"}\""},
           {matrix, "(f32[3,2], f32[2], f32[3,3], f32[], s32[])", "a",
            "custom_call_target=\"cusolver_gesvdj_ffi\", " + svd},
           {matrix, "(f32[3,2], f32[2], f32[3,3], f32[4], s32[])", "a",
            "custom_call_target=\"hipsolver_gesvdp_ffi\", " + svd},
           {" a = s32[3] parameter(0)\n", "s32[]", "a", "custom_call_target=\"cu_lu_pivots_to_permutation\""},
           {" a = s32[3] parameter(0)\n", "s32[2]", "a",
            "custom_call_target=\"cu_lu_pivots_to_permutation\""},
           {words, "(u32[3], u32[3])", "a, a, b, a", "custom_call_target=\"cu_threefry2x32_ffi\""},
           {" a = f32[3] parameter(0)\n b = f32[3,1] parameter(1)\n", "f32[3]", "a, a, a, b",
            "custom_call_target=\"cusparse_gtsv2_ffi\""}}) {
    const auto module = hlo::ParseModule("ENTRY e {\n" + other.parameters + " ROOT r = " + other.result +
                                         " custom-call(" + other.operands + "), " + other.call + "\n}\n");
    ASSERT_TRUE(module.ok()) << module.status() << other.call;
    EXPECT_FALSE(HasGpuCalls(**module)) << other.call;
  }
}

}  // namespace
}  // namespace hlod::passes
