// The group machine in simulated clusters: many seeds, with everything that can go wrong, and the invariants
// at each step. HLOD_FABRIC_DAEMONS, HLOD_FABRIC_SEEDS and HLOD_FABRIC_LAUNCHES make them larger.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/unit/server/fabric/simulation.h"

namespace hlod::fabric {
namespace {

int64_t Setting(const char* name, int64_t standard) {
  const char* const text = std::getenv(name);
  return text == nullptr ? standard : std::atoll(text);
}

void ExpectNoViolations(const Simulation& simulation) {
  for (const std::string& text : simulation.violations()) ADD_FAILURE() << text;
}

using Parts = std::map<uint32_t, std::set<uint32_t>>;

Parts RandomParts(Simulation& simulation, uint32_t daemons, uint32_t devices, uint32_t width_max) {
  Parts parts;
  const uint32_t width = 1 + static_cast<uint32_t>(simulation.random()() % std::min(width_max, daemons));
  while (parts.size() < width) {
    std::set<uint32_t>& chosen = parts[static_cast<uint32_t>(simulation.random()() % daemons)];
    for (uint32_t device = 0; device < devices; ++device) {
      if (simulation.random()() % 2 == 0) chosen.insert(device);
    }
    if (chosen.empty()) chosen.insert(static_cast<uint32_t>(simulation.random()() % devices));
  }
  return parts;
}

// Launches at random times, on few daemons so that they collide.
void ScheduleLaunches(Simulation& simulation, const SimulationOptions& options, int64_t launches,
                      int64_t begin_us, int64_t span_us) {
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t at =
        begin_us + static_cast<int64_t>(simulation.random()() % static_cast<uint64_t>(span_us));
    simulation.At(at, [&simulation, &options, i] {
      const uint32_t area = std::min<uint32_t>(options.daemons, 12);
      const Parts parts = RandomParts(simulation, area, options.devices, 6);
      const auto leader = static_cast<uint32_t>(simulation.random()() % options.daemons);
      if (i % 8 != 0) {
        simulation.Launch(leader, parts);
      } else {
        simulation.OfferAll(7, static_cast<uint64_t>(i) + 1, parts, i % 32 == 0 ? 0 : -1);
      }
    });
  }
}

// Kills, stops and partitions at random times; all of it is over at the end.
void ScheduleFaults(Simulation& simulation, const SimulationOptions& options, int64_t faults,
                    int64_t begin_us, int64_t span_us) {
  for (int64_t i = 0; i < faults; ++i) {
    const int64_t at =
        begin_us + static_cast<int64_t>(simulation.random()() % static_cast<uint64_t>(span_us));
    const int64_t until = at + 1000 + static_cast<int64_t>(simulation.random()() % 4'000'000);
    // Every eighth fault is the coordinator's, but not in large clusters: a new coordinator makes all links
    // anew, which are half a million between 1,000 daemons.
    const bool coordinator = i % 8 == 7 && options.daemons < 100;
    const auto rank = coordinator ? 0
                                  : 1 + static_cast<uint32_t>(simulation.random()() %
                                                              (std::min<uint32_t>(options.daemons, 12) - 1));
    const auto other = static_cast<uint32_t>(simulation.random()() % options.daemons);
    const int kind = static_cast<int>(i % 4);
    simulation.At(at, [&simulation, rank, other, kind, until] {
      if (!simulation.alive(rank) || simulation.stopped(rank)) return;
      if (kind <= 1) {
        simulation.Kill(rank);
        simulation.At(until, [&simulation, rank] { simulation.Restart(rank); });
      } else if (kind == 2) {
        simulation.Stop(rank);
        simulation.At(until, [&simulation, rank] {
          if (simulation.stopped(rank)) simulation.Continue(rank);
        });
      } else if (other != rank) {
        const bool both = simulation.random()() % 2 == 0;
        simulation.Cut(rank, other, true);
        if (both) simulation.Cut(other, rank, true);
        simulation.At(until, [&simulation, rank, other] {
          simulation.Cut(rank, other, false);
          simulation.Cut(other, rank, false);
        });
      }
    });
  }
}

TEST(Simulation, EverythingHoldsUnderLossDeathsStopsAndPartitions) {
  SimulationOptions options;
  options.daemons = static_cast<uint32_t>(Setting("HLOD_FABRIC_DAEMONS", 12));
  options.loss = 0.01;
  options.jitter_us = 400;
  options.take_us = 3'000;
  options.refusals = 0.02;
  options.failures = 0.02;
  const int64_t seeds = Setting("HLOD_FABRIC_SEEDS", 20), launches = Setting("HLOD_FABRIC_LAUNCHES", 400);
  Simulation::Counts sum;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    Simulation simulation(options);
    ASSERT_TRUE(simulation.Run(60'000'000,
                               [&, next = int64_t{0}]() mutable {
                                 if (simulation.now() < next) return false;
                                 next = simulation.now() + 100'000;
                                 return simulation.Complete();
                               }))
        << "seed " << seed << ": the cluster never became complete";
    const int64_t begin = simulation.now(), span = 10'000'000;
    ScheduleLaunches(simulation, options, launches, begin, span);
    ScheduleFaults(simulation, options, /*faults=*/20, begin, span);
    simulation.Run(begin + span + 5'000'000);
    simulation.Run(begin + 90'000'000, [&, next = int64_t{0}]() mutable {
      if (simulation.now() < next) return false;
      next = simulation.now() + 100'000;
      return simulation.open() == 0 && simulation.Complete();
    });
    EXPECT_TRUE(simulation.Complete()) << "seed " << seed << ": the cluster does not find together again\n"
                                       << simulation.DescribeMembers();
    simulation.CheckQuiet();
    ExpectNoViolations(simulation);
    if (HasFailure()) return;
    sum.begun += simulation.counts().begun;
    sum.succeeded += simulation.counts().succeeded;
    sum.refused += simulation.counts().refused;
    sum.failed += simulation.counts().failed;
    sum.lost += simulation.counts().lost;
    sum.mismatches += simulation.counts().mismatches;
  }
  std::printf(
      "simulated, %u daemons, %ld seeds: %ld launches succeeded, %ld were refused, %ld failed, %ld lost "
      "their leader; %ld offers differed\n",
      options.daemons, seeds, sum.succeeded, sum.refused, sum.failed, sum.lost, sum.mismatches);
  EXPECT_GT(sum.succeeded, sum.begun / 4);
  EXPECT_GT(sum.refused, 0);
  EXPECT_GT(sum.failed, 0);
  EXPECT_GT(sum.mismatches, 0);
}

