// A step whose machine code is slower than its interpretation is interpreted again. The times are given.
#include <gtest/gtest.h>

#include <memory>

#include "server/engine/tile/kernel.h"

namespace hlod::engine {
namespace {

class Trial : public testing::Test {
 protected:
  static constexpr int64_t kElements = 1 << 20;

  Trial() : slot_(program_, kElements), trial_(slots_, kElements) {}

  // Runs the step `runs` times in `ns` each.
  void Interpreted(int runs, int64_t ns) {
    for (int run = 0; run < runs; ++run) trial_.Count(/*assembled=*/false, ns);
  }
  void Assembled(int runs, int64_t ns) {
    if (slot_.kernel() == nullptr && !slot_.withdrawn()) slot_.Install(std::make_shared<TileKernel>());
    for (int run = 0; run < runs; ++run) trial_.Count(/*assembled=*/true, ns);
  }

  TileProgram program_;
  KernelSlot slot_;
  KernelSlot* const slots_[1] = {&slot_};
  KernelTrial trial_;
};

TEST_F(Trial, CodeThatIsSlowerInEveryRunIsWithdrawn) {
  Interpreted(2, 1000);
  Assembled(7, 1300);
  EXPECT_FALSE(slot_.withdrawn());
  Assembled(1, 1200);
  EXPECT_TRUE(slot_.withdrawn());
  EXPECT_EQ(slot_.kernel(), nullptr);
}

TEST_F(Trial, CodeThatIsFasterOnceStays) {
  Interpreted(1, 5000);
  Interpreted(2, 1000);
  Assembled(1, 1140);
  Assembled(20, 3000);
  EXPECT_FALSE(slot_.withdrawn());
  EXPECT_NE(slot_.kernel(), nullptr);
}

TEST_F(Trial, TheFirstRunOfAPlanDoesNotCount) {
  Interpreted(1, 1000);  // The only interpreted run: it also waited for pages.
  Assembled(20, 5000);
  EXPECT_FALSE(slot_.withdrawn());
}

TEST_F(Trial, OnlyRunsOfOneFormAreMeasured) {
  int runs = 0;
  const auto run = [&] {
    ++runs;
    return absl::OkStatus();
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(trial_.Measure(run).ok());
  // The code arrives during the run.
  EXPECT_TRUE(trial_
                  .Measure([&] {
                    slot_.Install(std::make_shared<TileKernel>());
                    return run();
                  })
                  .ok());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(trial_.Measure(run).ok());
  EXPECT_EQ(runs, 24);
  EXPECT_EQ(trial_.Measure([] { return absl::CancelledError(); }).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace hlod::engine
