// Every module that JAX lowered goes through the pipeline: what comes out verifies, is no larger, and computes the same as before.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "common/evaluator/evaluator.h"
#include "common/hlo/codec.h"
#include "tests/unit/common/passes/golden.h"

namespace hlod {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Small values of any shape, the same for the same seed.
hlo::Literal RandomLiteral(const hlo::Shape& shape, std::mt19937& random) {
  hlo::Literal doubles(hlo::Shape::Array(hlo::kF64, shape.dims));
  std::uniform_real_distribution<double> uniform(0, 3);
  for (double& x : doubles.data<double>()) x = uniform(random);
  return Convert(doubles, shape.type).value();
}

void ExpectClose(const hlo::Literal& got, const hlo::Literal& want, double tolerance) {
  const auto got_leaves = got.Leaves(), want_leaves = want.Leaves();
  ASSERT_EQ(got_leaves.size(), want_leaves.size());
  for (size_t i = 0; i < got_leaves.size(); ++i) {
    ASSERT_EQ(got_leaves[i]->shape(), want_leaves[i]->shape());
    for (int64_t e = 0; e < got_leaves[i]->element_count(); ++e) {
      const double a = ElementAsDouble(*got_leaves[i], e), b = ElementAsDouble(*want_leaves[i], e);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      ASSERT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(b))) << "output " << i << " element " << e;
    }
  }
}

int64_t ReachableInstructions(const hlo::Module& module) { return RemoveDead(*InlineCalls(module))->instruction_count(); }

TEST(RunPipeline, LeavesJaxModulesMeaningTheSame) {
  const std::filesystem::path cases = std::filesystem::path(HLOD_SOURCE_DIR) / "tests/conformance/jax/cases";
  int run = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    if (!std::filesystem::exists(entry.path() / "module.pb")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    auto module = hlo::FromSerialized(ReadFile(entry.path() / "module.pb"));
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(hlo::Verify(**module).ok()) << hlo::Verify(**module);
    const auto optimized = RunPipeline(**module);
    ASSERT_TRUE(optimized.ok()) << optimized.status();
    ASSERT_TRUE(hlo::Verify(**optimized).ok()) << hlo::Verify(**optimized);
    EXPECT_LE((*optimized)->instruction_count(), ReachableInstructions(**module));

    std::mt19937 random(7);
    std::vector<hlo::Literal> arguments;
    std::vector<const hlo::Literal*> pointers;
    for (const hlo::Shape& shape : (*module)->entry().program_shape().parameters) arguments.push_back(RandomLiteral(shape, random));
    for (const hlo::Literal& argument : arguments) pointers.push_back(&argument);
    const auto before = Evaluate(**module, pointers), after = Evaluate(**optimized, pointers);
    ASSERT_EQ(before.ok(), after.ok()) << before.status() << after.status();
    if (!before.ok()) continue;
    // Both run in the evaluator, and no pass changes a bit: no tolerance.
    ExpectClose(*after, *before, 0);
    ++run;
  }
  EXPECT_GT(run, 20);
}

}  // namespace
}  // namespace hlod
