// Who runs when on one device.
#include "server/device/device_queue.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

namespace hlod::device {
namespace {

TEST(DeviceQueue, ShortWorkOnAnIdleDeviceRunsHere) {
  DeviceQueue queue(0);
  std::thread::id ran;
  queue.Submit(1, 1.0, [&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(DeviceQueue, LongWorkRunsOnTheDriver) {
  DeviceQueue queue(0);
  std::promise<std::thread::id> ran;
  queue.Submit(1, 1000.0, [&] { ran.set_value(std::this_thread::get_id()); });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(DeviceQueue, SessionsTakeTurns) {
  DeviceQueue queue(0);
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  queue.Submit(9, 1000.0, [opened] { opened.wait(); });
  std::mutex mu;
  std::string order;
  const auto note = [&](char who) {
    return [&order, &mu, who] {
      std::lock_guard<std::mutex> lock(mu);
      order += who;
    };
  };
  for (int i = 0; i < 4; ++i) queue.Submit(1, 1000.0, note('a'));
  for (int i = 0; i < 2; ++i) queue.Submit(2, 1000.0, note('b'));
  gate.set_value();
  ASSERT_TRUE(queue.Drain(std::chrono::seconds(10)));
  EXPECT_EQ(order, "ababaa");
}

TEST(DeviceQueue, ShortWorkDoesNotOvertakeItsOwnSession) {
  DeviceQueue queue(0);
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  std::string order;
  queue.Submit(1, 1000.0, [&order, opened] {
    opened.wait();
    order += 'a';
  });
  queue.Submit(1, 1.0, [&order] { order += 'b'; });
  gate.set_value();
  ASSERT_TRUE(queue.Drain(std::chrono::seconds(10)));
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace hlod::device
