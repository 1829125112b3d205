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

TEST(UnrollReductions, SeveralResultsStay) {
  const std::string text = Loop("f32", " r = f32[2] reduce(x, y), dimensions={0}, to_apply=add\n");
  ExpectGolden(&UnrollAndClean, text, text);
}

TEST(UnrollReductions, SumsOfNarrowFloatsStay) {
  const std::string text = Loop(
      "bf16",
      " s = bf16[] reduce(x, y), dimensions={0,1}, to_apply=add\n r = bf16[2] broadcast(s), dimensions={}\n");
  ExpectGolden(&UnrollAndClean, text, text);
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
