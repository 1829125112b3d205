// The memory of offers that wait is that of the daemon that makes them, whomever it names.
#include "server/grpc/launches/offer_shares.h"

#include <gtest/gtest.h>

#include <string>

namespace hlod::grpc_server {
namespace {

// An owner has at most three times what is free, which three quarters are if it is alone.
TEST(OfferShares, ADaemonHasNoMoreForManyUsersThanForOne) {
  constexpr int64_t kMemory = int64_t{1} << 30, kOffer = 1 << 20;
  device::SideMemory memory(kMemory);
  OfferShares shares(memory);
  const auto user = [](int i) { return fabric::Payer{.user = "u" + std::to_string(i), .rank = 2}; };
  std::vector<int> charged;
  for (int i = 0; i < 2000; ++i) {
    if (shares.Charge(user(i), kOffer).ok()) charged.push_back(i);
  }
  EXPECT_GT(charged.size(), 500u);
  EXPECT_LE(memory.used_bytes(), kMemory / 4 * 3);
  EXPECT_TRUE(shares.Charge({.user = "a", .rank = 1}, kOffer).ok()) << "of another daemon";
  EXPECT_TRUE(shares.Charge({.user = "u1"}, kOffer).ok()) << "of this one";
  shares.Discharge({.user = "a", .rank = 1}, kOffer);
  shares.Discharge({.user = "u1"}, kOffer);
  for (const int i : charged) shares.Discharge(user(i), kOffer);
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(OfferShares, AUserLeavesRoomForTheOthersOfItsDaemon) {
  device::SideMemory memory(int64_t{1} << 30);
  OfferShares shares(memory);
  while (shares.Charge({.user = "greedy", .rank = 1}, 1 << 20).ok()) {
  }
  EXPECT_TRUE(shares.Charge({.user = "modest", .rank = 1}, 1 << 20).ok());
}

}  // namespace
}  // namespace hlod::grpc_server
