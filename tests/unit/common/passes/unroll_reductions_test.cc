// UnrollReductions: which reductions become operations on slices.
#include "common/passes/simplify/unroll_reductions.h"

#include "common/hlo/builder.h"
#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

std::unique_ptr<hlo::Module> UnrollAndClean(const hlo::Module& module) {
  return RemoveDead(*Simplify(*UnrollReductions(module)));
}

// A loop whose body computes `r` from x.
std::string Loop(const std::string& type, const std::string& body) {
  return "add {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT c = " + type +
         "[] add(a, b)\n}\nbody {\n p = (s32[], " + type + "[2,2], " + type +
         "[2]) parameter(0)\n i = s32[] " + "get-tuple-element(p), index=0\n x = " + type +
         "[2,2] get-tuple-element(p), index=1\n y = " + type + "[] constant(3)\n" + body +
         " one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT t = (s32[], " + type + "[2,2], " + type +
         "[2]) tuple(j, x, r)\n}\ncondition {\n q = (s32[], " + type + "[2,2], " + type +
         "[2]) parameter(0)\n k = s32[] get-tuple-element(q), index=0\n ten = s32[] constant(10)\n ROOT l = " +
         "pred[] compare(k, ten), direction=LT\n}\nENTRY e {\n z = (s32[], " + type + "[2,2], " + type +
         "[2]) parameter(0)\n ROOT w = (s32[], " + type + "[2,2], " + type +
         "[2]) while(z), condition=condition, body=body\n}\n";
}

TEST(UnrollReductions, ASumInALoop) {
  const char* const slices[] = {"[0:1], [0:1]", "[0:1], [1:2]", "[1:2], [0:1]", "[1:2], [1:2]"};
  std::string unrolled;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i), before = i == 0 ? "y" : "s" + std::to_string(i);
    unrolled += " e" + n + " = f32[1,1] slice(x), slice={" + slices[i] + "}\n v" + n + " = f32[] reshape(e" +
                n + ")\n s" + std::to_string(i + 1) + " = f32[] add(" + before + ", v" + n + ")\n";
  }
  const std::string after = Loop("f32", unrolled + " r = f32[2] broadcast(s4), dimensions={}\n");
  // The sum's reducer has no caller any more.
  ExpectGolden(&UnrollAndClean,
               Loop("f32",
                    " s = f32[] reduce(x, y), dimensions={0,1}, to_apply=add\n"
                    " r = f32[2] broadcast(s), dimensions={}\n"),
               after.substr(after.find("body {")));
}

TEST(UnrollReductions, SeveralResultsOfAGivenArray) {
  const std::string after = Loop("f32",
                                 " b = f32[2] broadcast(y), dimensions={}\n"
                                 " e0 = f32[1,2] slice(x), slice={[0:1], [0:2]}\n v0 = f32[2] reshape(e0)\n"
                                 " s = f32[2] add(b, v0)\n"
                                 " e1 = f32[1,2] slice(x), slice={[1:2], [0:2]}\n v1 = f32[2] reshape(e1)\n"
                                 " r = f32[2] add(s, v1)\n");
  ExpectGolden(&UnrollAndClean, Loop("f32", " r = f32[2] reduce(x, y), dimensions={0}, to_apply=add\n"),
               after.substr(after.find("body {")));
}

// Inputs are computed slice by slice; a slice of a broadcast is the broadcast of a slice.
TEST(UnrollReductions, CheapOperandsAreSliced) {
  const std::string d = " d = f32[2] get-tuple-element(p), index=2\n";
  const std::string after = Loop("f32", d + " b = f32[2] broadcast(y), dimensions={}\n"
                                            " d0 = f32[1] slice(d), slice={[0:1]}\n"
                                            " c0 = f32[1,2] broadcast(d0), dimensions={0}\n"
                                            " e0 = f32[1,2] slice(x), slice={[0:1], [0:2]}\n"
                                            " m0 = f32[1,2] multiply(c0, e0)\n v0 = f32[2] reshape(m0)\n"
                                            " s = f32[2] add(b, v0)\n"
                                            " d1 = f32[1] slice(d), slice={[1:2]}\n"
                                            " c1 = f32[1,2] broadcast(d1), dimensions={0}\n"
                                            " e1 = f32[1,2] slice(x), slice={[1:2], [0:2]}\n"
                                            " m1 = f32[1,2] multiply(c1, e1)\n v1 = f32[2] reshape(m1)\n"
                                            " r = f32[2] add(s, v1)\n");
  ExpectGolden(&UnrollAndClean,
               Loop("f32", d + " c = f32[2,2] broadcast(d), dimensions={0}\n m = f32[2,2] multiply(c, x)\n"
                               " r = f32[2] reduce(m, y), dimensions={0}, to_apply=add\n"),
               after.substr(after.find("body {")));
}

