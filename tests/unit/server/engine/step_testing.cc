// Runs one step on guarded memory.
#include "tests/unit/server/engine/step_testing.h"

#include <cstring>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/fft/fft_steps.h"
#include "server/engine/linalg/linalg_steps.h"
#include "server/engine/movement/movement_steps.h"
#include "server/engine/reduce/reduce_steps.h"
#include "server/engine/sort/sort_steps.h"
#include "server/engine/tile/random.h"
#include "tests/unit/server/engine/guarded.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

// Returns the instruction under test: the root, or the instruction whose elements the root's tuple has.
hlo::Instruction Tested(const hlo::Module& module) {
  hlo::Instruction root = module.entry().root();
  if (root.opcode() == hlo::kTuple) root = root.operand(0);
  if (root.opcode() == hlo::kGetTupleElement) root = root.operand(0);
  return root;
}

std::vector<Literal> OperandsOf(hlo::Instruction tested, const std::vector<Literal>& arguments) {
  std::vector<Literal> operands;
  for (uint32_t i = 0; i < tested.operand_count(); ++i) {
    const hlo::Instruction operand = tested.operand(i);
    operands.push_back(operand.opcode() == hlo::kConstant ? operand.literal()
                                                          : arguments.at(operand.parameter_number()));
  }
  return operands;
}

std::vector<Literal> RunStep(const Step& step, const std::vector<Literal>& operands, const hlo::Shape& result,
                             int threads, bool in_place) {
  std::vector<const std::byte*> inputs;
  std::vector<std::unique_ptr<Guarded>> copies, outputs;
  for (const Literal& operand : operands) {
    copies.push_back(std::make_unique<Guarded>(operand.bytes().size()));
    std::memcpy(copies.back()->data(), operand.bytes().data(), operand.bytes().size());
    inputs.push_back(copies.back()->data());
  }
  std::vector<std::byte*> out;
  const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(result);
  std::vector<bool> written(operands.size(), false);
  for (size_t o = 0; o < leaves.size(); ++o) {
    outputs.push_back(std::make_unique<Guarded>(*hlo::ByteSize(*leaves[o].shape)));
    out.push_back(outputs.back()->data());
    for (size_t i = 0; in_place && i < operands.size(); ++i) {
      if (written[i] || !step.MayShare(static_cast<int>(o), static_cast<int>(i)) ||
          operands[i].bytes().size() != static_cast<size_t>(*hlo::ByteSize(*leaves[o].shape))) {
        continue;
      }
      out.back() = copies[i]->data();
      written[i] = true;
      break;
    }
  }
  Guarded scratch(step.scratch_bytes());
  RunContext run;
  StepContext context{run, scratch.data(), threads};
  const absl::Status status = step.Run(inputs.data(), out.data(), context);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(scratch.Intact()) << step.text() << " wrote outside its scratch";
  std::vector<Literal> results;
  for (size_t o = 0; o < leaves.size(); ++o) {
    EXPECT_TRUE(outputs[o]->Intact()) << step.text() << " wrote outside output " << o;
    Literal literal(*leaves[o].shape);
    std::memcpy(literal.bytes().data(), out[o], literal.bytes().size());
    results.push_back(std::move(literal));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    EXPECT_TRUE(copies[i]->Intact()) << step.text() << " wrote around input " << i;
    EXPECT_TRUE(written[i] ||
                std::memcmp(copies[i]->data(), operands[i].bytes().data(), operands[i].bytes().size()) == 0)
        << step.text() << " wrote input " << i;
  }
  return results;
}

std::unique_ptr<hlo::Module> Parse(std::string_view text) {
  auto module = hlo::ParseModule(std::string("HloModule test\n") + std::string(text));
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : nullptr;
}

}  // namespace

MaybeStep MakeStep(const hlo::Module& module, hlo::Instruction instruction, int threads,
                   std::optional<ProductLibrary> library) {
  if (instruction.opcode() == hlo::kDot && library.has_value())
    return MakeDotStepBy(*library, module, instruction, threads);
  if (instruction.opcode() == hlo::kCholesky || instruction.opcode() == hlo::kTriangularSolve)
    return MakeLinalgStep(module, instruction, threads);
  if (instruction.opcode() == hlo::kFft) return MakeFftStep(module, instruction, threads);
  for (auto make : {MakeDotStep, MakeRaggedDotStep, MakeConvolutionStep, MakeMovementStep, MakeGatherScatterStep, MakeSortStep,
                    MakeWindowStep, MakeReduceStep, MakeRandomStep}) {
    if (MaybeStep step = make(module, instruction, threads)) return step;
  }
  return nullptr;
}

void ExpectStep(std::string_view text, const StepTestOptions& options) {
  const auto module = Parse(text);
  if (module == nullptr) return;
  std::vector<Literal> arguments;
  for (hlo::NodeId id : module->entry().parameters()) {
    const int number = static_cast<int>(arguments.size());
    const auto given = options.arguments.find(number);
    arguments.push_back(given != options.arguments.end() ? given->second
                                                         : Sample(module->entry()[id].shape(), number + 1));
  }
  const auto expected = RunEvaluator(*module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << text;
  const hlo::Instruction tested = Tested(*module);
  const std::vector<Literal> operands = OperandsOf(tested, arguments);
  for (const int threads : {1, 3}) {
    const MaybeStep step = MakeStep(*module, tested, threads, options.library);
    ASSERT_NE(step, nullptr) << "no step for\n" << text;
    EXPECT_NE(step->text().find(options.describe), std::string::npos) << step->text();
    for (const bool in_place : {false, true}) {
      const std::vector<Literal> actual = RunStep(*step, operands, tested.shape(), threads, in_place);
      ASSERT_EQ(actual.size(), expected->size());
      for (size_t r = 0; r < actual.size(); ++r) {
        EXPECT_EQ(Difference(actual[r], (*expected)[r], options.rtol, options.atol), "")
            << "result " << r << ", " << threads << " threads" << (in_place ? ", in place" : "") << ": "
            << step->text() << "\n"
            << text;
      }
    }
  }
}

std::vector<Literal> RunStepText(std::string_view text, const std::vector<Literal>& arguments, int threads,
                                 std::optional<ProductLibrary> library) {
  const auto module = Parse(text);
  if (module == nullptr) return {};
  const hlo::Instruction tested = Tested(*module);
  const MaybeStep step = MakeStep(*module, tested, threads, library);
  EXPECT_NE(step, nullptr) << "no step for\n" << text;
  if (step == nullptr) return {};
  return RunStep(*step, OperandsOf(tested, arguments), tested.shape(), threads, false);
}

}  // namespace hlod::engine
