// SplitScatters: which scatters become slices and updates.
#include "common/passes/simplify/split_scatters.h"

#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

std::unique_ptr<hlo::Module> SplitAndClean(const hlo::Module& module) {
  return RemoveDead(*Simplify(*SplitScatters(module)));
}

// A loop whose body computes `r` from a table x and indices n.
std::string Loop(const std::string& table, const std::string& indices, const std::string& body) {
  const std::string state = "(s32[], " + table + ", " + indices + ")";
  return "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
         "g {\n a = f32[] parameter(0)\n ROOT b = f32[] parameter(1)\n}\nbody {\n p = " +
         state + " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = " + table +
         " get-tuple-element(p), index=1\n n = " + indices + " get-tuple-element(p), index=2\n" + body +
         " one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT t = " + state +
         " tuple(j, r, n)\n}\ncondition {\n q = " + state +
         " parameter(0)\n k = s32[] get-tuple-element(q), index=0\n ten = s32[] constant(10)\n ROOT l = "
         "pred[] compare(k, ten), direction=LT\n}\nENTRY e {\n z = " +
         state + " parameter(0)\n ROOT w = " + state + " while(z), condition=condition, body=body\n}\n";
}

TEST(SplitScatters, APointInALoop) {
  const std::string update = " u = f32[] constant(3)\n";
  const std::string after = Loop(
      "f32[5,4]", "s32[2]",
      update +
          " n0 = s32[1] slice(n), slice={[0:1]}\n a = s32[] reshape(n0)\n"
          " n1 = s32[1] slice(n), slice={[1:2]}\n b = s32[] reshape(n1)\n"
          " s = f32[1,1] dynamic-slice(x, a, b), dynamic_slice_sizes={1,1}\n"
          " v = f32[1,1] reshape(u)\n m = f32[1,1] add(s, v)\n"
          " l0 = s32[] constant(0)\n a0 = pred[] compare(a, l0), direction=GE\n"
          " h0 = s32[] constant(4)\n a1 = pred[] compare(a, h0), direction=LE\n"
          " a2 = pred[] and(a0, a1)\n"
          " l1 = s32[] constant(0)\n b0 = pred[] compare(b, l1), direction=GE\n a3 = pred[] and(a2, b0)\n"
          " h1 = s32[] constant(3)\n b1 = pred[] compare(b, h1), direction=LE\n a4 = pred[] and(a3, b1)\n"
          " k = pred[1,1] broadcast(a4), dimensions={}\n o = f32[1,1] select(k, m, s)\n"
          " r = f32[5,4] dynamic-update-slice(x, o, a, b)\n");
  const auto made = SplitAndClean(*Parsed(
      Loop("f32[5,4]", "s32[2]",
           update + " r = f32[5,4] scatter(x, n, u), update_window_dims={}, inserted_window_dims={0,1}, "
                    "scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=f\n")));
  EXPECT_TRUE(hlo::Verify(*made).ok()) << hlo::Verify(*made);
  const std::string text = Nameless(*made);
  for (const char* const part : {"dynamic-slice(", "add(", "select(", "dynamic-update-slice("})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  EXPECT_EQ(text.find("scatter("), std::string::npos) << text;
  // The same instructions, whose order is not the rule.
  EXPECT_EQ(made->instruction_count(), SplitAndClean(*Parsed(after))->instruction_count()) << text;
}

// Assignments are copies already; columns are not neighbours; several windows, long ones, and scatters
// outside of loops are combined by one call.
TEST(SplitScatters, OthersStay) {
  const std::string
      one = " u = f32[] constant(3)\n",
      point =
          "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0";
  const std::vector<std::string> texts = {
      Loop("f32[5,4]", "s32[2]", one + " r = f32[5,4] scatter(x, n, u), " + point + ", to_apply=g\n"),
      Loop(
          "f32[5,4]", "s32[1]",
          one +
              " v = f32[5] broadcast(u), dimensions={}\n r = f32[5,4] scatter(x, n, v), update_window_dims={0}, "
              "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=0, to_apply=f\n"),
      Loop("f32[5,4]", "s32[2]",
           one + " v = f32[2,4] broadcast(u), dimensions={}\n r = f32[5,4] scatter(x, n, v), "
                 "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                 "index_vector_dim=1, to_apply=f\n"),
      Loop("f32[5,200]", "s32[1]",
           one + " v = f32[200] broadcast(u), dimensions={}\n r = f32[5,200] scatter(x, n, v), "
                 "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                 "index_vector_dim=0, to_apply=f\n"),
      "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\nENTRY e {\n"
      " x = f32[5,4] parameter(0)\n n = s32[2] parameter(1)\n" +
          one + " ROOT r = f32[5,4] scatter(x, n, u), " + point + ", to_apply=f\n}\n"};
  for (const std::string& text : texts)
    EXPECT_NE(Nameless(*SplitAndClean(*Parsed(text))).find("scatter("), std::string::npos) << text;
}

// Returns a loop with `count` scatters, one after the other.
std::string LoopOfScatters(int count, const std::string& combiner) {
  std::string body = " u = f32[] constant(3)\n x0 = f32[5,4] copy(x)\n";
  for (int i = 0; i < count; ++i) {
    const std::string last = i + 1 == count ? "r" : "x" + std::to_string(i + 1);
    body += " " + last + " = f32[5,4] scatter(x" + std::to_string(i) +
            ", n, u), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, "
            "index_vector_dim=0, to_apply=" +
            combiner + "\n";
  }
  return Loop("f32[5,4]", "s32[2]", body);
}

// A loop with more of them is not machine code as a whole: each piece of a scatter would be a call.
TEST(SplitScatters, ManyStay) {
  const auto scatters = [](const std::string& text) {
    const std::string split = Nameless(*SplitAndClean(*Parsed(text)));
    int count = 0;
    for (size_t at = 0; (at = split.find("scatter(", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(scatters(LoopOfScatters(48, "f")), 0);
  EXPECT_EQ(scatters(LoopOfScatters(49, "f")), 49);
  std::string combiner = "long {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c0 = f32[] add(a, b)\n";
  for (int i = 0; i < 20; ++i)
    combiner += " c" + std::to_string(i + 1) + " = f32[] multiply(c" + std::to_string(i) + ", b)\n";
  EXPECT_EQ(scatters(combiner + " ROOT c = f32[] negate(c20)\n}\n" + LoopOfScatters(1, "long")), 1);
}

}  // namespace
}  // namespace hlod::passes
