// ExpandDynamic: for every size, the static module computes what the evaluator computes on actual sizes;
// opcodes without rules are refused by name.
#include "common/passes/dynamic/expand_dynamic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::passes {
namespace {

using namespace hlo;  // NOLINT: tests are about opcodes and types.
using ::testing::AllOf;
using ::testing::HasSubstr;

// y is the first n elements of x = {3, -1, 4, 1, 5, 9}, w the first n columns of a matrix m with 2 rows of
// six.
constexpr char kHead[] = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
multiply { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] multiply(a, b) }
maximum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) }
greater { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GT }
greater_first { a = f32[] parameter(0)
 b = f32[] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 ROOT c = pred[] compare(a, b), direction=GT }
largest { a = f32[] parameter(0)
 i = s32[] parameter(1)
 b = f32[] parameter(2)
 j = s32[] parameter(3)
 k = pred[] compare(a, b), direction=GE
 c = f32[] select(k, a, b)
 d = s32[] select(k, i, j)
 ROOT t = (f32[], s32[]) tuple(c, d) }
more { s = (f32[<=6], s32[]) parameter(0)
  a = f32[<=6] get-tuple-element(s), index=0
  k = s32[] get-dimension-size(a), dimensions={0}
  one = s32[] constant(1)
  ROOT c = pred[] compare(k, one), direction=GT }
half { s = (f32[<=6], s32[]) parameter(0)
  a = f32[<=6] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  k = s32[] get-dimension-size(a), dimensions={0}
  two = s32[] constant(2)
  h = s32[] divide(k, two)
  d = f32[<=6] add(a, a)
  c = f32[<=6] set-dimension-size(d, h), dimensions={0}
  j = s32[] add(i, k)
  ROOT t = (f32[<=6], s32[]) tuple(c, j) }
negated { a = f32[<=6] parameter(0)
  ROOT c = f32[<=6] negate(a) }
kept { a = f32[<=6] parameter(0)
  ROOT c = f32[<=6] add(a, a) }
ENTRY e {
  x = f32[6] parameter(0)
  m = f32[2,6] parameter(1)
  n = s32[] parameter(2)
  zero = f32[] constant(0)
  seven = f32[] constant(7)
  least = f32[] constant(-inf)
  i0 = s32[] constant(0)
  one = s32[] constant(1)
  two = s32[] constant(2)
  index = s32[6] iota(), iota_dimension=0
  y = f32[<=6] set-dimension-size(x, n), dimensions={0}
  w = f32[2,<=6] set-dimension-size(m, n), dimensions={1}
  picked = s32[<=6] set-dimension-size(index, n), dimensions={0}
)";

// Returns lines that end in a static root: the dynamic value `name`, of one dimension, written over a row of
// sevens.
std::string Stored(const std::string& name, int bound) {
  const std::string shape = "f32[" + std::to_string(bound) + "]";
  return "  fill = " + shape + " broadcast(seven), dimensions={}\n  length = s32[] get-dimension-size(" +
         name + "), dimensions={0}\n  row = " + shape + " dynamic-update-slice(fill, " + name +
         ", i0)\n  ROOT t = (" + shape + ", s32[]) tuple(row, length)\n";
}

struct Program {
  std::string name, lines;
};

