// Loops with more scalars than registers are chosen for, by their results: by hand where they are few.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/hlo/text/text.h"
#include "server/engine/assemble/assembler.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

// A loop that swaps two arrays four times in a loop of its own, reads a scalar of the array of the iteration
// before, runs a second inner loop, and has `count` small arrays of which each is a scalar's neighbour.
std::string SwapsBesideArrays(int count) {
  const std::string swaps = "(s32[], f32[20], f32[20])", halves = "(s32[], f32[])";
  std::vector<std::string> shapes = {"s32[]", "f32[20]", "f32[20]", "f32[20]", "f32[]", "f32[3]"};
  for (int n = 0; n < count; ++n) shapes.push_back("f32[4]");
  const std::string state = absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");
  const auto condition = [](const char* name, const std::string& shape, int trips) {
    return absl::StrCat(name, " { p = ", shape, " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n",
                        " n = s32[] constant(", trips,
                        ")\n ROOT less = pred[] compare(i, n), direction=LT }\n");
  };
  std::string text = absl::StrCat(
      "HloModule m\n", condition("more_swaps", swaps, 4), "swap { p = ", swaps,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = f32[20] get-tuple-element(p), index=1\n"
      " y = f32[20] get-tuple-element(p), index=2\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
      " ROOT r = ",
      swaps, " tuple(j, y, x) }\n", condition("more_halves", halves, 5), "halve { p = ", halves,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = f32[] get-tuple-element(p), index=1\n"
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n h = f32[] constant(0.5)\n"
      " y = f32[] multiply(x, h)\n z = f32[] add(y, h)\n ROOT r = ",
      halves, " tuple(j, z) }\n", condition("more", state, 50), "body { p = ", state, " parameter(0)\n");
  for (size_t i = 0; i < shapes.size(); ++i)
    absl::StrAppend(&text, " g", i, " = ", shapes[i], " get-tuple-element(p), index=", i, "\n");
  absl::StrAppend(
      &text, " one = s32[] constant(1)\n next = s32[] add(g0, one)\n three = s32[] constant(3)\n",
      " k = s32[] and(g0, three)\n zero = s32[] constant(0)\n swaps = ", swaps, " tuple(zero, g1, g2)\n",
      " swapped = ", swaps, " while(swaps), condition=more_swaps, body=swap\n",
      " kept = f32[20] get-tuple-element(swapped), index=1\n j = s32[] get-tuple-element(swapped), index=0\n",
      " float = f32[] convert(j)\n x = f32[] add(g4, float)\n halves = ", halves, " tuple(zero, x)\n",
      " halved = ", halves, " while(halves), condition=more_halves, body=halve\n",
      " y = f32[] get-tuple-element(halved), index=1\n part = f32[1] slice(g3), slice={[5:6]}\n",
      " element = f32[] reshape(part)\n sum = f32[] add(y, element)\n");
  std::vector<std::string> made;
  for (int n = 0; n < count; ++n) {
    absl::StrAppend(&text, " c", n, " = f32[] constant(0.", n + 1, ")\n cs", n, " = f32[4] broadcast(c", n,
                    "), dimensions={}\n y", n, " = f32[4] multiply(g", 6 + n, ", cs", n, ")\n");
    made.push_back(absl::StrCat("y", n));
  }
  const std::string list = absl::StrJoin(made, ", ");
  absl::StrAppend(
      &text, " all = f32[", 4 * count, "] concatenate(", list, "), dimensions={0}\n",
      " some = f32[3] dynamic-slice(all, k), dynamic_slice_sizes={3}\n",
      " total = f32[3] add(g5, some)\n ROOT r = ", state, " tuple(next, g1, g2, kept, sum, total, ", list,
      ") }\n", "ENTRY main { u = f32[20] parameter(0)\n v = f32[20] parameter(1)\n",
      " i = s32[] constant(0)\n zero = f32[] constant(0)\n",
      " zeros = f32[20] broadcast(zero), dimensions={}\n three = f32[3] broadcast(zero), dimensions={}\n");
  for (int n = 0; n < count; ++n)
    absl::StrAppend(&text, " e", n, " = f32[] constant(", n, ".5)\n h", n, " = f32[4] broadcast(e", n,
                    "), dimensions={}\n");
  std::vector<std::string> begin;
  for (int n = 0; n < count; ++n) begin.push_back(absl::StrCat("h", n));
  return absl::StrCat(
      text, " t = ", state, " tuple(i, u, v, zeros, zero, three, ", absl::StrJoin(begin, ", "),
      ")\n w = ", state, " while(t), condition=more, body=body\n",
      " r1 = f32[20] get-tuple-element(w), index=3\n",
      " r2 = f32[] get-tuple-element(w), index=4\n ROOT r = (f32[20], f32[]) tuple(r1, r2) }\n");
}

// After four swaps the array is the first one. The sum is (x + 4) / 32 + 31/32 + element 5 in each iteration
// but the first, where the array is still zero.
TEST(LoopCells, ACopiedScalarIsWrittenBackHoweverManyThereAre) {
  Literal first(Shape::Array(hlo::kF32, {20})), second = first;
  for (int i = 0; i < 20; ++i) {
    first.data<float>()[i] = static_cast<float>(10 + i);
    second.data<float>()[i] = static_cast<float>(-i);
  }
  double sum = 0;
  for (int i = 0; i < 50; ++i) sum = (sum + 4) / 32 + 31.0 / 32 + (i == 0 ? 0 : 15);
  for (const int count : {1, 20, 90, 97, 105, 115, 130}) {
    const auto module = hlo::ParseModule(SwapsBesideArrays(count));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto assembler = std::make_shared<Assembler>(Assembler::Options{.at_once = true});
    const auto plan = Compile(**module, {.threads = 1, .assembler = assembler});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const std::vector<Literal> arguments = {first, second};
    const auto results = RunPlan(**plan, arguments);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_TRUE((*results)[0] == first) << count;
    EXPECT_NEAR((*results)[1].data<float>()[0], sum, 1e-5) << count;
  }
}

}  // namespace
}  // namespace hlod::engine
