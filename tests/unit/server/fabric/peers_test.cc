// A daemon ignores what others say of launches that are not theirs, and refuses what has no room.
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/server/fabric/no_work.h"
#include "tests/unit/server/fabric/simulation.h"

namespace hlod::fabric {
namespace {

v1::PrepareLaunch LaunchOfTwo(uint32_t leader) {
  v1::PrepareLaunch launch;
  launch.mutable_launch()->set_leader(leader);
  launch.mutable_launch()->set_number(77);
  launch.set_ticket(1);
  launch.set_group(9);
  launch.set_sequence(1);
  launch.set_digest(std::string(32, 'd'));
  for (const uint32_t rank : {0u, 1u}) {
    v1::LaunchPart& part = *launch.add_parts();
    part.set_rank(rank);
    part.add_devices(0);
  }
  return launch;
}

v1::LaunchOffer OfferOf(const v1::PrepareLaunch& launch) {
  v1::LaunchOffer offer;
  offer.set_group(launch.group());
  offer.set_sequence(launch.sequence());
  offer.set_digest(launch.digest());
  *offer.mutable_parts() = launch.parts();
  return offer;
}

class Peers : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(simulation.Run(60'000'000, [&] { return simulation.Complete(); }));
  }
  // Rank 1 gets a message of another one.
  absl::Status Tell(uint32_t from, const v1::PeerMessage& message) {
    return simulation.group(1).OnMessage(from, message, simulation.now());
  }
  void ExpectTheLaunchRuns() {
    ASSERT_TRUE(simulation.Offer(0, OfferOf(LaunchOfTwo(0))));
    EXPECT_TRUE(
        simulation.Run(simulation.now() + 1'000'000, [&] { return simulation.counts().succeeded == 1; }));
    for (const std::string& text : simulation.violations()) ADD_FAILURE() << text;
  }
  Simulation simulation{SimulationOptions()};
};

// Nobody here has offered a launch of no group: it takes no devices, and what is offered runs beside it.
TEST(UnofferedLaunches, TakeNoDevices) {
  SimulationOptions options;
  options.limits.unoffered_take_devices = false;
  Simulation simulation(options);
  ASSERT_TRUE(simulation.Run(60'000'000, [&] { return simulation.Complete(); }));
  v1::PeerMessage message;
  *message.mutable_prepare() = LaunchOfTwo(2);
  message.mutable_prepare()->set_group(0);
  EXPECT_TRUE(simulation.group(1).OnMessage(2, message, simulation.now()).ok());
  EXPECT_TRUE(simulation.group(1).participant().launches().empty());
  for (v1::LaunchPart& part : *message.mutable_prepare()->mutable_parts()) part.clear_devices();
  EXPECT_TRUE(simulation.group(1).OnMessage(2, message, simulation.now()).ok());
  EXPECT_EQ(simulation.group(1).participant().launches().size(), 1u);
  for (const uint32_t rank : {0u, 1u}) ASSERT_TRUE(simulation.Offer(rank, OfferOf(LaunchOfTwo(0))));
  EXPECT_TRUE(
      simulation.Run(simulation.now() + 1'000'000, [&] { return simulation.counts().succeeded == 1; }));
  // An offer names devices.
  EXPECT_FALSE(simulation.Offer(1, OfferOf(message.prepare())));
}

// It would take devices of this daemon.
TEST_F(Peers, PrepareOnlyWhatWasOfferedToThem) {
  v1::PeerMessage message;
  *message.mutable_prepare() = LaunchOfTwo(0);
  EXPECT_TRUE(Tell(0, message).ok()) << "it may have been taken back";
  EXPECT_TRUE(simulation.group(1).participant().launches().empty());
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  *message.mutable_prepare() = LaunchOfTwo(2);
  EXPECT_TRUE(Tell(2, message).ok());
  EXPECT_TRUE(simulation.group(1).participant().launches().empty()) << "it was offered to rank 0";
  ExpectTheLaunchRuns();
}

TEST_F(Peers, RefuseOnlyWhatWasOfferedToThem) {
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  v1::PeerMessage message;
  message.mutable_offer_refused()->set_group(9);
  message.mutable_offer_refused()->set_sequence(1);
  message.mutable_offer_refused()->mutable_error()->set_code(1);
  EXPECT_EQ(Tell(2, message).message(), "It refuses an offer that was made to n0 (rank 0).");
  EXPECT_EQ(simulation.counts().offers_refused, 0);
  ExpectTheLaunchRuns();
}