std::vector<Program> ReducedAndReshaped() {
  return {
      {"elementwise", "  a = f32[<=6] add(x, y)\n  c = f32[<=6] multiply(a, y)\n" + Stored("c", 6)},
      {"reduce", "  ROOT r = f32[] reduce(y, zero), dimensions={0}, to_apply=add\n"},
      {"reduce_from_seven", "  ROOT r = f32[] reduce(y, seven), dimensions={0}, to_apply=add\n"},
      {"reduce_product", "  ROOT r = f32[] reduce(y, seven), dimensions={0}, to_apply=multiply\n"},
      {"reduce_rows", "  ROOT r = f32[2] reduce(w, least), dimensions={1}, to_apply=maximum\n"},
      {"reduce_columns", "  r = f32[<=6] reduce(w, zero), dimensions={0}, to_apply=add\n" + Stored("r", 6)},
      {"argmax", "  ROOT r = (f32[], s32[]) reduce(y, index, least, i0), dimensions={0}, to_apply=largest\n"},
      {"concatenate", "  c = f32[<=18] concatenate(y, x, y), dimensions={0}\n" + Stored("c", 18)},
      {"concatenate_across",
       "  z = f32[1,<=6] reshape(y)\n  c = f32[3,<=6] concatenate(w, z), dimensions={0}\n"
       "  f = f32[<=18] reshape(c)\n" +
           Stored("f", 18)},
      {"pad", "  c = f32[<=9] pad(y, seven), padding=1_2\n" + Stored("c", 9)},
      {"pad_interior", "  c = f32[<=14] pad(y, zero), padding=1_2_1\n" + Stored("c", 14)},
      {"reverse", "  c = f32[<=6] reverse(y), dimensions={0}\n" + Stored("c", 6)},
      {"flatten", "  c = f32[<=12] reshape(w)\n" + Stored("c", 12)},
      {"flatten_transposed",
       "  s = f32[<=6,2] transpose(w), dimensions={1,0}\n  c = f32[<=12] reshape(s)\n" + Stored("c", 12)},
      {"broadcast",
       "  b = f32[2,<=6] broadcast(y), dimensions={1}\n  c = f32[<=12] reshape(b)\n" + Stored("c", 12)},
      {"split",
       "  k = s32[] multiply(n, two)\n  z = f32[12] reshape(m)\n"
       "  v = f32[<=12] set-dimension-size(z, k), dimensions={0}\n  s = f32[2,<=6] reshape(v)\n"
       "  u = f32[<=6,2] transpose(s), dimensions={1,0}\n  c = f32[<=12] reshape(u)\n" +
           Stored("c", 12)},
      {"dynamic_reshape",
       "  k = s32[] multiply(n, two)\n  c = f32[<=12] dynamic-reshape(w, k)\n" + Stored("c", 12)},
  };
}

std::vector<Program> SlicedAndCombined() {
  return {
      {"slice", "  c = f32[<=4] slice(y), slice={[1:5]}\n" + Stored("c", 4)},
      {"slice_strided", "  c = f32[<=3] slice(y), slice={[0:6:2]}\n" + Stored("c", 3)},
      {"sort", "  c = f32[<=6] sort(y), dimensions={0}, to_apply=greater\n" + Stored("c", 6)},
      {"sort_pairs",
       "  p = (f32[<=6], s32[<=6]) sort(y, index), dimensions={0}, to_apply=greater_first, is_stable=true\n"
       "  i = s32[<=6] get-tuple-element(p), index=1\n  c = f32[<=6] convert(i)\n" +
           Stored("c", 6)},
      {"sort_rows",
       "  s = f32[2,<=6] sort(w), dimensions={0}, to_apply=greater\n  c = f32[<=12] reshape(s)\n" +
           Stored("c", 12)},
      {"dot", "  ROOT c = f32[2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"},
      {"dot_outer",
       "  o = f32[<=6,6] dot(y, x), lhs_contracting_dims={}, rhs_contracting_dims={}\n"
       "  c = f32[<=36] reshape(o)\n" +
           Stored("c", 36)},
      {"gram", "  ROOT c = f32[2,2] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"},
      {"windows", "  c = f32[<=4] reduce-window(y, zero), window={size=3}, to_apply=add\n" + Stored("c", 4)},
      {"windows_strided",
       "  c = f32[<=3] reduce-window(y, least), window={size=3 stride=2 pad=1_0}, to_apply=maximum\n" +
           Stored("c", 3)},
      {"convolution",
       "  v = f32[1,1,6] reshape(x)\n  d = f32[1,1,<=6] set-dimension-size(v, n), dimensions={2}\n"
       "  k = f32[1,1,3] slice(v), slice={[0:1],[0:1],[0:3]}\n"
       "  o = f32[1,1,<=6] convolution(d, k), window={size=3 pad=1_1}, dim_labels=bf0_io0->bf0\n"
       "  c = f32[<=6] reshape(o)\n" +
           Stored("c", 6)},
      {"gather",
       "  g = f32[<=6,2] gather(m, picked), offset_dims={1}, collapsed_slice_dims={1}, start_index_map={1}, "
       "index_vector_dim=1, slice_sizes={2,1}\n  c = f32[<=12] reshape(g)\n" +
           Stored("c", 12)},
      {"scatter",
       "  ROOT c = f32[6] scatter(x, picked, y), update_window_dims={}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n"},
      {"dynamic_update_slice",
       "  p = f32[<=7] pad(y, seven), padding=0_1\n  u = f32[1] slice(x), slice={[0:1]}\n"
       "  c = f32[<=7] dynamic-update-slice(p, u, n)\n" +
           Stored("c", 7)},
      {"dynamic_slice",
       "  p = f32[<=8] pad(y, seven), padding=1_1\n"
       "  ROOT c = f32[2] dynamic-slice(p, n), dynamic_slice_sizes={2}\n"},
      {"loop",
       "  s = (f32[<=6], s32[]) tuple(y, i0)\n  l = (f32[<=6], s32[]) while(s), condition=more, body=half\n"
       "  c = f32[<=6] get-tuple-element(l), index=0\n" +
           Stored("c", 6)},
      {"branches",
       "  q = pred[] compare(n, two), direction=GT\n"
       "  c = f32[<=6] conditional(q, y, y), true_computation=negated, false_computation=kept\n" +
           Stored("c", 6)},
      {"call", "  b = f32[<=6] opt-barrier(y)\n  c = f32[<=6] call(b), to_apply=negated\n" + Stored("c", 6)},
  };
}

