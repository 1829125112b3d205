// Shardings propagated through a module; the expected parts are computed by hand.
#include "client/analysis/module/chips/division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "client/analysis/check/module_check.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using testing::HasSubstr;

std::map<std::string, int64_t> PartsIn(const hlo::Module& module, const hlo::Computation& computation,
                                       int64_t chips = 4) {
  const Divisions divisions(module, chips);
  std::map<std::string, int64_t> parts;
  for (hlo::NodeId node = 0; node < computation.size(); ++node)
    parts[std::string(computation[node].name())] = divisions.PartsOf(computation, node, 0);
  return parts;
}

constexpr char kOperations[] = R"(HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[16,32] parameter(1)
  b = f32[32] parameter(2)
  y = f32[8,32] parameter(3), sharding={devices=[1,4]<=[4]}
  z = f32[] constant(0)
  zeros = f32[8,32] broadcast(z), dimensions={}
  h = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bias = f32[8,32] broadcast(b), dimensions={1}
  s = f32[8,32] add(h, bias)
  positive = f32[8,32] maximum(s, zeros)
  clash = f32[8,32] add(s, y)
  said = f32[8,32] negate(clash), sharding={devices=[2,1]<=[2]}
  turned = f32[32,8] transpose(s), dimensions={1,0}
  split = f32[4,2,32] reshape(s)
  uneven = f32[2,4,32] reshape(s)
  merged = f32[256] reshape(s)
  over_rows = f32[32] reduce(s, z), dimensions={0}, to_apply=sum
  over_columns = f32[8] reduce(s, z), dimensions={1}, to_apply=sum
  contracted = f32[16,32] dot(x, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  columns = f32[8,16] slice(s), slice={[0:8], [0:16]}
  rows = f32[4,32] slice(s), slice={[0:4], [0:32]}
  joined = f32[8,64] concatenate(s, h), dimensions={1}
  spread = f32[8,8] broadcast(over_columns), dimensions={0}
  ROOT sorted = f32[8,32] sort(s), dimensions={1}, to_apply=less
})";

