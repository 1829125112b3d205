// Batch norms and maps become instructions that compute the same.
#include "common/passes/expand/expand_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "common/passes/passes.h"

namespace hlod::passes {
namespace {

using hlo::Literal;
using testing::HasSubstr;
using testing::Not;

// Returns numbers that differ at each position, of any float type.
Literal Numbers(const hlo::Shape& shape, float first) {
  Literal numbers(hlo::Shape::Array(hlo::kF32, shape.dims));
  float next = first;
  for (float& number : numbers.data<float>()) number = std::sin(next += 1.3f) + 1.5f;
  return Convert(numbers, shape.type).value();
}

// Compares the module before and after expansion, and after the whole pipeline; f32 results within
// `tolerance`.
void ExpectTheSame(const std::string& text, float tolerance) {
  const auto module = hlo::ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(HasFunctions(**module));
  std::vector<Literal> arguments;
  for (const hlo::NodeId id : (*module)->entry().parameters())
    arguments.push_back(Numbers((*module)->entry()[id].shape(), static_cast<float>(arguments.size())));
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const auto expected = Evaluate(**module, pointers);
  ASSERT_TRUE(expected.ok()) << expected.status();

  const auto expanded = ExpandFunctions(**module);
  ASSERT_TRUE(hlo::Verify(*expanded).ok()) << hlo::Verify(*expanded) << hlo::ToText(*expanded);
  EXPECT_FALSE(HasFunctions(*expanded));
  const auto lowered = RunPipeline(**module);
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  for (const hlo::Module* other : {expanded.get(), lowered->get()}) {
    const auto got = Evaluate(*other, pointers);
    ASSERT_TRUE(got.ok()) << got.status() << hlo::ToText(*other);
    const std::vector<const Literal*> leaves = got->Leaves(), wanted = expected->Leaves();
    ASSERT_EQ(leaves.size(), wanted.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
      ASSERT_EQ(leaves[i]->shape().type, wanted[i]->shape().type);
      const Literal a = Convert(*leaves[i], hlo::kF32).value(), b = Convert(*wanted[i], hlo::kF32).value();
      for (int64_t k = 0; k < a.element_count(); ++k)
        EXPECT_NEAR(a.data<float>()[k], b.data<float>()[k], tolerance) << "result " << i << " at " << k;
    }
  }
}

std::string BatchNorm(const std::string& type) {
  std::string text = R"(HloModule norms
ENTRY main {
  x = TYPE[4,6,5] parameter(0)
  scale = TYPE[6] parameter(1)
  offset = TYPE[6] parameter(2)
  mean = TYPE[6] parameter(3)
  variance = TYPE[6] parameter(4)
  g = TYPE[4,6,5] parameter(5)
  training = (TYPE[4,6,5], TYPE[6], TYPE[6]) batch-norm-training(x, scale, offset), epsilon=0.01, feature_index=1
  inference = TYPE[4,6,5] batch-norm-inference(x, scale, offset, mean, variance), epsilon=0.01, feature_index=1
  gradient = (TYPE[4,6,5], TYPE[6], TYPE[6]) batch-norm-grad(x, scale, mean, variance, g), epsilon=0.01, feature_index=1
  ROOT all = ((TYPE[4,6,5], TYPE[6], TYPE[6]), TYPE[4,6,5], (TYPE[4,6,5], TYPE[6], TYPE[6])) tuple(training, inference, gradient)
})";
  for (size_t at = text.find("TYPE"); at != text.npos; at = text.find("TYPE")) text.replace(at, 4, type);
  return text;
}

TEST(ExpandFunctions, BatchNormsOfEveryWidth) {
  ExpectTheSame(BatchNorm("f32"), 1e-4f);
  ExpectTheSame(BatchNorm("f64"), 1e-5f);
  ExpectTheSame(BatchNorm("bf16"), 0.3f);  // At 32 the last place of bf16 is a quarter.
}

constexpr char kMap[] = R"(HloModule map
body {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  d = f32[] constant(0.5)
  p = pred[] compare(c, d), direction=GT
  e = f32[] select(p, c, d)
  ROOT r = s32[] convert(e)
}
ENTRY main {
  x = f32[5,7] parameter(0)
  y = f32[5,7] parameter(1)
  ROOT m = s32[5,7] map(x, y), dimensions={0,1}, to_apply=body
})";

TEST(ExpandFunctions, AMapOfElements) {
  ExpectTheSame(kMap, 0);
  const std::string lowered = hlo::ToText(*RunPipeline(*hlo::ParseModule(kMap).value()).value());
  EXPECT_THAT(lowered, HasSubstr("multiply"));
  EXPECT_THAT(lowered, Not(HasSubstr("map(")));
}

TEST(ExpandFunctions, AMapOfLoopsStays) {
  const auto module = hlo::ParseModule(R"(HloModule map
double {
  v = f32[] parameter(0)
  ROOT w = f32[] add(v, v)
}
body {
  a = f32[] parameter(0)
  ROOT r = f32[] call(a), to_apply=double
}
ENTRY main {
  x = f32[5] parameter(0)
  ROOT m = f32[5] map(x), dimensions={0}, to_apply=body
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_FALSE(HasFunctions(**module));
}

}  // namespace
}  // namespace hlod::passes