std::vector<Program> Programs() {
  std::vector<Program> all = ReducedAndReshaped();
  for (const Program& program : SlicedAndCombined()) all.push_back(program);
  return all;
}

absl::StatusOr<std::unique_ptr<Module>> Parse(const std::string& lines) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(kHead + lines + "}\n");
  if (!module.ok()) return module;
  if (absl::Status verified = Verify(**module); !verified.ok()) return verified;
  return module;
}

absl::StatusOr<Literal> RunWith(const Module& module, int32_t n) {
  const Literal x = Literal::Vector<float>({3, -1, 4, 1, 5, 9}), size = Literal::Scalar(n);
  const Literal m = Literal::Array<float>({2, 6}, {1, 2, 3, 4, 5, 6, -7, 8, -9, 10, -11, 12});
  return Evaluate(module, {&x, &m, &size});
}

class ExpandedDynamic : public ::testing::TestWithParam<Program> {};

TEST_P(ExpandedDynamic, ComputesWhatTheActualSizesDo) {
  const auto module = Parse(GetParam().lines);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(HasDynamicDimensions(**module));
  const auto expanded = ExpandDynamic(**module);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  ASSERT_TRUE(Verify(**expanded).ok()) << Verify(**expanded);
  EXPECT_FALSE(HasDynamicDimensions(**expanded));
  for (int32_t n = 0; n <= 6; ++n) {
    const auto wanted = RunWith(**module, n), result = RunWith(**expanded, n);
    ASSERT_EQ(wanted.ok(), result.ok()) << n << ": " << wanted.status() << " against " << result.status();
    if (!wanted.ok()) continue;
    EXPECT_EQ(*result, *wanted) << "of " << n << ":\n" << ToText(*result) << "\nagainst\n" << ToText(*wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Opcodes, ExpandedDynamic, ::testing::ValuesIn(Programs()),
                         [](const auto& info) { return info.param.name; });

// A result is stored as the existing elements, zeros, and the sizes.
TEST(ExpandDynamic, DynamicResultsAreStoredWithTheirSizes) {
  const auto module = Parse(R"(  t = f32[<=6,2] transpose(w), dimensions={1,0}
  c = s8[2,<=6] convert(w)
  p = (f32[<=6,2], s8[2,<=6]) tuple(t, c)
  ROOT r = (f32[<=6], s32[], (f32[<=6,2], s8[2,<=6])) tuple(y, n, p)
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto expanded = ExpandDynamic(**module);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  ASSERT_TRUE(Verify(**expanded).ok()) << Verify(**expanded);
  EXPECT_FALSE(HasDynamicDimensions(**expanded));
  const std::vector<ShapeLeaf> leaves = Leaves((*module)->entry().root().shape());
  for (int32_t n = 0; n <= 6; ++n) {
    const auto wanted = RunWith(**module, n), result = RunWith(**expanded, n);
    ASSERT_TRUE(wanted.ok() && result.ok()) << wanted.status() << result.status();
    for (const ShapeLeaf& leaf : leaves) {
      const Literal *want = &*wanted, *got = &*result;
      for (const int64_t i : leaf.index) want = &want->elements()[i], got = &got->elements()[i];
      if (!leaf.shape->HasDynamicDimension()) {
        EXPECT_EQ(*got, *want);
        continue;
      }
      const auto read = FromStored(*leaf.shape, got->bytes());
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, *want) << "of " << n << ":\n" << ToText(*read) << "\nagainst\n" << ToText(*want);
    }
  }
  // By hand: two of six columns of s8[2,<=6], ten zeros, the sizes 2 and 2.
  const auto two = RunWith(**expanded, 2);
  ASSERT_TRUE(two.ok()) << two.status();
  const Literal& stored = two->elements()[2].elements()[1];
  EXPECT_THAT(stored.data<uint8_t>(), ::testing::ElementsAre(1, 2, 0xf9, 8, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                                             2, 0, 0, 0, 2, 0, 0, 0));
}

TEST(ExpandDynamic, SizesOutsideTheBoundEndTheRun) {
  const auto module = Parse("  ROOT r = f32[] reduce(y, zero), dimensions={0}, to_apply=add\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto expanded = ExpandDynamic(**module);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  for (const int32_t n : {-1, 7}) {
    EXPECT_THAT(RunWith(**expanded, n).status().message(),
                AllOf(HasSubstr("y sets"), HasSubstr(std::to_string(n)), HasSubstr("[0, 6]")));
  }
}

// The first step does not fit an s32, nor does the sum of the second one and a size.
TEST(ExpandDynamic, ASliceMayHaveAnyStep) {
  for (const std::string step : {"4294967296", "2147483647"}) {
    const auto module = Parse("  c = f32[<=1] slice(y), slice={[0:6:" + step + "]}\n" + Stored("c", 1));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto expanded = ExpandDynamic(**module);
    ASSERT_TRUE(expanded.ok()) << expanded.status();
    for (int32_t n = 0; n <= 6; ++n) {
      const auto result = RunWith(**expanded, n);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->elements()[1], Literal::Scalar<int32_t>(n > 0 ? 1 : 0)) << step << " of " << n;
    }
  }
}

TEST(ExpandDynamic, WhatIsNotKnownIsRefusedByName) {
  struct Case {
    std::string lines, said;
  };
  const Case cases[] = {
      {"  c = c64[<=6] complex(y, y)\n  f = c64[<=6] fft(c), fft_type=FFT, fft_length={6}\n"
       "  ROOT r = s32[] get-dimension-size(f), dimensions={0}\n",
       "Instruction f of computation e: fft"},
      {"  c = f32[<=6] broadcast(zero), dimensions={}\n  ROOT r = s32[] get-dimension-size(c), "
       "dimensions={0}\n",
       "Instruction c of computation e: broadcast"},
  };
  for (const Case& refused : cases) {
    const auto module = Parse(refused.lines);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto expanded = ExpandDynamic(**module);
    EXPECT_EQ(expanded.status().code(), absl::StatusCode::kUnimplemented) << refused.lines;
    EXPECT_THAT(expanded.status().message(), HasSubstr(refused.said));
  }
}

TEST(ExpandDynamic, DynamicParametersAreRefusedByName) {
  const auto module =
      ParseModule("HloModule m\nENTRY e { p = f32[<=3] parameter(0)\n ROOT r = f32[] constant(0) }\n");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(ExpandDynamic(**module).status().message(),
              HasSubstr("Dimension 0 of parameter 0 (p) of m is dynamic (f32[<=3])"));
}

}  // namespace
}  // namespace hlod::passes
