// Arrays and programs in order, with the bytes that the device held, added up by hand.
#include "client/pjrt/devices/held_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace hlod::pjrt {
namespace {

runtime::Command Sent() { return std::make_shared<runtime::CommandState>(); }
void End(const runtime::Command& command, absl::Status status = absl::OkStatus()) {
  command->status = std::move(status);
  command->done = true;
}

class HeldMemoryCounts : public ::testing::Test {
 protected:
  void Expect(int64_t in_use, int64_t peak) {
    const HeldMemory::Figures figures = held_.figures();
    EXPECT_EQ(figures.in_use, in_use);
    EXPECT_EQ(figures.peak, peak);
  }
  HeldMemory held_;
  const char a_ = 0, b_ = 0, c_ = 0;  // Their addresses stand for buffers.
};

TEST_F(HeldMemoryCounts, ArraysOnTheirWayCount) {
  held_.Add(&a_, 100, Sent());
  held_.Add(&b_, 10, nullptr);
  Expect(110, 110);
  held_.Remove(&a_, 100);
  Expect(10, 110);
}

// A device of 64 bytes: 40 are there, 50 are refused, and then 20 have room.
TEST_F(HeldMemoryCounts, WhatTheDaemonRefusedWasNeverThere) {
  const runtime::Command first = Sent(), second = Sent(), third = Sent();
  held_.Add(&a_, 40, first);
  held_.Add(&b_, 50, second);
  held_.Add(&c_, 20, third);
  End(first);
  End(second, absl::ResourceExhaustedError("too large"));
  End(third);
  Expect(60, 60);
  held_.Remove(&b_, 50);
  Expect(60, 60);
  held_.Remove(&a_, 40);
  Expect(20, 60);
  held_.Add(&b_, 5, nullptr);  // The address is that of another buffer now.
  held_.Remove(&b_, 5);
  Expect(20, 60);
}

TEST_F(HeldMemoryCounts, TheOrderIsThatOfTheCalls) {
  const runtime::Command first = Sent(), second = Sent();
  held_.Add(&a_, 40, first);
  held_.Remove(&a_, 40);
  held_.Add(&b_, 30, second);
  End(second);
  Expect(30, 40);
  End(first);
  Expect(30, 40);  // They were never there together.
}

TEST_F(HeldMemoryCounts, TemporariesArePartOfThePeakIfTheProgramRan) {
  const runtime::Command ran = Sent(), refused = Sent();
  held_.Add(&a_, 40, nullptr);
  held_.Run(100, ran);
  held_.Run(1000, refused);
  End(refused, absl::ResourceExhaustedError("too large"));
  End(ran);
  Expect(40, 140);
  held_.ForgetPeak();
  Expect(40, 40);
}

}  // namespace
}  // namespace hlod::pjrt
