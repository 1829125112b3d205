// Chips, budgets and check results. Figures are computed by hand, or from the public tables that chips.inc
// names.
#include "client/analysis/check/module_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/system/file.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using hlo::Shape;
using testing::HasSubstr;

std::string File(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + name;
  EXPECT_TRUE(WriteFile(path, text).ok());
  return path;
}

Target TargetOf(const std::string& text) { return ParseTarget(text, KnownChips().value()).value(); }

TEST(Chips, TpusPadArraysToTiles) {
  const Chip chip = TargetOf("v5e").chip;
  EXPECT_EQ(BytesOn(chip, Shape::Array(hlo::kF32, {100'000, 3})), 100'000 * 128 * 4);
  EXPECT_EQ(BytesOn(chip, Shape::Array(hlo::kBF16, {2, 17, 128})), 2 * 32 * 128 * 2);
  EXPECT_EQ(BytesOn(chip, Shape::Array(hlo::kS8, {1, 1})), 32 * 128);
  EXPECT_EQ(BytesOn(chip, Shape::Array(hlo::kF32, {3})), 1024);
  EXPECT_EQ(BytesOn(TargetOf("h100").chip, Shape::Array(hlo::kF32, {3})), 12);
  // 2^57 rows are padded from one element to 128; the product has 2^64.
  EXPECT_EQ(BytesOn(chip, Shape::Array(hlo::kS8, {int64_t{1} << 57, 1})), INT64_MAX);
}

TEST(ModuleChecks, MoreBytesThanCanBeCountedAreAnError) {
  const auto module = hlo::ParseModule(R"(HloModule huge
ENTRY main {
  x = f32[2305843009213693951] parameter(0)
  y = f32[2305843009213693951] add(x, x)
  ROOT z = f32[2305843009213693951] multiply(y, x)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  for (const std::optional<Target>& target : {std::optional<Target>(), std::optional(TargetOf("v5e"))}) {
    const absl::Status status = CheckModule(**module, target, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(status.message()), HasSubstr("huge cannot be estimated"));
  }
}

TEST(Chips, AnUnknownOneIsAnsweredWithTheNearest) {
  const absl::Status status = ParseTarget("v5q", KnownChips().value()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"v5q\" is not known; the nearest are v5"));
  EXPECT_THAT(std::string(ParseTarget("v5p:0", KnownChips().value()).status().message()), HasSubstr("\"0\""));
  EXPECT_EQ(TargetOf("v5p:128").count, 128);
}

TEST(Chips, AFileAddsSome) {
  const auto chips = KnownChips(File("chips.toml", R"([chips.mine]
memory_bytes = 1e9
bandwidth = 1e12
flops = 1e13
)"));
  ASSERT_TRUE(chips.ok()) << chips.status();
  EXPECT_EQ(ParseTarget("mine", *chips)->chip.usable_bytes, 1e9);
  const auto wrong = KnownChips(File("wrong.toml", "[chips.mine]\nmemory = 1\n"));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("chips.mine: memory is not known"));
  const auto missing = KnownChips(File("missing.toml", "[chips.mine]\nflops = 1\n"));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("memory_bytes is missing"));
}

TEST(Budgets, KeysAndUnitsAreChecked) {
  const auto budget = ReadBudget(File("budget.toml", "peak_bytes = \"80GiB\"\nflops = 1.5e15\n"));
  ASSERT_TRUE(budget.ok()) << budget.status();
  EXPECT_EQ(budget->at("peak_bytes"), 80.0 * (1 << 30));
  EXPECT_EQ(budget->at("flops"), 1.5e15);
  const auto key = ReadBudget(File("key.toml", "\npeek_bytes = 1\n"));
  EXPECT_THAT(std::string(key.status().message()), HasSubstr("key.toml:2: peek_bytes cannot be limited; the "
                                                             "nearest that can is peak_bytes"));
  const auto unit = ReadBudget(File("unit.toml", "peak_bytes = \"80 gigs\"\n"));
  EXPECT_THAT(std::string(unit.status().message()), HasSubstr("unit.toml:1: peak_bytes: \"80 gigs\""));
  EXPECT_FALSE(ReadBudget(File("flops.toml", "flops = \"1GiB\"\n")).ok());
  EXPECT_THAT(std::string(ReadBudget(File("negative.toml", "flops = -1\n")).status().message()),
              HasSubstr("negative.toml:1: flops is -1, and a limit is not negative"));
  EXPECT_THAT(std::string(ReadBudget(File("long.toml", std::string(1 << 16, '\n'))).status().message()),
              HasSubstr("has 65536 bytes; a TOML file has at most 32768"));
}

// 4096^3 multiplications and additions of bf16: 1.374e11 operations, 1.007e8 bytes.
constexpr char kDot[] = R"(HloModule m
ENTRY e {
  a = bf16[4096,4096] parameter(0), sharding={devices=[4,1]<=[4]}
  b = bf16[4096,4096] parameter(1)
  ROOT d = bf16[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

ModuleReport Check(const std::string& target, const Budget& budget = {}) {
  const auto module = hlo::ParseModule(kDot);
  EXPECT_TRUE(module.ok()) << module.status();
  return CheckModule(**module, TargetOf(target), budget).value();
}

TEST(ModuleCheck, TheRooflineIsThatOfTheChip) {
  EXPECT_NEAR(Check("v5e").step_seconds.low, 0.698e-3, 0.002e-3);
  EXPECT_NEAR(Check("v4").step_seconds.low, 0.500e-3, 0.002e-3);
  EXPECT_NEAR(Check("v6e").step_seconds.low, 0.149e-3, 0.002e-3);
}

TEST(ModuleCheck, ParametersAreDividedByTheirShardings) {
  constexpr double kArray = 4096.0 * 4096 * 2;
  const ModuleReport report = Check("v5e:4");
  EXPECT_EQ(report.peak_bytes.low, kArray / 4 + kArray + kArray / 4);
  EXPECT_EQ(report.peak_bytes.high, kArray / 4 + kArray + kArray);
}

// Each leaf has its own sharding: a chip has a quarter of the first, and all of the second.
TEST(ModuleCheck, LeavesOfATupleAreDividedByTheirShardings) {
  const auto module = hlo::ParseModule(R"(HloModule m
ENTRY e {
  p = (f32[1024,1024], f32[1024,1024]) parameter(0), sharding={{devices=[4,1]<=[4]}, {replicated}}
  ROOT a = f32[1024,1024] get-tuple-element(p), index=0
})");
  ASSERT_TRUE(module.ok()) << module.status();
  constexpr double kArray = 1024.0 * 1024 * 4;
  const ModuleReport report = CheckModule(**module, TargetOf("h100:4"), {}).value();
  EXPECT_EQ(report.peak_bytes.high, kArray / 4 + kArray + kArray);
}

// The first array is divided by eight along two of the mesh's three axes, the second by two along half an
// axis.
TEST(ModuleCheck, AxesOfAMeshDivide) {
  const auto module = hlo::ParseModule(R"(HloModule m
ENTRY e {
  p = f32[1024,1024] parameter(0), sharding={mesh['x'=2,'y'=4,'z'=2], [{'x'}, {'y'}]}
  q = f32[1024,1024] parameter(1), sharding={mesh['x'=2,'y'=4,'z'=2], [{'y':(2)2}, {}]}
  ROOT a = (f32[1024,1024], f32[1024,1024]) tuple(p, q)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  constexpr double kArray = 1024.0 * 1024 * 4;
  const ModuleReport report = CheckModule(**module, TargetOf("h100:16"), {}).value();
  // The two results have no stated sharding: at best, all sixteen chips divide them.
  EXPECT_NEAR(report.peak_bytes.low, kArray / 8 + kArray / 2 + 2 * kArray / 16, 64);
}

TEST(ModuleCheck, FailsOverItsBudgetAndNamesALooseOne) {
  const ModuleReport over = Check("v5e", {{"flops", 1e11}});
  EXPECT_FALSE(over.passed());
  EXPECT_THAT(ToText(over), HasSubstr("FAILED: flops 1.374e+11 is over 1e+11"));
  const ModuleReport loose = Check("v5e", {{"flops", 1e12}});
  EXPECT_TRUE(loose.passed());
  EXPECT_THAT(ToText(loose), HasSubstr("loose: flops 1.374e+11 is less than half of 1e+12"));
}

TEST(ModuleCheck, WhatDoesNotFitFails) {
  const std::vector<Chip> chips = {
      {.name = "small", .memory_bytes = 1e8, .usable_bytes = 9e7, .bandwidth = 1e9, .flops = 1e9}};
  const auto module = hlo::ParseModule(kDot);
  const ModuleReport report = CheckModule(**module, ParseTarget("small", chips).value(), {}).value();
  EXPECT_EQ(report.fit(), ModuleReport::Fit::kDoesNotFit);
  EXPECT_FALSE(report.passed());
}

// jit(lambda x: tanh(x) + 1) over a mesh of 8 with x divided by rows, before and after jaxlib 0.10.2's
// partitioner. Afterwards x is f32[8,16] on each chip, and its sharding is still devices=[8,1].
TEST(CheckModule, APartitionedModuleIsNotDividedOnceMore) {
  constexpr char kBefore[] = R"(
HloModule jit__lambda
ENTRY main.1 {
  x.1 = f32[64,16]{1,0} parameter(0), sharding={devices=[8,1]<=[8]}
  tanh.1 = f32[64,16]{1,0} tanh(x.1)
  constant.1 = f32[] constant(1)
  add.3 = f32[64,16]{1,0} broadcast(constant.1), dimensions={}
  ROOT add.4 = f32[64,16]{1,0} add(tanh.1, add.3)
})";
  constexpr char kAfter[] = R"(
HloModule jit__lambda, num_partitions=8
ENTRY main.0_spmd {
  param = f32[8,16]{1,0} parameter(0), sharding={devices=[8,1]<=[8]}
  tanh.2 = f32[8,16]{1,0} tanh(param)
  constant.0.clone = f32[] constant(1)
  add.1 = f32[8,16]{1,0} broadcast(constant.0.clone), dimensions={}
  ROOT add.6 = f32[8,16]{1,0} add(tanh.2, add.1)
})";
  const Target target = {
      .chip = {.name = "mine", .memory_bytes = 1e9, .usable_bytes = 1e9, .bandwidth = 1, .flops = 1},
      .count = 8};
  const auto check = [&](const char* text) {
    return CheckModule(*hlo::ParseModule(text).value(), target, {}).value();
  };
  const ModuleReport before = check(kBefore), after = check(kAfter);
  EXPECT_FALSE(before.partitioned);
  EXPECT_EQ(before.peak_bytes.low, 2 * 8 * 16 * 4);
  EXPECT_TRUE(after.partitioned);
  EXPECT_EQ(after.peak_bytes.low, before.peak_bytes.low);
  EXPECT_EQ(after.peak_bytes.high, after.peak_bytes.low) << "what one chip runs is one number";
  EXPECT_EQ(after.step_seconds.low, after.traffic.low);
  EXPECT_THAT(ToText(after), HasSubstr("the module is partitioned already"));
  // XLA's dumps as protos do not have the number of partitions.
  const std::unique_ptr<hlo::Module> dumped = hlo::ParseModule(kAfter).value();
  dumped->config.partition_count = 1;
  EXPECT_EQ(CheckModule(*dumped, target, {})->peak_bytes.low, after.peak_bytes.low);
}

// 16 MiB of which a chip holds a quarter, or all: neither end decides.
TEST(CheckModule, WhatNobodyPartitionedIsNeverPassed) {
  constexpr char kModule[] = R"(
HloModule m
ENTRY e {
  x = f32[2048,2048] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[2048,2048] tanh(x)
})";
  Target target = {.chip = {.name = "mine", .memory_bytes = 1e9, .bandwidth = 1, .flops = 1}, .count = 4};
  const auto check = [&](double usable) {
    target.chip.usable_bytes = usable;
    return CheckModule(*hlo::ParseModule(kModule).value(), target, {}).value();
  };
  EXPECT_EQ(check(33 << 20).fit(), ModuleReport::Fit::kFits) << "whole";
  EXPECT_EQ(check(20 << 20).fit(), ModuleReport::Fit::kUnknown);
  EXPECT_FALSE(check(20 << 20).passed());
  EXPECT_TRUE(check(20 << 20).unknown());
  EXPECT_EQ(check(7 << 20).fit(), ModuleReport::Fit::kDoesNotFit);
  EXPECT_FALSE(check(7 << 20).unknown());
}

// A program of shard_map has whole arrays around its manual part, even when that part communicates.
TEST(CheckModule, AManualPartDoesNotMakeAModulePartitioned) {
  constexpr char kManual[] = R"(
HloModule manual, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64] parameter(0), sharding={devices=[4]<=[4]}
  cut = f32[16] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
  sum = f32[16] all-reduce(cut), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add, sharding={manual}
  ROOT whole = f32[64] custom-call(sum), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
})";
  const Target target = {
      .chip = {.name = "mine", .memory_bytes = 1e9, .usable_bytes = 1e9, .bandwidth = 1, .flops = 1},
      .count = 4};
  EXPECT_FALSE(CheckModule(*hlo::ParseModule(kManual).value(), target, {})->partitioned);
}

}  // namespace
}  // namespace hlod::analysis