// Returns the time until `done` is true, looked at after each event.
int64_t TimeUntil(Simulation& simulation, const std::function<bool()>& done) {
  const int64_t begin = simulation.now();
  EXPECT_TRUE(simulation.Run(begin + 60'000'000, done)) << "it never came about";
  return simulation.now() - begin;
}

void BecomeComplete(Simulation& simulation) {
  ASSERT_TRUE(simulation.Run(60'000'000, [&, next = int64_t{0}]() mutable {
    if (simulation.now() < next) return false;
    next = simulation.now() + 50'000;
    return simulation.Complete();
  })) << simulation.DescribeMembers();
}

// By hand: a ticket is two messages unless the leader is the coordinator, and each other daemon costs
// PREPARE, READY, START and DONE. One way takes 200 us: two for the ticket, two for PREPARE and READY, two
// for START and DONE.
TEST(Simulation, ALaunchCostsATicketAndFourMessagesPerOtherDaemon) {
  std::printf("simulated, 200 us one way:\n  daemons  messages per launch  time of an empty launch\n");
  for (const uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
    SimulationOptions options;
    options.daemons = width + 1;
    options.run_us = 1;
    Simulation simulation(options);
    BecomeComplete(simulation);
    constexpr int kLaunches = 20;
    Parts parts;
    for (uint32_t rank = 1; rank <= width; ++rank) parts[rank] = {0};
    for (int i = 0; i < kLaunches; ++i) {
      ASSERT_TRUE(simulation.Launch(1, parts));
      TimeUntil(simulation, [&] { return simulation.open() == 0; });
    }
    const Simulation::Counts& counts = simulation.counts();
    ASSERT_EQ(counts.succeeded, kLaunches);
    EXPECT_EQ(counts.messages, kLaunches * (2 + 4 * (width - 1)));
    const int64_t mean_us = counts.latency_us / kLaunches;
    const int64_t expected_us = width == 1 ? 400 : 1200;
    EXPECT_GE(mean_us, expected_us);
    EXPECT_LE(mean_us, expected_us + 50) << "besides the parts' time, a microsecond in the mean";
    std::printf("  %7u  %19ld  %20ld us\n", width, counts.messages / kLaunches, mean_us);
    ExpectNoViolations(simulation);
  }
}

