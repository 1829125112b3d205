// Generators become arithmetic with the same bits as the evaluator's.
#include "common/passes/expand/expand_philox.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::passes {
namespace {

using hlo::Literal;

std::string Program(const std::string& state, const std::string& numbers, const std::string& algorithm) {
  return "HloModule m\nENTRY e {\n  s = " + state + " parameter(0)\n  ROOT r = (" + state + ", " + numbers +
         ") rng-bit-generator(s), algorithm=" + algorithm + "\n}";
}

TEST(ExpandPhilox, KeepsEveryBit) {
  constexpr uint64_t kLast = ~uint64_t{0};
  const Literal three = Literal::Vector<uint64_t>({0x123456789abcdef0, kLast - 2, 7}),
                two = Literal::Vector<uint64_t>({42, kLast});
  for (const char* numbers :
       {"u32[]", "u32[3,5]", "s32[4,2,3]", "u64[7]", "s64[2,3]", "u8[5,3]", "u16[9]", "u32[0,4]"}) {
    for (const bool has_high : {true, false}) {
      for (const char* algorithm : {"rng_philox", "rng_default"}) {
        const auto module = hlo::ParseModule(Program(has_high ? "u64[3]" : "u64[2]", numbers, algorithm));
        ASSERT_TRUE(module.ok()) << module.status();
        ASSERT_TRUE(HasPhilox(**module));
        const auto expanded = ExpandPhilox(**module);
        ASSERT_TRUE(hlo::Verify(*expanded).ok()) << hlo::Verify(*expanded);
        EXPECT_FALSE(HasPhilox(*expanded));
        const Literal* const state = has_high ? &three : &two;
        const auto expected = Evaluate(**module, {state}), got = Evaluate(*expanded, {state});
        ASSERT_TRUE(expected.ok() && got.ok()) << expected.status() << got.status();
        EXPECT_EQ(*got, *expected) << numbers << " " << algorithm << " " << has_high;
      }
    }
  }
}

TEST(ExpandPhilox, LeavesThreefryAlone) {
  const auto module = hlo::ParseModule(Program("u64[2]", "u32[4]", "rng_three_fry"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_FALSE(HasPhilox(**module));
}

}  // namespace
}  // namespace hlod::passes
