// Writes budgets from measured values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "client/analysis/check/budget.h"
#include "common/base/system/file.h"

namespace hlod::analysis {
namespace {

using testing::HasSubstr;

std::string Path(const std::string& name) { return testing::TempDir() + name; }

TEST(BudgetUpdate, CommentsOrderAndKeysStay) {
  const std::string path = Path("update.toml");
  ASSERT_TRUE(WriteFile(path,
                        "# The training step.\n"
                        "flops = 1e9          # of one step\n"
                        "peak_bytes = \"1GiB\"  # of one chip\n")
                  .ok());
  const Budget values = {{"flops", 1.5e6}, {"peak_bytes", 300.5 * (1 << 20)}, {"temporary_bytes", 5}};
  ASSERT_TRUE(UpdateBudget(path, values).ok());
  EXPECT_EQ(ReadFile(path).value(),
            "# The training step.\n"
            "flops = 1500000          # of one step\n"
            "peak_bytes = \"301MiB\"  # of one chip\n");
  EXPECT_TRUE(Compare(ReadBudget(path).value(), values)->empty());
}

TEST(BudgetUpdate, AMissingFileIsWrittenWithWhatIsNotZero) {
  const std::string path = Path("fresh.toml");
  static_cast<void>(remove(path.c_str()));
  const Budget values = {{"flops", 0}, {"peak_bytes", 1000}, {"step_seconds", 0.00069812}};
  ASSERT_TRUE(UpdateBudget(path, values).ok());
  const Budget read = ReadBudget(path).value();
  EXPECT_EQ(read.size(), 2u);
  EXPECT_EQ(read.at("peak_bytes"), 1000);
  EXPECT_GE(read.at("step_seconds"), 0.00069812);
  EXPECT_LT(read.at("step_seconds"), 0.00069812 * 1.01);
}

// A loop of 2^40 iterations over an array of 256 MiB reads 2^68 bytes.
TEST(BudgetUpdate, MoreBytesThanAnInt64CountsAreALimit) {
  const std::string path = Path("huge.toml");
  static_cast<void>(remove(path.c_str()));
  const double bytes = std::ldexp(1, 68);
  ASSERT_TRUE(UpdateBudget(path, {{"traffic_bytes", bytes}}).ok());
  EXPECT_GE(ReadBudget(path).value().at("traffic_bytes"), bytes);
  EXPECT_LT(ReadBudget(path).value().at("traffic_bytes"), bytes * 1.01);
}

TEST(BudgetUpdate, AFileThatIsNotABudgetIsLeftAlone) {
  const std::string path = Path("other.toml");
  ASSERT_TRUE(WriteFile(path, "\npeek_bytes = 1\n").ok());
  EXPECT_THAT(std::string(UpdateBudget(path, {{"peak_bytes", 1}}).message()),
              HasSubstr("other.toml:2: peek_bytes"));
  EXPECT_EQ(ReadFile(path).value(), "\npeek_bytes = 1\n");
  ASSERT_TRUE(WriteFile(path, "step_seconds = 1\n").ok());
  EXPECT_THAT(std::string(UpdateBudget(path, {{"peak_bytes", 1}}).message()), HasSubstr("give --target"));
}

}  // namespace
}  // namespace hlod::analysis