// Gathers rows of a table by divided indices: each chip picks its own rows, in any order of the dimensions.
TEST(Divisions, OfAGatherAreThoseOfItsIndices) {
  const auto module = hlo::ParseModule(R"(HloModule m
ENTRY e {
  table = f32[100,16] parameter(0), sharding={devices=[4,1]<=[4]}
  i = s32[8,6] parameter(1), sharding={devices=[4,1]<=[4]}
  j = s32[1,8] parameter(2), sharding={devices=[1,2]<=[2]}
  k = s32[8] parameter(3)
  rows = f32[8,6,16] gather(table, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,16}
  columns = f32[16,8] gather(table, j), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,16}
  whole = f32[8,16] gather(table, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}
  w = f32[16,2] parameter(4)
  product = f32[8,6,2] dot(rows, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  ROOT t = (f32[8,6,2], f32[16,8], f32[8,16]) tuple(product, columns, whole)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  std::map<std::string, int64_t> parts = PartsIn(**module, (*module)->entry());
  EXPECT_EQ(parts["rows"], 4);
  EXPECT_EQ(parts["product"], 4);
  EXPECT_EQ(parts["columns"], 2);
  EXPECT_EQ(parts["whole"], 1);
}

TEST(Divisions, AreCarriedThroughWhatLeavesNoChoice) {
  std::string text = kOperations;
  text.insert(text.find("ENTRY"),
              "less { l = f32[] parameter(0)\n  r = f32[] parameter(1)\n"
              "  ROOT lt = pred[] compare(l, r), direction=LT\n}\n");
  const auto module = hlo::ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::map<std::string, int64_t> parts = PartsIn(**module, (*module)->entry());
  const std::map<std::string, int64_t> wanted = {{"x", 4},          {"w", 1},         {"b", 1},
                                                 {"y", 4},          {"z", 1},         {"zeros", 1},
                                                 {"h", 4},          {"bias", 1},      {"s", 4},
                                                 {"positive", 4},   {"clash", 1},     {"said", 2},
                                                 {"turned", 4},     {"split", 4},     {"uneven", 1},
                                                 {"merged", 4},     {"over_rows", 1}, {"over_columns", 4},
                                                 {"contracted", 1}, {"columns", 4},   {"rows", 1},
                                                 {"joined", 4},     {"spread", 4},    {"sorted", 1}};
  EXPECT_EQ(parts, wanted);
  EXPECT_EQ(PartsIn(**module, (*module)->entry(), /*chips=*/2).at("s"), 2) << "one part a chip";
}

// A stack of zeros is divided when the slice that each iteration adds is.
TEST(Divisions, OfALoopAreThoseOfAllItsTurns) {
  const auto loop = [](const std::string& next) {
    return R"(HloModule m
body {
  p = (s32[], f32[8,8], f32[3,8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8,8] get-tuple-element(p), index=1
  stack = f32[3,8,8] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  y = f32[8,8] )" +
           next + R"(
  row = f32[1,8,8] reshape(y)
  longer = f32[3,8,8] dynamic-update-slice(stack, row, i, zero, zero)
  ROOT t = (s32[], f32[8,8], f32[3,8,8]) tuple(j, y, longer)
}
condition {
  p = (s32[], f32[8,8], f32[3,8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT go = pred[] compare(i, three), direction=LT
}
ENTRY e {
  x = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = s32[] constant(0)
  zerof = f32[] constant(0)
  zeros = f32[3,8,8] broadcast(zerof), dimensions={}
  state = (s32[], f32[8,8], f32[3,8,8]) tuple(zero, x, zeros)
  w = (s32[], f32[8,8], f32[3,8,8]) while(state), condition=condition, body=body
  carry = f32[8,8] get-tuple-element(w), index=1
  ROOT all = f32[3,8,8] get-tuple-element(w), index=2
})";
  };
  const auto same = hlo::ParseModule(loop("tanh(x)"));
  ASSERT_TRUE(same.ok()) << same.status();
  std::map<std::string, int64_t> parts = PartsIn(**same, (*same)->entry());
  EXPECT_EQ(parts["carry"], 4);
  EXPECT_EQ(parts["all"], 4);
  const hlo::Instruction loop_of = (*same)->entry()[(*same)->entry().root().operands()[0]];
  parts = PartsIn(**same, (*same)->computation(loop_of.called()[0]));
  EXPECT_EQ(parts["y"], 4);
  EXPECT_EQ(parts["row"], 4);
  // Each iteration exchanges rows and columns, so no sharding holds in all of them.
  const auto turning = hlo::ParseModule(loop("transpose(x), dimensions={1,0}"));
  ASSERT_TRUE(turning.ok()) << turning.status();
  parts = PartsIn(**turning, (*turning)->entry());
  EXPECT_EQ(parts["carry"], 1);
}

// Nested loops, in each of which a stack takes two iterations of the analysis to settle.
TEST(Divisions, OfLoopsWithinLoopsAreGivenUpWhenTheyTakeTooLong) {
  const auto nested = [](int depth) {
    const std::string state = "(f32[8,8], f32[8,8])";
    std::string text =
        "HloModule m\ncondition {\n  p = " + state + " parameter(0)\n  ROOT go = pred[] constant(false)\n}\n";
    for (int level = 0; level < depth; ++level) {
      const std::string n = std::to_string(level);
      text += "body" + n + " {\n  p = " + state + " parameter(0)\n";
      if (level > 0) {
        text += "  w = " + state + " while(p), condition=condition, body=body" + std::to_string(level - 1) +
                "\n  x = f32[8,8] get-tuple-element(w), index=0\n";
      } else {
        text += "  x = f32[8,8] get-tuple-element(p), index=0\n";
      }
      text += "  y = f32[8,8] tanh(x)\n  ROOT t = " + state + " tuple(y, y)\n}\n";
    }
    return text + "ENTRY e {\n  x = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}\n" +
           "  z = f32[] constant(0)\n  zeros = f32[8,8] broadcast(z), dimensions={}\n  s = " + state +
           " tuple(x, zeros)\n  w = " + state + " while(s), condition=condition, body=body" +
           std::to_string(depth - 1) + "\n  ROOT r = f32[8,8] get-tuple-element(w), index=1\n}\n";
  };
  const auto few = hlo::ParseModule(nested(3));
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ(PartsIn(**few, (*few)->entry())["r"], 4);
  const auto many = hlo::ParseModule(nested(200));
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_EQ(PartsIn(**many, (*many)->entry())["r"], 1);
}

// The arrays have 4 MiB: x is in quarters, two weights are whole; x w and the result are in quarters, like x.
TEST(Divisions, AreAnEstimateWithinTheBracket) {
  const auto module = hlo::ParseModule(R"(HloModule m
ENTRY e {
  x = f32[1024,1024] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[1024,1024] parameter(1)
  v = f32[1024,1024] parameter(2)
  h = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[1024,1024] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const Chip chip = KnownChips("").value().front();
  constexpr double kArray = 4 << 20;
  const ModuleReport report = CheckModule(**module, Target{chip, 4}, {}).value();
  EXPECT_EQ(report.likely_bytes.high, kArray / 4 + 2 * kArray + kArray / 4 + kArray / 4);
  EXPECT_EQ(report.likely_bytes.low, report.likely_bytes.high);
  EXPECT_EQ(report.peak_bytes.high, kArray / 4 + 2 * kArray + 2 * kArray);
  EXPECT_GE(report.likely_bytes.low, report.peak_bytes.low);
  EXPECT_THAT(ToText(report),
              HasSubstr("11.00 MiB where shardings are carried through what leaves no choice (an "
                        "estimate: a partitioner may choose otherwise)"));
  EXPECT_EQ(CheckModule(**module, Target{chip, 1}, {})->likely_bytes.high, 0);
}

}  // namespace
}  // namespace hlod::analysis