// Chains below broadcasts, which may be as long as a program, are sliced only so far down.
TEST(UnrollReductions, ALongChainBelowABroadcastIsSlicedAtItsEnd) {
  constexpr int kChain = 50'000;
  std::string body = " d0 = f32[2] get-tuple-element(p), index=2\n";
  for (int i = 1; i <= kChain; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    body += " d" + n + " = f32[2] add(d" + before + ", d" + before + ")\n";
  }
  body += " c = f32[2,2] broadcast(d" + std::to_string(kChain) +
          "), dimensions={0}\n m = f32[2,2] multiply(c, x)\n"
          " r = f32[2] reduce(m, y), dimensions={0}, to_apply=add\n";
  const auto unrolled = UnrollReductions(*Parsed(Loop("f32", body)));
  ASSERT_NE(unrolled, nullptr);
  EXPECT_LT(unrolled->instruction_count(), kChain + 1000);
}

// Exponentials are faster as a vector than one by one.
TEST(UnrollReductions, SeveralResultsOfAnExpensiveArrayStay) {
  const std::string text = Loop("f32",
                                " e = f32[2,2] exponential(x)\n"
                                " r = f32[2] reduce(e, y), dimensions={0}, to_apply=add\n");
  ExpectGolden(&UnrollAndClean, text, text);
}

// A loop that computes `lines`, of a matrix `x` and a vector `v`, and has `r` as its next `v`.
std::string LoopOfRows(const std::string& matrix, const std::string& vector, const std::string& lines) {
  const std::string state = "(s32[], " + matrix + ", " + vector + ")";
  return "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\nor {\n"
         " a = pred[] parameter(0)\n b = pred[] parameter(1)\n ROOT c = pred[] or(a, b)\n}\nbody {\n p = " +
         state + " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = " + matrix +
         " get-tuple-element(p), index=1\n v = " + vector +
         " get-tuple-element(p), index=2\n y = f32[] constant(3)\n" + lines +
         " one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT t = " + state +
         " tuple(j, x, r)\n}\ncondition {\n q = " + state +
         " parameter(0)\n k = s32[] get-tuple-element(q), index=0\n ten = s32[] constant(10)\n ROOT l = "
         "pred[] compare(k, ten), direction=LT\n}\nENTRY e {\n z = " +
         state + " parameter(0)\n ROOT w = " + state + " while(z), condition=condition, body=body\n}\n";
}

int Count(const hlo::Module& module, hlo::Opcode opcode) {
  int count = 0;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    for (hlo::NodeId id = 0; id < module.computation(c).size(); ++id)
      count += module.computation(c)[id].opcode() == opcode ? 1 : 0;
  }
  return count;
}

// Vectors of results: each element of an array that nothing else reads is computed once, whatever it takes.
TEST(UnrollReductions, ManyResultsAreVectors) {
  const std::string head = " c = f32[6,2] broadcast(v), dimensions={0}\n";
  const auto made =
      UnrollAndClean(*Parsed(LoopOfRows("f32[6,2]", "f32[6]",
                                        head + " m = f32[6,2] multiply(x, c)\n e = f32[6,2] exponential(m)\n"
                                               " r = f32[6] reduce(e, y), dimensions={1}, to_apply=add\n")));
  EXPECT_EQ(Count(*made, hlo::kReduce), 0) << Nameless(*made);
  EXPECT_EQ(Count(*made, hlo::kExponential), 2) << Nameless(*made);
  for (const hlo::Opcode opcode : {hlo::kExponential, hlo::kMultiply}) {
    for (hlo::ComputationId c = 0; c < made->computation_count(); ++c) {
      for (hlo::NodeId id = 0; id < made->computation(c).size(); ++id) {
        const hlo::Instruction instruction = made->computation(c)[id];
        if (instruction.opcode() == opcode) EXPECT_EQ(ElementCount(instruction.shape()).value_or(0), 6);
      }
    }
  }
}

