// Launches of several processes wait for a long time for one that lives, and not at all for one that has
// ended.
#include "server/fabric/departures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/fabric/offers.h"
#include "tests/unit/server/fabric/no_work.h"
#include "tests/unit/server/fabric/simulation.h"

namespace hlod::fabric {
namespace {

constexpr uint64_t kGroup = 9;

v1::LaunchOffer OfferOfThree(uint64_t sequence, bool separate = true) {
  v1::LaunchOffer offer;
  offer.set_group(kGroup);
  offer.set_sequence(sequence);
  offer.set_user("a");
  offer.set_separate(separate);
  offer.set_digest(std::string(32, 'd'));
  for (const uint32_t rank : {0u, 1u, 2u}) {
    offer.add_parts()->set_rank(rank);
    offer.mutable_parts()->rbegin()->add_devices(0);
  }
  return offer;
}

// The leader has rank 0.
class Leaving : public ::testing::Test {
 protected:
  struct Refusal {
    uint32_t rank;
    std::string text;
    bool operator==(const Refusal&) const = default;
  };
  bool Begins(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us = 0) {
    const absl::StatusOr<std::optional<LaunchSpec>> launch = offers.Take(rank, offer, now_us);
    EXPECT_TRUE(launch.ok()) << launch.status();
    return launch.ok() && launch->has_value();
  }
  static std::string Ended(uint32_t rank) {
    return "The process with a part on n" + std::to_string(rank) +
           " has ended, or has lost its session: its own output says why. If it says nothing, it has launched "
           "fewer programs than the others: where it left one out, for example after an error that it caught, "
           "its next launch was taken for that one.";
  }

  NoWork work;
  LaunchLimits limits{.prepare_wait_us = 30'000'000, .separate_wait_us = 600'000'000};
  std::vector<Refusal> refused;
  Offers offers{limits, work, [] { return 0u; },
                [this](uint32_t rank, const v1::PeerMessage& message) {
                  if (message.has_offer_refused())
                    refused.push_back({rank, message.offer_refused().error().text()});
                },
                [](uint32_t rank) { return "n" + std::to_string(rank); }};
};

// A process comes to a launch that was refused long before: it does not wait for the others.
TEST_F(Leaving, APartThatComesLateLearnsThatItsLaunchWasRefused) {
  EXPECT_FALSE(Begins(0, OfferOfThree(1)));
  v1::LaunchOffer back = OfferOfThree(1);
  back.mutable_error()->set_code(1);
  EXPECT_FALSE(Begins(1, back));
  EXPECT_FALSE(Begins(1, OfferOfThree(2)));
  back = OfferOfThree(2);
  back.mutable_error()->set_code(1);
  EXPECT_FALSE(Begins(2, back));
  offers.Tick(500'000'000);
  refused.clear();
  EXPECT_FALSE(Begins(2, OfferOfThree(1), 500'000'000));
  EXPECT_FALSE(Begins(0, OfferOfThree(2), 500'000'000));
  ASSERT_EQ(refused.size(), 3u);
  EXPECT_EQ(refused[0].rank, 2u) << "of launch 1";
}

TEST_F(Leaving, EndsWhatWaitsForIt) {
  EXPECT_FALSE(Begins(0, OfferOfThree(1)));
  EXPECT_FALSE(Begins(1, OfferOfThree(1)));
  offers.OnLeft(2, kGroup + 1, 0);
  EXPECT_TRUE(refused.empty()) << "it has left another group";
  offers.OnLeft(2, kGroup, 0);
  EXPECT_EQ(refused, (std::vector<Refusal>{{0, Ended(2)}, {1, Ended(2)}}));
}

TEST_F(Leaving, EndsWhatComesLater) {
  offers.OnLeft(2, kGroup, 0);
  EXPECT_FALSE(Begins(1, OfferOfThree(1)));
  EXPECT_FALSE(Begins(0, OfferOfThree(1)));
  EXPECT_EQ(refused.size(), 2u);
  offers.OnGone(2, absl::UnavailableError("silent"), 0);  // It comes back, and the process does not.
  EXPECT_FALSE(Begins(0, OfferOfThree(2)));
  EXPECT_EQ(refused.size(), 3u);
}

TEST_F(Leaving, IsSaidByTheLeadersOwnProcessToo) {
  EXPECT_FALSE(Begins(1, OfferOfThree(1)));
  offers.OnLeft(0, kGroup, 0);
  EXPECT_EQ(refused, (std::vector<Refusal>{{1, Ended(0)}}));
  EXPECT_FALSE(Begins(2, OfferOfThree(2)));
  EXPECT_EQ(refused.back(), (Refusal{2, Ended(0)}));
}

TEST_F(Leaving, DoesNotConcernWhatItHasOfferedNorLaunchesOfOneClient) {
  EXPECT_FALSE(Begins(2, OfferOfThree(1)));
  EXPECT_FALSE(Begins(0, OfferOfThree(1)));
  offers.OnLeft(2, kGroup, 0);
  EXPECT_TRUE(Begins(1, OfferOfThree(1)));
  EXPECT_FALSE(Begins(0, OfferOfThree(2, /*separate=*/false)));
  EXPECT_FALSE(Begins(1, OfferOfThree(2, false)));
  EXPECT_TRUE(Begins(2, OfferOfThree(2, false)));  // The client has opened another session there.
  EXPECT_TRUE(refused.empty());
}

TEST_F(Leaving, IsNotNeededForTheEndOfPatience) {
  EXPECT_FALSE(Begins(1, OfferOfThree(1)));  // The leader's own one is late.
  EXPECT_FALSE(Begins(0, OfferOfThree(2)));  // Another one is.
  EXPECT_FALSE(Begins(0, OfferOfThree(3, /*separate=*/false)));
  offers.Tick(31'000'000);
  EXPECT_EQ(refused.size(), 1u) << "parts of one client come together";
  offers.Tick(599'000'000);
  EXPECT_EQ(refused.size(), 1u);
  offers.Tick(601'000'000);
  EXPECT_EQ(refused.size(), 3u);
}

TEST(Departures, KeepTheLatestOfEachDaemon) {
  Departures departures;
  departures.Note(1, kGroup);
  for (uint64_t group = 100; group < 100 + Departures::kGroupsMax; ++group) departures.Note(2, group);
  departures.Note(2, 100);  // Known.
  EXPECT_TRUE(departures.Has(2, 100));
  departures.Note(2, 1);
  EXPECT_FALSE(departures.Has(2, 100));
  EXPECT_TRUE(departures.Has(1, kGroup)) << "what one says makes no other one's forgotten";
}

// Every member learns of it, however many groups end at once.
TEST(Leave, ReachesTheLeader) {
  Simulation simulation{SimulationOptions()};
  ASSERT_TRUE(simulation.Run(60'000'000, [&] { return simulation.Complete(); }));
  ASSERT_TRUE(simulation.Offer(0, OfferOfThree(1)));
  ASSERT_TRUE(simulation.Offer(2, OfferOfThree(1)));
  for (uint64_t group = 1000; group < 1600; ++group) simulation.group(1).Leave(group, simulation.now());
  simulation.group(1).Leave(kGroup, simulation.now());
  EXPECT_TRUE(
      simulation.Run(simulation.now() + 5'000'000, [&] { return simulation.group(0).offers().size() == 0; }));
}

}  // namespace
}  // namespace hlod::fabric
