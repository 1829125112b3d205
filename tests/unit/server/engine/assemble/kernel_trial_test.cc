// A step whose machine code is slower than its interpretation is interpreted again. The clock is the test's.
#include <gtest/gtest.h>

#include <memory>

#include "server/engine/tile/kernel_trial.h"

namespace hlod::engine {
namespace {

class Trial : public testing::Test {
 protected:
  static constexpr int64_t kElements = 1 << 20;

  Trial() : slot_(program_, kElements), trial_(slots_, kElements, [] { return now; }) { now = 0; }

  // Runs the step `runs` times, each of which takes `ns`.
  void Run(int runs, int64_t ns) {
    for (int run = 0; run < runs; ++run) RunWhile(ns, [] {});
  }
  // Runs the step once, while something happens.
  template <typename Event>
  void RunWhile(int64_t ns, Event event) {
    const auto run = [&] {
      event();
      now += ns;
      return absl::OkStatus();
    };
    EXPECT_TRUE(trial_.Measure(run).ok());
  }
  void Install() { slot_.Install(std::make_shared<TileKernel>()); }

  static inline int64_t now = 0;
  TileProgram program_;
  KernelSlot slot_;
  KernelSlot* const slots_[1] = {&slot_};
  KernelTrial trial_;
};

TEST_F(Trial, CodeThatIsSlowerInEveryRunIsWithdrawn) {
  Run(2, 1000);
  Install();
  Run(7, 1300);
  EXPECT_FALSE(slot_.withdrawn());
  Run(1, 1200);
  EXPECT_TRUE(slot_.withdrawn());
  EXPECT_EQ(slot_.kernel(), nullptr);
}

TEST_F(Trial, CodeThatIsFasterOnceStays) {
  Run(1, 5000);
  Run(2, 1000);
  Install();
  Run(1, 1140);
  Run(20, 3000);
  EXPECT_FALSE(slot_.withdrawn());
  EXPECT_NE(slot_.kernel(), nullptr);
}

TEST_F(Trial, TheFirstRunOfAPlanDoesNotCount) {
  Run(1, 1000);  // The only interpreted run: it also waited for pages.
  Install();
  Run(20, 5000);
  EXPECT_FALSE(slot_.withdrawn());
}

TEST_F(Trial, ARunDuringWhichTheCodeArrivesIsNotOneOfTheCode) {
  Run(3, 1000);
  RunWhile(100,
           [&] { Install(); });  // As a run of the code, it would be a fast one, and the code would stay.
  Run(8, 2000);
  EXPECT_TRUE(slot_.withdrawn());
}

TEST_F(Trial, ARunDuringWhichTheCodeArrivesIsNotInterpreted) {
  Run(3, 1000);
  RunWhile(100, [&] { Install(); });  // As an interpreted run, it would make the code the slower one.
  Run(8, 1000);
  EXPECT_FALSE(slot_.withdrawn());
}

TEST_F(Trial, ARunThatFailsDoesNotCount) {
  Run(3, 1000);
  Install();
  const absl::Status cancelled = trial_.Measure([] { return absl::CancelledError(); });  // After 0 ns.
  EXPECT_EQ(cancelled.code(), absl::StatusCode::kCancelled);
  Run(8, 2000);
  EXPECT_TRUE(slot_.withdrawn());
}

}  // namespace
}  // namespace hlod::engine