// A daemon to which a pass was shown knows the group. It has no part in the launch of ranks 0 and 1, whatever
// it says before these offer theirs, between, or afterwards.
class Stranger : public Peers {
 protected:
  // Tells the leader what rank 2 says.
  void Say(const std::function<void(v1::LaunchOffer&)>& change) {
    v1::PeerMessage message;
    v1::LaunchOffer& offer = *message.mutable_offer();
    offer = OfferOf(LaunchOfTwo(0));
    offer.set_user("b");
    change(offer);
    EXPECT_TRUE(simulation.group(0).OnMessage(2, message, simulation.now()).ok());
  }
  static void NameItself(v1::LaunchOffer& offer) {
    v1::LaunchPart& part = *offer.add_parts();
    part.set_rank(2);
    part.add_devices(0);
  }
  static void TakeItBack(v1::LaunchOffer& offer) {
    offer.mutable_error()->set_code(1);
    offer.mutable_error()->set_text("It will not be.");
  }
  void Pause() { simulation.Run(simulation.now() + 10'000); }
};

TEST_F(Stranger, RefusesNoLaunchThatComesLater) {
  Say(TakeItBack);
  Say([](v1::LaunchOffer& offer) { NameItself(offer), TakeItBack(offer); });
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  Pause();
  ExpectTheLaunchRuns();
}

TEST_F(Stranger, RefusesNoLaunchThatHasCome) {
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  Pause();
  Say(TakeItBack);
  Say([](v1::LaunchOffer& offer) { NameItself(offer), TakeItBack(offer); });
  ExpectTheLaunchRuns();
}

TEST_F(Stranger, DiffersInVain) {
  Say(NameItself);
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  Pause();
  ExpectTheLaunchRuns();
}

TEST_F(Stranger, DiffersInVainFromWhatHasCome) {
  ASSERT_TRUE(simulation.Offer(1, OfferOf(LaunchOfTwo(0))));
  Pause();
  Say([](v1::LaunchOffer&) {});
  Say(NameItself);
  ExpectTheLaunchRuns();
}

// A daemon's offers are counted for itself, not for the user or the client that it names.
TEST(Strangers, TakeNobodysRoom) {
  SimulationOptions options;
  options.limits.offers_per_client_max = 2;
  options.limits.offers_max = 4;
  Simulation simulation(options);
  ASSERT_TRUE(simulation.Run(60'000'000, [&] { return simulation.Complete(); }));
  v1::LaunchOffer own = OfferOf(LaunchOfTwo(0));
  own.set_user("a");
  ASSERT_TRUE(simulation.Offer(1, own));
  own.set_sequence(2);
  ASSERT_TRUE(simulation.Offer(1, own));
  simulation.Run(simulation.now() + 10'000);
  v1::PeerMessage message;
  for (uint64_t sequence = 3; sequence <= 30; ++sequence) {
    v1::LaunchOffer& offer = *message.mutable_offer();
    offer = own;
    offer.set_sequence(sequence);
    if (sequence > 10) offer.set_group(sequence);
    v1::LaunchPart& part = *offer.add_parts();
    part.set_rank(2);
    part.add_devices(0);
    EXPECT_TRUE(simulation.group(0).OnMessage(2, message, simulation.now()).ok());
  }
  for (const uint64_t sequence : {1, 2}) {
    own.set_sequence(sequence);
    ASSERT_TRUE(simulation.Offer(0, own));
  }
  EXPECT_TRUE(
      simulation.Run(simulation.now() + 1'000'000, [&] { return simulation.counts().succeeded == 2; }));
  for (const std::string& text : simulation.violations()) ADD_FAILURE() << text;
}

TEST_F(Peers, NameUsersAndListDevicesWithinBounds) {
  v1::PeerMessage message;
  *message.mutable_offer() = OfferOf(LaunchOfTwo(1));
  message.mutable_offer()->mutable_parts()->DeleteSubrange(0, 1);
  message.mutable_offer()->set_user(std::string(kNameMax, 'u'));
  EXPECT_TRUE(Tell(2, message).ok());
  message.mutable_offer()->set_sequence(2);
  message.mutable_offer()->set_user(std::string(kNameMax + 1, 'u'));
  EXPECT_EQ(Tell(2, message).message(), "The name of a user has 254 bytes; the limit is 253.");
  message.mutable_offer()->set_user("u");
  for (uint32_t i = 0; i < 2000; ++i) message.mutable_offer()->mutable_parts(0)->add_participants(i);
  EXPECT_EQ(Tell(2, message).message(),
            "A launch names 1 devices and 2000 participants of rank 1; the limit is 1024.");
  v1::PeerMessage request;
  request.mutable_ticket_request()->set_user(std::string(kNameMax + 1, 'u'));
  request.mutable_ticket_request()->set_used_us(1);
  EXPECT_EQ(simulation.group(0).OnMessage(1, request, simulation.now()).message(),
            "The name of a user has 254 bytes; the limit is 253.");
}

// The session of the leader's daemon says for which user a launch is counted; others could name anybody.
TEST(Offers, AreCountedForTheLeadersUser) {
  NoWork work;
  Offers offers(
      LaunchLimits{}, work, [] { return 0u; }, [](uint32_t, const v1::PeerMessage&) {},
      [](uint32_t) { return "n"; });
  for (const bool own_first : {true, false}) {
    std::optional<LaunchSpec> launch;
    for (const uint32_t rank : {own_first ? 0u : 1u, own_first ? 1u : 0u}) {
      v1::LaunchOffer offer = OfferOf(LaunchOfTwo(0));
      offer.set_user(rank == 0 ? "a" : "b");
      absl::StatusOr<std::optional<LaunchSpec>> taken = offers.Take(rank, offer, 0);
      ASSERT_TRUE(taken.ok()) << taken.status();
      launch = *taken;
    }
    ASSERT_TRUE(launch.has_value());
    EXPECT_EQ(launch->user, "a");
  }
  EXPECT_EQ(offers.size(), 0u);
}

// The session of the leader's daemon never offers this launch: nothing of it may stay once the others have
// left.
TEST(Offers, ThatAllTakeBackAreForgotten) {
  NoWork work;
  int refused = 0;
  Offers offers(
      LaunchLimits{}, work, [] { return 0u; }, [&](uint32_t, const v1::PeerMessage&) { ++refused; },
      [](uint32_t) { return "n"; });
  v1::LaunchOffer offer = OfferOf(LaunchOfTwo(0));
  v1::LaunchPart& third = *offer.add_parts();
  third.set_rank(2);
  third.add_devices(0);
  offer.set_coming(true);
  for (const uint32_t rank : {1u, 2u}) ASSERT_TRUE(offers.Take(rank, offer, 0).ok());
  EXPECT_EQ(offers.size(), 2u) << "two words";
  offer.set_coming(false);
  offer.mutable_error()->set_code(1);
  offer.mutable_error()->set_text("It was cancelled.");
  for (const uint32_t rank : {1u, 2u}) ASSERT_TRUE(offers.Take(rank, offer, 0).ok());
  EXPECT_EQ(offers.size(), 0u);
  EXPECT_EQ(refused, 0);
  offer.clear_error();
  ASSERT_TRUE(offers.Take(0, offer, 0).ok());
  EXPECT_EQ(refused, 1) << "The leader's own offer learns that the others take the launch back.";
  EXPECT_EQ(offers.size(), 0u);
}

TEST(Offers, OfADaemonThatIsGoneAreForgotten) {
  NoWork work;
  Offers offers(
      LaunchLimits{}, work, [] { return 0u; }, [](uint32_t, const v1::PeerMessage&) {},
      [](uint32_t) { return "n"; });
  v1::LaunchOffer offer = OfferOf(LaunchOfTwo(0));
  v1::LaunchPart& third = *offer.add_parts();
  third.set_rank(2);
  third.add_devices(0);
  offer.set_coming(true);
  for (const uint32_t rank : {1u, 2u}) ASSERT_TRUE(offers.Take(rank, offer, 0).ok());
  offer.set_coming(false);
  offer.mutable_error()->set_code(1);
  ASSERT_TRUE(offers.Take(1, offer, 0).ok());
  offers.OnGone(2, absl::UnavailableError("gone"), 0);
  EXPECT_EQ(offers.size(), 0u);
}

struct NoWire : Wire {
  void Send(LinkId, const v1::PeerMessage&) override {}
  void End(LinkId, const absl::Status&) override {}
  void Connect(uint32_t, const std::string&) override {}
};
struct NoEvents : MemberEvents {
  absl::Status OnMessage(uint32_t, const v1::PeerMessage&, int64_t) override { return absl::OkStatus(); }
  void OnGone(uint32_t, const absl::Status&, int64_t) override {}
};

v1::Member MemberOf(uint32_t rank, const std::string& name) {
  v1::Member member;
  member.set_rank(rank);
  member.set_name(name);
  member.set_address("n:1");
  member.set_incarnation(rank + 1);
  member.set_joined(rank + 1);
  return member;
}

// A coordinator's changes are checked as its welcome is.
TEST(Members, AreAddedByChangesWithinBounds) {
  NoWire wire;
  NoEvents events;
  MembershipOptions options;
  options.cluster = "ci";
  options.self = MemberOf(1, "n1");
  options.join = "n0:1";
  Membership membership(options, wire, events);
  membership.OnConnected(1, 0, 1);
  v1::PeerMessage welcome;
  *welcome.mutable_welcome()->mutable_member() = MemberOf(0, "n0");
  *welcome.mutable_welcome()->add_members() = MemberOf(0, "n0");
  *welcome.mutable_welcome()->mutable_you() = MemberOf(1, "n1");
  welcome.mutable_welcome()->set_epoch(2);
  ASSERT_TRUE(membership.OnMessage(1, welcome, 1).ok());
  v1::PeerMessage change;
  change.set_sequence(1);
  change.mutable_change()->set_epoch(3);
  *change.mutable_change()->add_joined() = MemberOf(2, "n2");
  EXPECT_TRUE(membership.OnMessage(1, change, 2).ok());
  change.set_sequence(2);
  *change.mutable_change()->mutable_joined(0) = MemberOf(3, std::string(kNameMax + 1, 'n'));
  const absl::Status status = membership.OnMessage(1, change, 3);
  EXPECT_NE(status.message().find("The name of a daemon has 254 bytes; the limit is 253."),
            absl::string_view::npos)
      << status;
  EXPECT_FALSE(membership.Has(3));
}

}  // namespace
}  // namespace hlod::fabric
