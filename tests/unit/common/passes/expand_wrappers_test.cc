// Instructions that only pass values on are removed by the pass, and leave no traces after the pipeline.
#include "common/passes/expand/expand_wrappers.h"

#include <gmock/gmock.h>

#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

using ::testing::HasSubstr;

const char kAdd[] = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

// Returns the entry's instructions after the whole pipeline.
std::string Lowered(const std::string& text) {
  const auto module = Parsed(text);
  const auto result = RunPipeline(*module);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? Nameless(**result) : "";
}

TEST(ExpandWrappers, ACollectiveWithoutPartnersIsItsOperand) {
  ExpectGolden([](const hlo::Module& m) { return RemoveDead(*ExpandWrappers(m, nullptr)); },
               std::string(kAdd) +
                   "ENTRY e {\n x = f32[4] parameter(0)\n a = f32[4] all-reduce(x), replica_groups={{0}}, "
                   "to_apply=add\n"
                   " b = f32[4] all-gather(a), replica_groups={}, dimensions={0}\n"
                   " s = (f32[4], f32[4]) collective-permute-start(b), source_target_pairs={{0,0}}\n"
                   " ROOT d = f32[4] collective-permute-done(s)\n}\n",
               "ENTRY e {\n x = f32[4] parameter(0)\n s = (f32[4], f32[4]) tuple(x, x)\n"
               " ROOT d = f32[4] get-tuple-element(s), index=1\n}\n");
}

TEST(ExpandWrappers, ACollectiveWithPartnersStays) {
  const auto module = Parsed(std::string(kAdd) +
                             "ENTRY e {\n x = f32[4] parameter(0)\n"
                             " ROOT a = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n}\n");
  EXPECT_FALSE(HasWrappers(*module));
}

TEST(ExpandWrappers, NobodySendsZeros) {
  EXPECT_THAT(Lowered("ENTRY e {\n x = f32[4] parameter(0)\n"
                      " ROOT a = f32[4] collective-permute(x), source_target_pairs={}\n}\n"),
              HasSubstr("broadcast(constant.1), dimensions={}"));
}

TEST(ExpandWrappers, AsynchronousHalvesAreGoneAfterThePipeline) {
  const std::string text = Lowered(
      "f {\n p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p)\n}\n"
      "ENTRY e {\n x = f32[4] parameter(0)\n c = (f32[4], f32[4], u32[]) copy-start(x)\n d = f32[4] "
      "copy-done(c)\n"
      " a = ((f32[4]), f32[4], u32[]) async-start(d), calls=f\n b = ((f32[4]), f32[4], u32[]) "
      "async-update(a)\n"
      " ROOT r = f32[4] async-done(b)\n}\n");
  EXPECT_EQ(text, Nameless(*Parsed("ENTRY e {\n x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x)\n}\n")));
}

TEST(ExpandWrappers, ARaggedDotOverABatchIsADot) {
  EXPECT_THAT(
      Lowered(
          "ENTRY e {\n a = f32[6,2,3] parameter(0)\n b = f32[6,3,4] parameter(1)\n g = s32[2] parameter(2)\n"
          " ROOT d = f32[6,2,4] ragged-dot(a, b, g), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
          "rhs_batch_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={0}\n}\n"),
      HasSubstr(" dot(parameter.0, parameter.1)"));
}

}  // namespace
}  // namespace hlod::passes
