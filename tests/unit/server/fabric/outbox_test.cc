// Offers that wait for their way to a leader are charged to a user once they are taken back.
#include "server/fabric/outbox.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/base/errors/error.h"
#include "tests/unit/server/fabric/no_work.h"

namespace hlod::fabric {
namespace {

struct Accountant : NoWork {
  absl::Status Charge(const Payer& payer, int64_t bytes) override {
    if (charged[payer.user] + bytes > room) return ToStatus({.kind = ErrorKind::kLimit, .text = "no room"});
    charged[payer.user] += bytes;
    return absl::OkStatus();
  }
  void Discharge(const Payer& payer, int64_t bytes) override { charged[payer.user] -= bytes; }

  std::map<std::string, int64_t> charged;
  int64_t room = 10'000;
};

v1::LaunchOffer OfferOf(uint64_t sequence, bool takes_back) {
  v1::LaunchOffer offer;
  offer.set_group(7);
  offer.set_sequence(sequence);
  offer.set_user("a");
  if (takes_back) offer.mutable_error()->set_text("The executable does not exist.");
  return offer;
}

TEST(Outbox, WhatTakesAnOfferBackIsChargedUntilItIsOnItsWay) {
  Accountant work;
  Outbox outbox(work);
  outbox.Add(1, OfferOf(1, false));
  EXPECT_EQ(work.charged["a"], 0) << "the execute is charged";
  outbox.Add(1, OfferOf(1, true));
  outbox.Add(1, OfferOf(2, true));
  outbox.Add(2, OfferOf(3, true));
  const int64_t three = work.charged["a"];
  EXPECT_GT(three, 3 * 30);
  outbox.Add(1, OfferOf(2, true));
  EXPECT_EQ(work.charged["a"], three) << "it replaces the one before";
  EXPECT_TRUE(outbox.Next(1)->has_error());
  EXPECT_EQ(outbox.Next(1)->sequence(), 2u);
  EXPECT_FALSE(outbox.Next(1).has_value());
  EXPECT_EQ(work.charged["a"], three / 3);
  outbox.Drop(2);
  EXPECT_EQ(work.charged["a"], 0);
  EXPECT_TRUE(outbox.empty());
}

TEST(Outbox, AClientThatTakesBackFasterThanItsLeaderReadsHoldsNoMoreThanItsRoom) {
  Accountant work;
  Outbox outbox(work);
  for (uint64_t sequence = 1; sequence <= 1000; ++sequence) outbox.Add(1, OfferOf(sequence, true));
  EXPECT_LE(work.charged["a"], work.room);
  int64_t waiting = 0;
  for (; outbox.Next(1).has_value(); ++waiting) {
  }
  EXPECT_GT(waiting, 10);
  EXPECT_LT(waiting, 300);
  EXPECT_EQ(work.charged["a"], 0);
}

}  // namespace
}  // namespace hlod::fabric