TEST(Simulation, DeathIsSeenAfterTwoMessagesAndSilenceAfterItsTime) {
  std::printf(
      "simulated, 200 us one way, peer_silence 2 s, a look every 50 ms:\n"
      "  daemons  killed: all know after  stopped: all know after  restarted: all linked after\n");
  for (const uint32_t daemons : {3u, 12u, 48u}) {
    SimulationOptions options;
    options.daemons = daemons;
    Simulation simulation(options);
    BecomeComplete(simulation);
    const auto all_miss = [&](uint32_t rank) {
      for (uint32_t other = 0; other < daemons; ++other) {
        if (other != rank && simulation.group(other).membership().Has(rank)) return false;
      }
      return true;
    };
    simulation.Kill(1);
    const int64_t killed_us = TimeUntil(simulation, [&] { return all_miss(1); });
    EXPECT_LE(killed_us, 2 * options.delay_us);
    simulation.Restart(1);
    const int64_t restarted_us = TimeUntil(simulation, [&] { return simulation.Complete(); });
    simulation.Kill(0);
    EXPECT_LE(TimeUntil(simulation, [&] { return all_miss(0); }), options.delay_us) << "the coordinator";
    simulation.Restart(0);
    TimeUntil(simulation, [&] { return simulation.Complete(); });
    simulation.Stop(2);
    const int64_t stopped_us = TimeUntil(simulation, [&] { return all_miss(2); });
    EXPECT_GE(stopped_us, options.silence_us * 3 / 4);
    EXPECT_LE(stopped_us, options.silence_us * 3 / 2);
    simulation.Continue(2);
    TimeUntil(simulation, [&] { return simulation.Complete(); });
    std::printf("  %7u  %19ld us  %20ld ms  %23ld ms\n", daemons, killed_us, stopped_us / 1000,
                restarted_us / 1000);
    ExpectNoViolations(simulation);
  }
}

bool HasReason(const Simulation& simulation, const std::string& words) {
  return std::any_of(simulation.reasons().begin(), simulation.reasons().end(),
                     [&](const std::string& reason) { return reason.find(words) != std::string::npos; });
}

TEST(Simulation, ADifferentProgramIsRefusedBeforeAnythingStarts) {
  Simulation simulation({});
  BecomeComplete(simulation);
  simulation.OfferAll(/*group=*/9, /*sequence=*/4, {{0, {0}}, {1, {0}}, {2, {0}}}, /*odd=*/1);
  TimeUntil(simulation, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().mismatches, 3) << "all that offered learn it";
  EXPECT_TRUE(HasReason(simulation, "Launch 4 of the group differs: ")) << simulation.reasons()[0];
  // Digests are thirty-two times 'd' (0x64) and 'o' (0x6f).
  EXPECT_TRUE(HasReason(simulation, "n1 (rank 1) program 6f6f6f6f6f6f") ||
              HasReason(simulation, "n1 (rank 1) runs program 6f6f6f6f6f6f"))
      << simulation.reasons()[0];
  simulation.OfferAll(9, 5, {{0, {0}}, {1, {0}}, {2, {0}}}, -1);
  TimeUntil(simulation, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().offers_refused, 3) << "the same programs run";
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

TEST(Simulation, AnOfferThatOneMemberDoesNotMakeNamesIt) {
  SimulationOptions options;
  options.limits.prepare_wait_us = 1'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  simulation.Stop(2);
  simulation.OfferAll(9, 1, {{0, {0}}, {1, {0}}, {2, {0}}}, -1);
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 2; });
  EXPECT_TRUE(HasReason(simulation, "Launch 1 of the group waited 1.0 s for n2 (rank 2)."))
      << simulation.reasons()[0];
  ExpectNoViolations(simulation);
}

v1::LaunchOffer OfferOfTwo(uint64_t sequence) {
  v1::LaunchOffer offer;
  offer.set_group(9);
  offer.set_sequence(sequence);
  offer.set_digest(std::string(32, 'd'));
  for (const uint32_t rank : {0u, 1u}) {
    v1::LaunchPart& part = *offer.add_parts();
    part.set_rank(rank);
    part.add_devices(0);
  }
  return offer;
}

// Only the leader's own offer says who has a part; until it comes, the leader itself is missing.
TEST(Simulation, AnOfferThatItsLeaderDoesNotMakeIsRefusedInTimeAndTheLeadersAtOnce) {
  SimulationOptions options;
  options.limits.prepare_wait_us = 1'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(1)));
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 1; });
  EXPECT_TRUE(HasReason(simulation, "Launch 1 of the group waited 1.0 s for n0 (rank 0)."))
      << simulation.reasons()[0];
  ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(1)));
  EXPECT_LE(TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 2; }), 50'000);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

