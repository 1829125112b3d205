// The reason that a program is compiled: its nearest earlier program, and the first difference.
#include "client/runtime/observe/program_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/call_path.h"
#include "client/runtime/observe/program_difference.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::runtime {
namespace {

using ::testing::HasSubstr;

// f32[ROWS] x, y -> OP(x * CONSTANT, y)
std::string Program(const std::string& rows, const std::string& constant, const std::string& op) {
  return "HloModule step\nENTRY main {\n  x = f32[" + rows + "] parameter(0)\n  y = f32[" + rows +
         "] parameter(1)\n  c = f32[] constant(" + constant + ")\n  b = f32[" + rows +
         "] broadcast(c), dimensions={}\n  m = f32[" + rows + "] multiply(x, b)\n  ROOT r = f32[" + rows +
         "] " + op + "(m, y)\n}\n";
}

class Reasons : public ::testing::Test {
 protected:
  CompileCause Add(const std::string& text, std::vector<Origin> made = {}) {
    const std::unique_ptr<hlo::Module> module = hlo::ParseModule(text).value();
    return AddModule(*module, std::move(made));
  }
  CompileCause AddModule(const hlo::Module& module, std::vector<Origin> made = {}) {
    const std::string bytes = hlo::Serialize(module);
    return history_.Add(module, bytes, Sha256(bytes), {"train.cc", 7, "main"}, made);
  }
  ProgramHistory history_;
};

TEST_F(Reasons, TheFirstProgramIsTheFirst) {
  const CompileCause verdict = Add(Program("4", "2", "add"));
  EXPECT_EQ(verdict.reason, CompileReason::kFirst);
  EXPECT_EQ(verdict.nearest, "");
}

// Three programs of one line: the first is not a recompile, another shape is one, and the first again is a
// second one.
TEST_F(Reasons, RecompilesOfALineAreCounted) {
  EXPECT_EQ(Add(Program("4", "2", "add")).recompiles, 0);
  EXPECT_EQ(Add(Program("3", "2", "add")).recompiles, 1);
  EXPECT_EQ(Add(Program("3", "2", "add")).recompiles, 2);
}

TEST_F(Reasons, AProgramForManySizesIsExplainedByTheSizes) {
  const auto up_to = [this](const char* rows, const char* sizes) {
    const std::unique_ptr<hlo::Module> module = hlo::ParseModule(Program(rows, "2", "add")).value();
    module->config.frontend_attributes[kSizesUpTo] = sizes;
    return AddModule(*module);
  };
  Add(Program("4", "2", "add"));
  EXPECT_THAT(up_to("32", "32").text, HasSubstr("all of its sizes up to 32, the one before a single size"));
  EXPECT_THAT(up_to("64", "64").text, HasSubstr("all of its sizes up to 64, the one before those up to 32"));
}

// A helper's line that is reached from several places has a count for each of them.
TEST_F(Reasons, RecompilesAreCountedByThePathOfCalls) {
  for (int length = 2; length < 6; ++length) {
    const auto module = hlo::ParseModule(Program(std::to_string(length), "2", "add")).value();
    const std::string bytes = hlo::Serialize(*module);
    const auto path = static_cast<uint64_t>(length % 2);
    const CompileCause cause =
        history_.Add(*module, bytes, Sha256(bytes), {"helper.cc", 3, "Mean"}, {}, path);
    EXPECT_EQ(cause.recompiles, length < 4 ? 0 : 1);
  }
}

// Several operations in one line of JAX, each a program, are no recompiles of one another.
TEST_F(Reasons, RecompilesAreCountedByTheNameOfTheProgram) {
  for (const bool again : {false, true}) {
    for (const char* const name : {"jit_add", "jit_sum"}) {
      const auto module = hlo::ParseModule(Program(again ? "5" : "4", "2", "add")).value();
      module->set_name(name);
      EXPECT_EQ(AddModule(*module).recompiles, again ? 1 : 0) << name;
    }
  }
}

TEST_F(Reasons, ALineIsToldOfOnce) {
  EXPECT_TRUE(history_.TellOnce({"helper.cc", 3, "Mean"}));
  EXPECT_FALSE(history_.TellOnce({"helper.cc", 3, ""}));
  EXPECT_TRUE(history_.TellOnce({"helper.cc", 4, "Mean"}));
}

// Returns the path of calls of its caller.
[[gnu::noinline]] uint64_t PathOfHelper() {
  const uint64_t path = CallPath();
  EXPECT_NE(path, 0);  // Also keeps the call from being the function's last.
  return path;
}

TEST(CallPaths, AreEqualInALoopAndDifferBetweenTwoCalls) {
  std::set<uint64_t> in_loop;
  for (int i = 0; i < 3; ++i) in_loop.insert(PathOfHelper());
  EXPECT_EQ(in_loop.size(), 1);
  const uint64_t first = PathOfHelper();
  const uint64_t second = PathOfHelper();
  EXPECT_NE(first, second);
}

TEST_F(Reasons, TheSameBytesAreTheSameProgram) {
  Add(Program("4", "2", "add"));
  const CompileCause verdict = Add(Program("4", "2", "add"));
  EXPECT_EQ(verdict.reason, CompileReason::kAgain);
  EXPECT_THAT(verdict.text, HasSubstr("train.cc:7"));
}

TEST_F(Reasons, AParametersShapeComesBeforeWhatFollowsFromIt) {
  Add(Program("4", "2", "add"));
  const CompileCause verdict = Add(Program("3", "2", "add"), {{"data.cc", 88, ""}});
  EXPECT_EQ(verdict.reason, CompileReason::kParameter);
  EXPECT_THAT(verdict.text, HasSubstr("parameter 0 was f32[4], now f32[3], made at data.cc:88"));
  EXPECT_EQ(verdict.nearest, "step");
}

// The mean over a last, smaller batch: its divisor equals a constant that the program already has, so there
// is one instruction less, and a constant changes before the parameter does. The parameter is named.
TEST_F(Reasons, AParametersShapeComesBeforeAConstantThatFollowsFromItInAnotherForm) {
  const auto mean = [](const std::string& rows, const std::string& divisor, const std::string& scale) {
    return "HloModule step\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
           "  ROOT c = f32[] add(a, b)\n}\nENTRY main {\n  n = f32[] constant(" +
           divisor + ")\n" + (scale == divisor ? "" : "  m = f32[] constant(" + scale + ")\n") +
           "  z = f32[] constant(0)\n  x = f32[" + rows + ",512] parameter(0)\n  s = f32[] reduce(x, z), " +
           "dimensions={0,1}, to_apply=sum\n  d = f32[] divide(s, n)\n  ROOT r = f32[] multiply(d, " +
           (scale == divisor ? "n" : "m") + ")\n}\n";
  };
  Add(mean("32", "32", "31"));
  const CompileCause verdict = Add(mean("31", "31", "31"), {{"data.cc", 88, ""}});
  EXPECT_EQ(verdict.reason, CompileReason::kParameter);
  EXPECT_THAT(verdict.text, HasSubstr("parameter 0 was f32[32,512], now f32[31,512], made at data.cc:88"));
}

// Two swapped parameters, beside another operation, are not reported as a changed shape.
TEST_F(Reasons, ParametersInAnotherOrderAreNotTakenForAnotherShape) {
  const auto program = [](const char* first, const char* second, const char* op) {
    return absl::StrCat("HloModule step\nENTRY main {\n  x = f32[", first, "] parameter(0)\n  y = f32[",
                        second, "] parameter(1)\n  a = f32[", first, "] ", op, "(x)\n  b = f32[", second,
                        "] tanh(y)\n  c = f32[", second, "] negate(b)\n  ROOT t = (f32[", first, "], f32[",
                        second, "]) tuple(a, c)\n}\n");
  };
  Add(program("4", "8", "sine"));
  EXPECT_NE(Add(program("8", "4", "cosine")).reason, CompileReason::kParameter);
}

TEST_F(Reasons, AConstantIsNamedWithBothValues) {
  Add(Program("4", "2", "add"));
  const CompileCause verdict = Add(Program("4", "3", "add"));
  EXPECT_EQ(verdict.reason, CompileReason::kConstant);
  EXPECT_THAT(verdict.text, HasSubstr("the constant f32[] 2 is now f32[] 3"));
}

TEST_F(Reasons, AnOperationIsNamedWithBothForms) {
  Add(Program("4", "2", "add"));
  const CompileCause verdict = Add(Program("4", "2", "subtract"));
  EXPECT_EQ(verdict.reason, CompileReason::kOperation);
  EXPECT_THAT(verdict.text, HasSubstr("add f32[4] has become subtract f32[4]"));
}

TEST_F(Reasons, TheNearestOfSeveralIsTaken) {
  Add(Program("4", "2", "add"));
  Add("HloModule other\nENTRY main {\n  p = f32[4] parameter(0)\n  e = f32[4] exponential(p)\n"
      "  ROOT t = f32[4] tanh(e)\n}\n");
  const CompileCause verdict = Add(Program("8", "2", "add"));
  EXPECT_EQ(verdict.reason, CompileReason::kParameter);
  EXPECT_EQ(verdict.nearest, "step");
}

TEST_F(Reasons, WhatIsLikeNothingIsTheFirstOfItsKind) {
  Add(Program("4", "2", "add"));
  const CompileCause verdict =
      Add("HloModule other\nENTRY main {\n  p = f32[4] parameter(0)\n  e = f32[4] exponential(p)\n"
          "  n = f32[4] negate(e)\n  ROOT t = f32[4] tanh(n)\n}\n");
  EXPECT_EQ(verdict.reason, CompileReason::kFirst);
}

TEST_F(Reasons, DonationsAndOptionsAreSeen) {
  const std::unique_ptr<hlo::Module> module = hlo::ParseModule(Program("4", "2", "add")).value();
  AddModule(*module);
  module->config.buffer_donors.push_back({1, {}});
  CompileCause verdict = AddModule(*module);
  EXPECT_EQ(verdict.reason, CompileReason::kDonation);
  EXPECT_THAT(verdict.text, HasSubstr("parameter 1 is now donated"));
  module->config.frontend_attributes["a"] = "b";
  verdict = AddModule(*module);
  EXPECT_EQ(verdict.reason, CompileReason::kOption);
  EXPECT_THAT(verdict.text, HasSubstr("frontend attributes"));
}

TEST_F(Reasons, ResultsInAnotherOrderAreTheSameResults) {
  const auto two = [](const std::string& first, const std::string& second) {
    return "HloModule two\nENTRY main {\n  x = f32[4] parameter(0)\n  a = f32[4] " + first +
           "(x)\n  b = f32[4] " + second + "(x)\n  ROOT r = (f32[4], f32[4]) tuple(a, b)\n}\n";
  };
  Add(two("sine", "cosine"));
  const CompileCause verdict = Add(two("cosine", "sine"));
  EXPECT_EQ(verdict.reason, CompileReason::kResult);
  EXPECT_THAT(verdict.text, HasSubstr("in another order"));
}

TEST_F(Reasons, OnlyNamesMayDiffer) {
  Add(Program("4", "2", "add"));
  std::string renamed = Program("4", "2", "add");
  renamed.replace(renamed.find("HloModule step"), 14, "HloModule stop");
  const CompileCause verdict = Add(renamed);
  EXPECT_EQ(verdict.reason, CompileReason::kNames);
}

}  // namespace
}  // namespace hlod::runtime
