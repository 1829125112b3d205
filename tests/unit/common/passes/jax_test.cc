// Properties of every module that JAX lowered: the pipeline keeps its meaning, and narrowing it to an output
// keeps that output.
#include "tests/unit/common/passes/jax.h"

#include "common/evaluator/evaluator.h"
#include "common/hlo/analysis/dependence.h"
#include "common/passes/expand/expand_functions.h"
#include "common/passes/passes.h"

namespace hlod::passes {
namespace {

TEST(RunPipeline, LeavesJaxModulesMeaningTheSame) {
  int run = 0;
  ForEachJaxModule([&](const hlo::Module& given) {
    const auto optimized = RunPipeline(given);
    // The expansion rounds parts of a batch norm that the whole does not round, so the result is compared
    // with the expansion, bit by bit.
    const auto expanded = HasFunctions(given) ? ExpandFunctions(given) : nullptr;
    const hlo::Module& module = expanded != nullptr ? *expanded : given;
    ASSERT_TRUE(optimized.ok()) << optimized.status();
    ASSERT_TRUE(hlo::Verify(**optimized).ok()) << hlo::Verify(**optimized);
    EXPECT_LE((*optimized)->instruction_count(), RemoveDead(*InlineCalls(module))->instruction_count());
    const std::vector<hlo::Literal> arguments = RandomArguments(module);
    const auto before = Evaluate(module, Pointers(arguments)),
               after = Evaluate(**optimized, Pointers(arguments));
    ASSERT_EQ(before.ok(), after.ok()) << before.status() << after.status();
    if (!before.ok()) return;
    // Both run in the evaluator, and passes do not change any bit, so there is no tolerance.
    const auto want = before->Leaves(), got = after->Leaves();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) ExpectSame(*got[i], *want[i]);
    ++run;
  });
  EXPECT_GT(run, 20);
}

TEST(KeepOutputs, OfJaxModulesGivesTheOutputAndReadsOnlyWhatItDependsOn) {
  int run = 0;
  ForEachJaxModule([&](const hlo::Module& module) {
    const hlo::Dependences dependences(module);
    const std::vector<hlo::Literal> arguments = RandomArguments(module);
    const auto whole = Evaluate(module, Pointers(arguments));
    if (!whole.ok()) return;
    const size_t outputs = dependences.outputs();
    for (size_t output = 0; output < outputs; output += std::max<size_t>(1, outputs / 3)) {
      SCOPED_TRACE(testing::Message() << "output " << output);
      std::vector<bool> keep(outputs);
      keep[output] = true;
      const std::vector<bool> depends = dependences.Of(output);
      const auto kept = hlo::KeepOutputs(module, keep);
      ASSERT_TRUE(hlo::Verify(*kept).ok()) << hlo::Verify(*kept);
      const hlo::Computation& entry = kept->entry();
      for (hlo::NodeId id = 0; id < entry.size(); ++id) {
        for (const hlo::NodeId operand : entry[id].operands()) {
          if (entry[operand].opcode() != hlo::kParameter) continue;
          EXPECT_TRUE(depends[entry[operand].parameter_number()]) << entry[operand].name();
        }
      }
      const auto part = Evaluate(*kept, Pointers(arguments));
      ASSERT_TRUE(part.ok()) << part.status();
      ExpectSame(*part->Leaves()[0], *whole->Leaves()[output]);
      ++run;
    }
  });
  EXPECT_GT(run, 40);
}

}  // namespace
}  // namespace hlod::passes