v1::LaunchOffer OfferOfTwo(uint64_t group, uint64_t sequence, const std::string& user) {
  v1::LaunchOffer offer = OfferOfTwo(sequence);
  offer.set_group(group);
  offer.set_user(user);
  return offer;
}

// Runs a launch of a client, and expects that it succeeds.
void ExpectRuns(Simulation& simulation, uint64_t group, uint64_t sequence, const std::string& user) {
  const int64_t before = simulation.counts().succeeded;
  for (const uint32_t rank : {0u, 1u}) ASSERT_TRUE(simulation.Offer(rank, OfferOfTwo(group, sequence, user)));
  TimeUntil(simulation, [&] { return simulation.counts().succeeded == before + 1; });
}

// Parts of launches whose other parts never come: beyond its limit, a client is refused at once, and so are
// the other parts if they come after all. Other clients have their room.
TEST(Simulation, HalfOffersOfAClientLeaveRoomForOthers) {
  SimulationOptions options;
  options.limits.offers_per_client_max = 3;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (uint64_t sequence = 1; sequence <= 4; ++sequence)
    ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(9, sequence, "a")));
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 1; });
  const std::string words =
      "has 3 launches of this client already that wait for parts of other daemons; the limit is 3. Launch 4 is "
      "refused";
  EXPECT_TRUE(HasReason(simulation, words)) << simulation.reasons()[0];
  ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(9, 4, "a")));
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 2; });
  EXPECT_TRUE(HasReason(simulation, words));
  ExpectRuns(simulation, 10, 1, "a");
  // An offer that is taken back makes room again.
  v1::LaunchOffer back = OfferOfTwo(9, 3, "a");
  back.mutable_error()->set_code(1);
  back.mutable_error()->set_text("The session has ended.");
  ASSERT_TRUE(simulation.Offer(1, back));
  simulation.Run(simulation.now() + 10'000);
  ExpectRuns(simulation, 9, 5, "a");
  ExpectNoViolations(simulation);
}

// A client offers at once what takes many round trips: it waits at its own daemon. No daemon takes another
// one for gone, and the offers of a second client do not wait for all of the first one's.
TEST(Simulation, AClientThatOffersFasterThanItsLeaderTakesHoldsUpItself) {
  Simulation simulation({});
  BecomeComplete(simulation);
  constexpr uint64_t kOffers = 10'000;
  for (uint64_t sequence = 1; sequence <= kOffers; ++sequence)
    ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(9, sequence, "fast")));
  const auto members = simulation.group(1).membership().List(simulation.now());
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].state, "linked");
  EXPECT_LE(members[0].waiting, Channel::kRoomMessages);
  ExpectRuns(simulation, 10, 1, "modest");
  EXPECT_LT(simulation.counts().offers_refused, 1000) << "most of the first one's offers are still to come";
  const auto refused = static_cast<int64_t>(kOffers - LaunchLimits().offers_per_client_max);
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == refused; });
  for (const uint32_t rank : {0u, 1u, 2u})
    EXPECT_TRUE(simulation.group(rank).membership().departed().empty()) << rank;
  ExpectNoViolations(simulation);
}

// One of the launches is taken back before its offer was sent: the leader learns that alone.
TEST(Simulation, AnOfferThatWaitsForRoomCanBeTakenBack) {
  Simulation simulation({});
  BecomeComplete(simulation);
  constexpr uint64_t kOffers = 1000;
  for (uint64_t sequence = 1; sequence <= kOffers; ++sequence)
    ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(9, sequence, "a")));
  v1::LaunchOffer back = OfferOfTwo(9, kOffers, "a");
  back.mutable_error()->set_code(1);
  back.mutable_error()->set_text("It was cancelled.");
  ASSERT_TRUE(simulation.Offer(1, back));
  for (uint64_t sequence = 1; sequence <= kOffers; ++sequence)
    ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(9, sequence, "a")));
  TimeUntil(simulation, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, kOffers - 1);
  EXPECT_EQ(simulation.counts().offers_refused, 1) << "the part of rank 0";
  EXPECT_TRUE(HasReason(simulation, "It was cancelled.")) << simulation.reasons()[0];
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// When there is no room for anybody, the user with the most loses the latest.
TEST(Simulation, HalfOffersOfAUserLeaveRoomForOtherUsers) {
  SimulationOptions options;
  options.limits.offers_per_client_max = 2;
  options.limits.offers_max = 6;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (const uint64_t group : {1, 2, 3}) {
    for (const uint64_t sequence : {1, 2})
      ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(group, sequence, "greedy")));
  }
  simulation.Run(simulation.now() + 10'000);
  EXPECT_EQ(simulation.counts().offers_refused, 0);
  ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(4, 1, "greedy")));
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 1; });
  EXPECT_TRUE(
      HasReason(simulation, "6 of them are of greedy, who has the most. Launch 1 of the group is refused"))
      << simulation.reasons()[0];
  ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(5, 1, "modest")));
  TimeUntil(simulation, [&] { return simulation.counts().offers_refused == 2; });
  EXPECT_TRUE(HasReason(simulation, "Launch 2 of the group is refused")) << simulation.reasons().back();
  ExpectRuns(simulation, 6, 1, "modest");
  ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(5, 1, "modest")));
  TimeUntil(simulation, [&] { return simulation.counts().succeeded == 2; });
  ExpectNoViolations(simulation);
}

