// Limits the instructions that a process uses, on any processor.
#include "common/base/system/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/system/cpu_limit.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;

// Restores the earlier limit after a test.
class CpuLimits : public ::testing::Test {
 protected:
  void TearDown() override { LimitCpu(before_); }
  const std::optional<CpuLevel> before_ = CpuLimit();
};

TEST_F(CpuLimits, ANameIsALevelThatTheProcessorHas) {
  EXPECT_EQ(ParseCpuLimit("all", CpuLevel::kBaseline).value(), std::nullopt);
  EXPECT_EQ(ParseCpuLimit("baseline", CpuLevel::kAvx2).value(), CpuLevel::kBaseline);
  EXPECT_EQ(ParseCpuLimit("avx2", CpuLevel::kAvx2).value(), CpuLevel::kAvx2);
  EXPECT_EQ(ParseCpuLimit("avx512", CpuLevel::kAvx512).value(), CpuLevel::kAvx512);
}

TEST_F(CpuLimits, WhatTheProcessorLacksIsRefusedWithWhatItHas) {
  const absl::Status lacking = ParseCpuLimit("avx512", CpuLevel::kAvx2).status();
  EXPECT_EQ(lacking.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(lacking.message(), "this processor lacks avx512; it has all, baseline, avx2");
  EXPECT_EQ(ParseCpuLimit("AVX2", CpuLevel::kBaseline).status().message(),
            "\"AVX2\" is not one of all, baseline");
  EXPECT_FALSE(ParseCpuLimit("", CpuLevel::kAvx512).ok());
}

TEST_F(CpuLimits, NothingAboveTheLimitIsUsed) {
  LimitCpu(std::nullopt);
  EXPECT_EQ(BestCpuLevel(), ProcessorCpuLevel());
  for (const CpuLevel limit : {CpuLevel::kBaseline, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    LimitCpu(limit);
    EXPECT_EQ(BestCpuLevel(), std::min(limit, ProcessorCpuLevel())) << Name(limit);
    EXPECT_FALSE(UsesCpuExtension(CpuExtension::kVpopcntdq)) << Name(limit);
  }
  LimitCpu(CpuLevel::kBaseline);
  EXPECT_FALSE(UsesCpuExtension(CpuExtension::kF16c));
}

TEST_F(CpuLimits, AnotherLimitIsAnotherProcessorToCaches) {
  LimitCpu(std::nullopt);
  const std::string all = DescribeCpu();
  LimitCpu(CpuLevel::kBaseline);
  EXPECT_THAT(DescribeCpu(), HasSubstr("limit baseline"));
  EXPECT_NE(DescribeCpu(), all);
}

}  // namespace
}  // namespace hlod
