// A member of the cluster that lies: what it says to a leader costs itself, and no other daemon's words.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "server/fabric/offers.h"
#include "tests/unit/server/fabric/no_work.h"

namespace hlod::fabric {
namespace {

// The leader has rank 0, rank 1 is honest, and rank 2 is not.
class HostileMembers : public ::testing::Test {
 protected:
  // An offer of a launch of ranks 0 and 1. Rank 2 says that it has a part in it, too.
  static v1::LaunchOffer OfferOf(uint32_t rank, uint64_t group, uint64_t sequence, const std::string& user) {
    v1::LaunchOffer offer;
    offer.set_group(group);
    offer.set_sequence(sequence);
    offer.set_user(user);
    offer.set_digest(std::string(32, 'd'));
    for (uint32_t part = 0; part <= std::max(rank, 1u); ++part) {
      offer.add_parts()->set_rank(part);
      offer.mutable_parts()->rbegin()->add_devices(0);
    }
    return offer;
  }
  static v1::LaunchOffer TakenBack(v1::LaunchOffer offer) {
    offer.mutable_error()->set_code(1);
    offer.mutable_error()->set_text("It was cancelled.");
    return offer;
  }
  void Say(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us = 0) {
    EXPECT_TRUE(offers.Take(rank, offer, now_us).ok());
  }
  // Returns true if the launch begins when the leader's own offer comes.
  bool Begins(uint64_t group, uint64_t sequence, int64_t now_us = 0) {
    const absl::StatusOr<std::optional<LaunchSpec>> launch =
        offers.Take(0, OfferOf(0, group, sequence, "a"), now_us);
    return launch.ok() && launch->has_value();
  }

  NoWork work;
  LaunchLimits limits{.prepare_wait_us = 30'000'000, .offers_max = 4};
  std::multiset<uint32_t> refused;  // The daemons to which a refusal was sent.
  Offers offers{limits, work, [] { return 0u; },
                [this](uint32_t rank, const v1::PeerMessage& message) {
                  if (message.has_offer_refused()) refused.insert(rank);
                },
                [](uint32_t rank) { return "n" + std::to_string(rank); }};
};

TEST_F(HostileMembers, StartNobodysClock) {
  Say(2, OfferOf(2, 9, 1, "a"), 0);
  Say(1, OfferOf(1, 9, 1, "a"), 29'000'000);
  offers.Tick(31'000'000);
  EXPECT_EQ(refused, std::multiset<uint32_t>{2}) << "rank 1 has waited for two seconds";
  EXPECT_TRUE(Begins(9, 1, 32'000'000));
}

// It speaks first of the launches of others, and of more than there is room for.
TEST_F(HostileMembers, EvictOnlyWhatTheyHaveSaid) {
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) Say(2, OfferOf(2, 9, sequence, "a"));
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) Say(1, OfferOf(1, 9, sequence, "a"));
  for (uint64_t sequence = 1; sequence <= 20; ++sequence)
    Say(2, OfferOf(2, 10, sequence, "u" + std::to_string(sequence)));
  EXPECT_EQ(refused.count(1), 0u);
  EXPECT_EQ(refused.count(2), 20u);
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) EXPECT_TRUE(Begins(9, sequence)) << sequence;
}

// Rank 1 takes back two launches of one user, rank 2 many, each of another user.
TEST_F(HostileMembers, EvictNobodysReasons) {
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) Say(1, TakenBack(OfferOf(1, 9, sequence, "a")));
  for (uint64_t sequence = 1; sequence <= 20; ++sequence)
    Say(2, TakenBack(OfferOf(2, 10, sequence, "u" + std::to_string(sequence))));
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) EXPECT_FALSE(Begins(9, sequence)) << sequence;
  EXPECT_EQ(refused, (std::multiset<uint32_t>{0, 0})) << "the leader's session learns at once";
}

// A reason has the length that its daemon likes.
TEST_F(HostileMembers, PayForTheirReasons) {
  struct Accountant : NoWork {
    absl::Status Charge(const Payer& payer, int64_t bytes) override {
      if (payer.rank != 2u || charged + bytes > 100'000) return absl::ResourceExhaustedError("no room");
      charged += bytes;
      return absl::OkStatus();
    }
    void Discharge(const Payer&, int64_t bytes) override { charged -= bytes; }
    int64_t charged = 0;
  } accountant;
  Offers charged(
      LaunchLimits{}, accountant, [] { return 0u; }, [](uint32_t, const v1::PeerMessage&) {},
      [](uint32_t) { return "n"; });
  v1::LaunchOffer offer = OfferOf(2, 9, 1, "a");
  offer.mutable_error()->set_code(1);
  offer.mutable_error()->set_text(std::string(4000, 'x'));
  for (uint64_t sequence = 1; sequence <= 100; ++sequence) {
    offer.set_sequence(sequence);
    EXPECT_TRUE(charged.Take(2, offer, 0).ok());
  }
  EXPECT_GT(accountant.charged, 90'000) << "the last ones had no room, so their reasons are not kept";
  charged.Tick(limits.prepare_wait_us * 2 + 1);
  EXPECT_EQ(accountant.charged, 0);
}

}  // namespace
}  // namespace hlod::fabric