// A client may have more launches in flight than begin at once.
TEST(Simulation, LaunchesBeyondThoseThatBeginWaitAtTheirLeader) {
  SimulationOptions options;
  options.limits.begun_per_client_max = 2;
  options.limits.begun_per_user_max = 3;
  options.limits.launches_per_leader_max = 4;
  options.limits.prepare_wait_us = 1'000'000;
  options.run_us = 20'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  int64_t count = 0;
  for (const auto& [group, user] : {std::pair(1, "a"), {2, "a"}, {3, "b"}, {4, "c"}}) {
    for (uint64_t sequence = 1; sequence <= 30; ++sequence, ++count) {
      for (const uint32_t rank : {0u, 1u})
        ASSERT_TRUE(simulation.Offer(rank, OfferOfTwo(static_cast<uint64_t>(group), sequence, user)));
    }
  }
  // A launch that has not begun can be taken back.
  v1::LaunchOffer back = OfferOfTwo(4, 30, "c");
  back.mutable_error()->set_code(1);
  back.mutable_error()->set_text("It was cancelled.");
  simulation.Run(simulation.now() + 10'000);
  ASSERT_TRUE(simulation.Offer(1, back));
  TimeUntil(simulation, [&] { return simulation.counts().succeeded == count - 1; });
  EXPECT_EQ(simulation.counts().offers_refused, 1) << "the part of rank 0";
  EXPECT_TRUE(HasReason(simulation, "It was cancelled.")) << simulation.reasons()[0];
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// A client with many launches in flight, each of which takes long, against one that has had many short ones:
// the latter's next one waits for the one that runs, and for no other.
TEST(Simulation, ALaunchDoesNotWaitBehindAllThoseOfAnotherClient) {
  SimulationOptions options;
  options.run_us = 1;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (uint64_t sequence = 1; sequence <= 30; ++sequence) ExpectRuns(simulation, 2, sequence, "modest");
  for (uint64_t sequence = 1; sequence <= 40; ++sequence) {
    for (const uint32_t rank : {0u, 1u}) {
      ASSERT_TRUE(simulation.Offer(rank, OfferOfTwo(1, sequence, "greedy")));
    }
  }
  simulation.Run(simulation.now() + 500);
  const auto has = [&](uint64_t group, Participant::Phase phase) {
    return std::ranges::any_of(simulation.group(0).participant().launches(), [&](const auto& row) {
      return row.second.prepare.group() == group && row.second.phase == phase;
    });
  };
  ASSERT_TRUE(has(1, Participant::Phase::kWaiting));
  const int64_t before = simulation.counts().succeeded;
  for (const uint32_t rank : {0u, 1u}) ASSERT_TRUE(simulation.Offer(rank, OfferOfTwo(2, 31, "modest")));
  TimeUntil(simulation, [&] { return has(2, Participant::Phase::kStarted); });
  EXPECT_LE(simulation.counts().succeeded - before, 2);
  TimeUntil(simulation, [&] { return simulation.counts().succeeded == 71; });
  ExpectNoViolations(simulation);
}

// The limit is for parts that never came. One that says that it waits for its arguments is waited for.
TEST(Simulation, AnOfferThatIsComingIsWaitedFor) {
  SimulationOptions options;
  options.limits.prepare_wait_us = 1'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  v1::LaunchOffer coming = OfferOfTwo(1);
  coming.set_coming(true);
  ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(1)));
  ASSERT_TRUE(simulation.Offer(1, coming));
  simulation.Run(simulation.now() + 10'000'000);
  EXPECT_EQ(simulation.counts().offers_refused, 0);
  ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(1)));
  TimeUntil(simulation, [&] { return simulation.counts().succeeded == 1; });
  EXPECT_EQ(simulation.counts().offers_refused, 0);
  ExpectNoViolations(simulation);
}