// Long neighbours are added up as vectors already; bytes are not read by places; and results may be too many.
TEST(UnrollReductions, ManyResultsThatAreFastStay) {
  const std::string sum = ", y), dimensions={0}, to_apply=add\n";
  for (const std::string& text :
       {LoopOfRows("f32[6,200]", "f32[200]", " r = f32[200] reduce(x" + sum),
        LoopOfRows("f32[17,8]", "f32[8]", " r = f32[8] reduce(x" + sum),
        LoopOfRows("f32[3000,5]", "f32[3000]", " r = f32[3000] reduce(x, y), dimensions={1}, to_apply=add\n"),
        LoopOfRows(
            "pred[6,2]", "pred[6]",
            " no = pred[] constant(false)\n r = pred[6] reduce(x, no), dimensions={1}, to_apply=or\n")})
    EXPECT_EQ(Count(*UnrollAndClean(*Parsed(text)), hlo::kReduce), 1) << text;
}

// Programs do not grow without bound: 50 sums of 30 instructions each are 1500.
TEST(UnrollReductions, ALongProgramKeepsSomeReductions) {
  std::string lines;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i), before = i == 0 ? "v" : "s" + std::to_string(i - 1);
    lines += " c" + n + " = f32[6,6] broadcast(" + before + "), dimensions={0}\n a" + n +
             " = f32[6,6] add(x, c" + n + ")\n s" + n + " = f32[6] reduce(a" + n +
             ", y), dimensions={1}, to_apply=add\n";
  }
  const auto made =
      UnrollAndClean(*Parsed(LoopOfRows("f32[6,6]", "f32[6]", lines + " r = f32[6] negate(s299)\n")));
  EXPECT_EQ(Count(*made, hlo::kReduce), 300 - 50);
}

TEST(UnrollReductions, SumsOfNarrowFloatsStay) {
  const std::string text = Loop(
      "bf16",
      " s = bf16[] reduce(x, y), dimensions={0,1}, to_apply=add\n r = bf16[2] broadcast(s), dimensions={}\n");
  ExpectGolden(&UnrollAndClean, text, text);
}

// Rows of two to four elements, which machine code reads in strides: with what is computed of them only, also
// of bytes. Others have steps of their own.
TEST(UnrollReductions, VeryShortRowsOutsideOfLoops) {
  const auto unrolled = [](const std::string& lines) {
    return UnrollAndClean(*Parsed(
        "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\nENTRY e {\n"
        " y = f32[] constant(0)\n" +
        lines + "}\n"));
  };
  const auto made = unrolled(
      " x = f32[9000,3] parameter(0)\n e = f32[9000,3] exponential(x)\n"
      " ROOT r = f32[9000] reduce(e, y), dimensions={1}, to_apply=add\n");
  EXPECT_EQ(Count(*made, hlo::kReduce), 0) << Nameless(*made);
  EXPECT_EQ(Count(*made, hlo::kExponential), 3) << Nameless(*made);
  const auto bytes = unrolled(
      " x = u8[9000,4] parameter(0)\n e = f32[9000,4] convert(x)\n"
      " ROOT r = f32[9000] reduce(e, y), dimensions={1}, to_apply=add\n");
  EXPECT_EQ(Count(*bytes, hlo::kReduce), 0) << Nameless(*bytes);
  EXPECT_EQ(Count(*bytes, hlo::kConvert), 4) << Nameless(*bytes);
  for (const std::string& text :
       {" x = f32[9000,5] parameter(0)\n ROOT r = f32[9000] reduce(x, y), dimensions={1}, to_apply=add\n",
        " x = f32[3,9000] parameter(0)\n ROOT r = f32[9000] reduce(x, y), dimensions={0}, to_apply=add\n"})
    EXPECT_EQ(Count(*unrolled(text), hlo::kReduce), 1) << text;
}

TEST(UnrollReductions, OutsideOfLoopsTheyStay) {
  const std::string text =
      "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\nENTRY e {\n"
      " x = f32[2,2] parameter(0)\n y = f32[] parameter(1)\n"
      " ROOT r = f32[2] reduce(x, y), dimensions={0}, to_apply=add\n}\n";
  ExpectGolden(&UnrollAndClean, text, text);
}

}  // namespace
}  // namespace hlod::passes
