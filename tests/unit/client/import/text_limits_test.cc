// Text that is cut, changed, deep or large: an error or a program, never a crash, in time that grows with the
// text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "client/import/program/operation.h"
#include "tests/support/source_dir.h"

namespace hlod::stablehlo {
namespace {

using testing::HasSubstr;

std::vector<std::string> Seeds() {
  return {BytesOf(SourceDir() / "tests/unit/client/import/forms/pretty.mlir"),
          BytesOf(SourceDir() / "tests/unit/client/import/forms/generic.mlir"),
          BytesOf(CasesDir("stablehlo") / "scan/module.located.mlir"),
          BytesOf(CasesDir("stablehlo") / "manual_computation/module.mlir")};
}

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

TEST(TextLimits, BeginningsAreErrors) {
  for (const std::string& seed : Seeds()) {
    ASSERT_FALSE(seed.empty());
    // Cuts off at least the last brace.
    const size_t end = seed.rfind('}');
    for (size_t i = 10; i < end; i += 1 + seed.size() / 150)
      EXPECT_FALSE(ParseText(seed.substr(0, i)).ok()) << i;
  }
}

TEST(TextLimits, ChangedTextIsAnErrorOrAProgram) {
  std::mt19937 random(20);
  const std::string_view pieces[] = {
      "<",       ">",    "(",  ")",       "{",    "}",  "[",  "]",  ",", ":",     "=",
      "\"",      "%0",   "#0", "@",       "^bb0", "!t", "->", "0x", "-", "dense", "99999999999999999999",
      "tensor<", "loc(", "\\", "\n#a = ", "?",    "x",  "\0"};
  for (const std::string& seed : Seeds()) {
    for (int round = 0; round < 300; ++round) {
      std::string text = seed.substr(random() % (seed.size() / 2), 3000);
      if (round % 2 == 0) text = seed.substr(0, 4000);
      for (int change = 0; change < 3; ++change) {
        const size_t at = random() % text.size();
        if (random() % 2 == 0) {
          text.erase(at, random() % 20);
        } else {
          text.insert(at, pieces[random() % std::size(pieces)]);
        }
      }
      ParseText(text).IgnoreError();
    }
  }
}

TEST(TextLimits, NestingHasALimit) {
  constexpr int kDeep = 100'000;
  const std::string limit = "the nesting exceeds the limit of 128 levels here";
  const std::string attribute = "module attributes {a = ";
  const auto error = [](const std::string& text) { return std::string(ParseText(text).status().message()); };
  EXPECT_THAT(error(attribute + Repeat("[", kDeep)), HasSubstr(limit));
  EXPECT_THAT(error(attribute + Repeat("{b = ", kDeep)), HasSubstr(limit));
  EXPECT_THAT(error("func.func @f(%a: " + Repeat("tuple<", kDeep)), HasSubstr(limit));
  EXPECT_THAT(error("func.func @f() { " + Repeat("\"a.b\"() ({", kDeep)), HasSubstr(limit));
  EXPECT_THAT(error("func.func @f() { return loc(" + Repeat("callsite(", kDeep)), HasSubstr(limit));
  EXPECT_THAT(error("module attributes {a = #x.y" + Repeat("<", kDeep)), HasSubstr("never closed"));
  // Nesting by aliases, each of which has the maximum depth.
  std::string aliases = "#a0 = 1\n";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&aliases, "#a", i, " = [#a", i - 1, "]\n");
  EXPECT_THAT(error(aliases + "module {}"), HasSubstr("levels here"));
  aliases = "#a0 = 1\n";  // The last alias is read first.
  for (int i = 1; i < 1000; ++i) aliases = absl::StrCat("#a", i, " = [#a", i - 1, "]\n") + aliases;
  EXPECT_THAT(error(aliases + "module {}"), HasSubstr("levels here"));
}

TEST(TextLimits, AliasesDoNotMultiply) {
  std::string text = "#a0 = [1, 2, 3, \"x\"]\n";
  for (int i = 1; i < 60; ++i) absl::StrAppend(&text, "#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  EXPECT_EQ(ParseText(text + "module {}").status().code(), absl::StatusCode::kResourceExhausted);
  text = "!t0 = tuple<>\n";
  for (int i = 1; i < 60; ++i) absl::StrAppend(&text, "!t", i, " = tuple<!t", i - 1, ", !t", i - 1, ">\n");
  EXPECT_FALSE(ParseText(text + "module {}").ok());
}

TEST(TextLimits, ClaimsAreNotBelieved) {
  EXPECT_FALSE(ParseText("func.func @f() { %0:1000000 = \"a.b\"() : () -> () return }").ok());
  EXPECT_FALSE(ParseText("func.func @f() { %0:999999999999 = \"a.b\"() : () -> () return }").ok());
  EXPECT_FALSE(ParseText("module attributes {a = dense<[1]> : tensor<999999999999xi8>} {}").ok());
  EXPECT_FALSE(ParseText("module attributes {a = dense<\"0x\"> : tensor<999999999999xi8>} {}").ok());
  EXPECT_FALSE(
      ParseText("module attributes {a = #stablehlo.conv<[b, f, 99999999999]x[i, o]->[b, f]>} {}").ok());
}

// The function has a hundred thousand operations, with their errors: lines are indexed only once.
TEST(TextLimits, ALongFunctionIsReadInOneGo) {
  std::string text = "func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {\n";
  constexpr int kOperations = 100'000;
  for (int i = 1; i <= kOperations; ++i)
    absl::StrAppend(&text, "  %v", i, " = stablehlo.add %v", i - 1, ", %v", i / 2,
                    " : tensor<4xf32> loc(\"add\"(\"f.py\":", i, ":1))\n");
  const absl::StatusOr<Program> program =
      ParseText(absl::StrCat(text, "  return %v", kOperations, " : tensor<4xf32>\n}\n"));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<Operation>& operations = program->functions[0].body.blocks[0].operations;
  ASSERT_EQ(operations.size(), kOperations + 1);
  EXPECT_EQ(operations.back().location.read_line, kOperations + 2);
  EXPECT_EQ(operations[77].location.line, 78);
}

}  // namespace
}  // namespace hlod::stablehlo