// The program of a part that is coming is not known yet.
TEST(Simulation, AnOfferIsComparedWithTheLeadersOnceThatIsThere) {
  Simulation simulation({});
  BecomeComplete(simulation);
  for (const bool same : {true, false}) {
    const uint64_t sequence = same ? 1 : 2;
    v1::LaunchOffer coming = OfferOfTwo(sequence), other = OfferOfTwo(sequence);
    coming.set_coming(true);
    coming.set_digest(std::string(32, '\0'));
    if (!same) other.set_digest(std::string(32, 'o'));
    ASSERT_TRUE(simulation.Offer(0, coming));
    ASSERT_TRUE(simulation.Offer(1, other));
    simulation.Run(simulation.now() + 10'000);
    EXPECT_EQ(simulation.counts().offers_refused, 0);
    ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(sequence)));
    TimeUntil(simulation, [&] { return simulation.open() == 0; });
  }
  EXPECT_EQ(simulation.counts().succeeded, 1);
  EXPECT_EQ(simulation.counts().mismatches, 2);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// It is refused at once, with the reason, whether the others have offered it already or do so later.
TEST(Simulation, AnOfferThatIsTakenBackRefusesTheOthers) {
  Simulation simulation({});
  BecomeComplete(simulation);
  for (const bool first : {true, false}) {
    const uint64_t sequence = first ? 1 : 2;
    v1::LaunchOffer back = OfferOfTwo(sequence);
    back.mutable_error()->set_code(3);
    back.mutable_error()->set_text("Argument 2 is missing.");
    if (first) {
      ASSERT_TRUE(simulation.Offer(1, back));
    }
    simulation.Run(simulation.now() + 10'000);
    ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(sequence)));
    if (!first) {
      ASSERT_TRUE(simulation.Offer(1, back));
    }
    const int64_t took_us = TimeUntil(simulation, [&] { return simulation.open() == 0; });
    EXPECT_LE(took_us, 50'000) << "a look every 50 ms";
    EXPECT_EQ(simulation.counts().offers_refused, static_cast<int64_t>(sequence));
    EXPECT_TRUE(HasReason(simulation, "Argument 2 is missing.")) << simulation.reasons().back();
  }
  ExpectNoViolations(simulation);
}

