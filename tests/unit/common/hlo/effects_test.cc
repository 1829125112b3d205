// Side effects: the opcodes that have them, and how calls pass them on.
#include "common/hlo/analysis/effects.h"

#include <set>
#include <string>

#include "common/hlo/text/text.h"
#include "gtest/gtest.h"

namespace hlod::hlo {
namespace {

// XLA's list (HloInstruction::HasSideEffect): opcodes that communicate with the host, and every collective,
// which XLA counts only with a channel. XLA also counts rng and rng-get-and-update-state; hlod does not,
// because a number that is not read need not be drawn.
const std::set<std::string_view>& Expected() {
  static const auto* const expected = new std::set<std::string_view>{
      "infeed",
      "outfeed",
      "send",
      "send-done",
      "recv",
      "recv-done",
      "all-reduce",
      "all-reduce-start",
      "all-reduce-done",
      "all-gather",
      "all-gather-start",
      "all-gather-done",
      "reduce-scatter",
      "all-to-all",
      "ragged-all-to-all",
      "collective-permute",
      "collective-permute-start",
      "collective-permute-done",
      "collective-broadcast",
      "collective-reduce",
  };
  return *expected;
}

TEST(SideEffects, OfEveryOpcodeAreXlas) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    EXPECT_EQ(HasTrait(opcode, kSideEffect) || HasTrait(opcode, kCollective),
              Expected().contains(Name(opcode)))
        << Name(opcode);
  }
}

TEST(SideEffects, OfACustomCallAreWhatItSays) {
  for (const bool stated : {false, true}) {
    const auto module = ParseModule(
        "ENTRY e {\n x = f32[] parameter(0)\n ROOT r = f32[] custom-call(x), custom_call_target=\"f\"" +
        std::string(stated ? ", custom_call_has_side_effect=true" : "") + "\n}\n");
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(HasOwnSideEffect((*module)->entry().root()), stated);
  }
}

TEST(SideEffects, AreHandedToCallers) {
  const auto module = ParseModule(
      "%quiet (q: f32[]) -> f32[] {\n ROOT q = f32[] parameter(0)\n}\n"
      "%loud (l: f32[]) -> f32[] {\n l = f32[] parameter(0)\n"
      " ROOT c = f32[] custom-call(l), custom_call_target=\"f\", custom_call_has_side_effect=true\n}\n"
      "%outer (o: f32[]) -> f32[] {\n o = f32[] parameter(0)\n ROOT d = f32[] call(o), to_apply=%loud\n}\n"
      "ENTRY e {\n x = f32[] parameter(0)\n y = f32[] call(x), to_apply=%quiet\n"
      " ROOT z = f32[] call(y), to_apply=%outer\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<bool> effects = FindSideEffects(**module);
  const Computation& entry = (*module)->entry();
  EXPECT_FALSE(HasSideEffect(entry[0], effects));
  EXPECT_FALSE(HasSideEffect(entry[1], effects));
  EXPECT_TRUE(HasSideEffect(entry[2], effects));
  EXPECT_FALSE(HasOwnSideEffect(entry[2]));
  EXPECT_TRUE(effects[(*module)->entry_id()]);
}

}  // namespace
}  // namespace hlod::hlo