// The memory of an offer at its leader is its user's until it is over.
TEST(Simulation, OffersThatWaitAreChargedToTheirUser) {
  SimulationOptions options;
  options.offer_bytes_max = 20'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (uint64_t sequence = 1; sequence <= 100; ++sequence)
    ASSERT_TRUE(simulation.Offer(1, OfferOfTwo(9, sequence, "a")));
  simulation.Run(simulation.now() + 50'000);
  const int64_t refused = simulation.counts().offers_refused;
  EXPECT_GT(refused, 80);
  EXPECT_LT(refused, 100);
  EXPECT_TRUE(HasReason(simulation, "a of rank 1 has no room for offers."));
  ExpectRuns(simulation, 10, 1, "b");
  for (uint64_t sequence = 1; sequence <= 100; ++sequence)
    ASSERT_TRUE(simulation.Offer(0, OfferOfTwo(9, sequence, "a")));
  TimeUntil(simulation, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 1 + 100 - refused);
  EXPECT_EQ(simulation.counts().offers_refused, 2 * refused) << "the other parts get the same reason";
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// The first launch holds a device of n1 and waits for n2, whose own work takes a minute.
TEST(Simulation, ALaunchThatHoldsDevicesInVainLetsOthersPassAndIsNotEnded) {
  SimulationOptions options;
  options.limits.prepare_wait_us = 2'000'000;
  options.limits.tell_us = 100'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  simulation.Occupy(2, 0, simulation.now() + 60'000'000);
  ASSERT_TRUE(simulation.Launch(0, {{1, {0}}, {2, {0}}}));
  simulation.Run(simulation.now() + 10'000);
  ASSERT_TRUE(simulation.Launch(1, {{0, {0}}, {1, {0}}}));
  EXPECT_LT(TimeUntil(simulation, [&] { return simulation.counts().succeeded == 1; }),
            options.limits.hold_us(0) + 200'000);
  // The devices are free for others from now on, also for those that wait for n2 themselves.
  ASSERT_TRUE(simulation.Launch(2, {{1, {0}}, {2, {0}}}));
  simulation.Run(simulation.now() + 10'000);
  for (int i = 2; i <= 10; ++i) {
    ASSERT_TRUE(simulation.Launch(1, {{0, {0}}, {1, {0}}}));
    EXPECT_LT(TimeUntil(simulation, [&] { return simulation.counts().succeeded == i; }), 500'000);
  }
  EXPECT_EQ(simulation.counts().refused, 0);
  simulation.Run(simulation.now() + 70'000'000, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 12);
  EXPECT_EQ(simulation.counts().refused, 0);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// n3 leads jobs of 40 s, one after the other, on n2; the launch wants n1 and n2, and others want n1.
TEST(Simulation, OneClientsLongJobsEndNobodysLaunches) {
  SimulationOptions options;
  options.daemons = 4;
  options.limits.tell_us = 100'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  simulation.SetRunTime(3, 40'000'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(simulation.Launch(3, {{2, {0}}}));
  simulation.Run(simulation.now() + 10'000);
  ASSERT_TRUE(simulation.Launch(0, {{1, {0}}, {2, {0}}}));
  const int64_t begin_us = simulation.now();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_TRUE(simulation.Launch(1, {{1, {0}}}));
    simulation.Run(simulation.now() + 1'000'000);
  }
  EXPECT_EQ(simulation.counts().succeeded, 20);
  EXPECT_EQ(simulation.counts().refused, 0);
  simulation.Run(begin_us + 300'000'000, [&] { return simulation.counts().succeeded == 22; });
  EXPECT_LT(simulation.now() - begin_us, 41'000'000) << "it is next after the job that ran";
  simulation.Run(begin_us + 300'000'000, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 24);
  EXPECT_EQ(simulation.counts().refused, 0);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// Both daemons always have a next job, of 21 s on the one and 34 s on the other, which is longer than the
// launch may hold either at first. It starts before the jobs are over.
TEST(Simulation, ALaunchStartsThoughOthersLongJobsTakeTurnsOnItsDaemons) {
  SimulationOptions options;
  options.daemons = 5;
  Simulation simulation(options);
  BecomeComplete(simulation);
  simulation.SetRunTime(3, 21'000'000);
  simulation.SetRunTime(4, 34'000'000);
  for (int i = 0; i < 34; ++i) ASSERT_TRUE(simulation.Launch(3, {{1, {0}}}));
  for (int i = 0; i < 21; ++i) ASSERT_TRUE(simulation.Launch(4, {{2, {0}}}));
  simulation.Run(simulation.now() + 10'000);
  ASSERT_TRUE(simulation.Launch(0, {{1, {0}}, {2, {0}}}));
  const int64_t begin_us = simulation.now();
  simulation.Run(begin_us + 1'000'000'000, [&] { return simulation.group(0).leader().size() == 0; });
  EXPECT_LT(simulation.now() - begin_us, 200'000'000);
  simulation.Run(begin_us + 1'000'000'000, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 34 + 21 + 1);
  EXPECT_EQ(simulation.counts().refused, 0);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// It wants two devices of n1, of which the daemon's own work has one for a minute.
TEST(Simulation, ALaunchThatWaitsForADaemonsOwnWorkLetsOthersPass) {
  SimulationOptions options;
  options.limits.prepare_wait_us = 2'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  simulation.Occupy(1, 0, simulation.now() + 60'000'000);
  ASSERT_TRUE(simulation.Launch(0, {{1, {0, 1}}}));
  simulation.Run(simulation.now() + 10'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(simulation.Launch(0, {{0, {1}}, {1, {1}}}));
  EXPECT_LT(TimeUntil(simulation, [&] { return simulation.counts().succeeded == 3; }), 10'000'000);
  simulation.Run(simulation.now() + 70'000'000);
  EXPECT_EQ(simulation.counts().succeeded, 4);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// Launches take two seconds in the mean, four times as long as they may hold devices in vain at first, and
// each wants up to six of the daemons.
TEST(Simulation, LaunchesThatTakeLongEndNoOthers) {
  SimulationOptions options;
  options.daemons = 6;
  options.jitter_us = 400;
  options.take_us = 3'000;
  options.run_us = 2'000'000;
  options.limits.prepare_wait_us = 1'000'000;
  options.limits.tell_us = 100'000;
  for (options.seed = 1; options.seed <= 3; ++options.seed) {
    Simulation simulation(options);
    BecomeComplete(simulation);
    constexpr int64_t kLaunches = 100, kSpan = 10'000'000;
    ScheduleLaunches(simulation, options, kLaunches, simulation.now(), kSpan);
    simulation.Run(simulation.now() + kSpan);
    simulation.Run(simulation.now() + 2'000'000'000, [&, next = int64_t{0}]() mutable {
      if (simulation.now() < next) return false;
      next = simulation.now() + 100'000;
      return simulation.open() == 0;
    });
    // Every thirty-second launch is of different programs.
    EXPECT_GE(simulation.counts().succeeded, kLaunches - 4);
    EXPECT_EQ(simulation.counts().refused, 0);
    for (const std::string& reason : simulation.reasons())
      EXPECT_NE(reason.find("differs"), std::string::npos) << reason;
    simulation.CheckQuiet();
    ExpectNoViolations(simulation);
  }
}

// The second waits for the first, which runs for long, and the third for the second.
TEST(Simulation, WhatWaitsForWorkThatRunsIsNotRefused) {
  SimulationOptions options;
  options.run_us = 20'000'000;
  options.limits.prepare_wait_us = 1'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (const std::set<uint32_t>& devices : {std::set<uint32_t>{0}, {0, 1}, {1}}) {
    ASSERT_TRUE(simulation.Launch(0, {{0, devices}}));
    simulation.Run(simulation.now() + 10'000);
  }
  simulation.Run(simulation.now() + 300'000'000, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 3)
      << (simulation.reasons().empty() ? "" : simulation.reasons()[0]);
  ExpectNoViolations(simulation);
}

// A new coordinator knows nothing of what clients have used, but its tickets are later than all before.
TEST(Simulation, ACoordinatorThatRestartsRepeatsNoTicket) {
  SimulationOptions options;
  options.run_us = 1'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  const auto ticket = [&] {
    EXPECT_TRUE(simulation.Launch(1, {{1, {0}}, {2, {0}}}));
    TimeUntil(simulation, [&] { return !simulation.group(2).participant().launches().empty(); });
    const uint64_t given = simulation.group(2).participant().launches().begin()->first.ticket;
    TimeUntil(simulation, [&] { return simulation.open() == 0; });
    return given;
  };
  for (int i = 0; i < 5; ++i) ticket();
  const uint64_t before = ticket();
  EXPECT_GT(before, 1'000'000u);
  simulation.Kill(0);
  simulation.Run(simulation.now() + 10'000);
  simulation.Restart(0);
  BecomeComplete(simulation);
  EXPECT_GT(ticket(), before);
  ExpectNoViolations(simulation);
}

// A launch that is still taking its devices gives them to an earlier one without asking its leader.
TEST(Simulation, AnEarlierLaunchTakesTheDevicesOfOneThatIsNotReady) {
  SimulationOptions options;
  options.take_us = 1;
  options.delay_us = 200;
  Simulation simulation(options);
  BecomeComplete(simulation);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(simulation.Launch(0, {{0, {0}}, {1, {0}}, {2, {0}}}));
    ASSERT_TRUE(simulation.Launch(1, {{0, {0}}, {1, {0}}, {2, {0, 1}}}));
    ASSERT_TRUE(simulation.Launch(2, {{1, {0, 1}}, {2, {0}}}));
    simulation.Run(simulation.now() + 300);
  }
  TimeUntil(simulation, [&] { return simulation.open() == 0; });
  EXPECT_EQ(simulation.counts().succeeded, 150);
  simulation.CheckQuiet();
  ExpectNoViolations(simulation);
}

// The first launch runs for longer than the second may wait, but on other devices. The second waits for a
// daemon that does not answer.
TEST(Simulation, ALaunchThatWaitsSaysForWhom) {
  SimulationOptions options;
  options.run_us = 20'000'000;
  options.limits.prepare_wait_us = 1'000'000;
  options.limits.tell_us = 200'000;
  options.silence_us = 60'000'000;
  Simulation simulation(options);
  BecomeComplete(simulation);
  ASSERT_TRUE(simulation.Launch(0, {{0, {0}}, {1, {0}}}));
  simulation.Run(simulation.now() + 10'000);
  simulation.Stop(2);
  ASSERT_TRUE(simulation.Launch(0, {{1, {1}}, {2, {0}}}));
  TimeUntil(simulation, [&] { return simulation.counts().refused == 1; });
  EXPECT_TRUE(HasReason(simulation, "Launch 2 waited 1.")) << simulation.reasons()[0];
  EXPECT_TRUE(HasReason(simulation, " for n2 (rank 2).")) << simulation.reasons()[0];
  ExpectNoViolations(simulation);
}

}  // namespace
}  // namespace hlod::fabric
