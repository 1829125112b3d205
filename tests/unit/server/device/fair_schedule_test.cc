// Fairness under a clock that the test advances, with jobs whose cost the test sets.
#include "server/device/execution/fair_schedule.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>

namespace hlod::device {
namespace {

constexpr FairSchedule::Options kBeside = {.width = 1,
                                           .beside_us_max = std::numeric_limits<double>::infinity()};

// Sessions 'a', 'b' and so on, whose jobs each take a fixed time.
class Simulation {
 public:
  explicit Simulation(FairSchedule::Options options = {}) : schedule(options) {}

  void Add(char session, int count = 1, double expected_us = 0) {
    for (int i = 0; i < count; ++i)
      schedule.Add(static_cast<uint64_t>(session), expected_us, [this, session] { last = session; });
  }
  // Starts a job. Returns its session, or '-' when none may start.
  char Start() {
    std::optional<FairSchedule::Started> started = schedule.Start(now_us);
    if (!started.has_value()) return '-';
    started->job();
    running[last] = started->id;
    return last;
  }
  void Complete(char session) {
    schedule.Complete(running.at(session), now_us);
    running.erase(session);
  }
  // Runs jobs one after the other, each for its session's cost. Returns the order of the sessions.
  std::string Run(const std::map<char, int64_t>& cost_us, int jobs) {
    std::string order;
    for (int i = 0; i < jobs; ++i) {
      const char session = Start();
      if (session == '-') break;
      order += session;
      now_us += cost_us.at(session);
      Complete(session);
    }
    return order;
  }

  FairSchedule schedule;
  int64_t now_us = 1'000'000'000;
  char last = '-';
  std::map<char, uint64_t> running;
};

TEST(FairSchedule, SessionsTakeTurns) {
  Simulation s;
  s.Add('a', 4);
  s.Add('b', 2);
  EXPECT_EQ(s.Run({{'a', 10}, {'b', 10}}, 10), "ababaa");
}

TEST(FairSchedule, JobsThatCostNothingTakeTurnsToo) {
  Simulation s;
  s.Add('a', 4);
  s.Add('b', 2);
  EXPECT_EQ(s.Run({{'a', 0}, {'b', 0}}, 10), "ababaa");
}

// Three jobs of b cost as much as one of a.
TEST(FairSchedule, TimeIsSharedNotJobs) {
  Simulation s;
  s.Add('a', 100);
  s.Add('b', 100);
  EXPECT_EQ(s.Run({{'a', 30}, {'b', 10}}, 12), "abbbabbbabbb");
}

TEST(FairSchedule, IdlenessEarnsNoCredit) {
  Simulation s;
  s.Add('a', 1000);
  s.Add('b', 1);
  s.Run({{'a', 10}, {'b', 10}}, 500);  // b is idle for nearly all of the time.
  s.Add('b', 1000);
  EXPECT_EQ(s.Run({{'a', 10}, {'b', 10}}, 8), "babababa");
}

TEST(FairSchedule, ANewcomerHasNoCreditEither) {
  Simulation s;
  s.Add('a', 1000);
  s.Run({{'a', 10}}, 500);
  s.Add('c', 1000);
  EXPECT_EQ(s.Run({{'a', 10}, {'c', 10}}, 8), "cacacaca");
}

// The session pauses after each job, like a program that waits for its result.
TEST(FairSchedule, AShortPauseForgetsNoUse) {
  Simulation s;
  s.Add('b', 1000);
  s.Add('a');
  std::string order;
  for (int i = 0; i < 16; ++i) {
    const std::string one = s.Run({{'a', 30}, {'b', 10}}, 1);
    order += one;
    if (one == "a") s.Add('a');
  }
  EXPECT_EQ(order, "babbabbbabbbabbb");
}

TEST(FairSchedule, OneHourOfUseIsASecondOfDebt) {
  Simulation s;
  s.Add('a', 2);
  s.Add('b', 100'000);
  EXPECT_EQ(s.Start(), 'a');
  s.now_us += int64_t{3'600'000'000};
  s.Complete('a');
  int64_t jobs = 0;
  while (s.Run({{'a', 10}, {'b', 1000}}, 1) == "b") ++jobs;
  EXPECT_EQ(jobs, FairSchedule::kDebtMaxUs / 1000);
}

TEST(FairSchedule, NothingIsRememberedOnceNothingIsLeft) {
  Simulation s;
  s.Add('a', 1);
  s.Run({{'a', 500'000}}, 1);
  s.Add('a', 2);
  s.Add('b', 2);
  EXPECT_EQ(s.Run({{'a', 10}, {'b', 10}}, 4), "abab");
}

TEST(FairSchedule, OneJobRunsAtATimeWhereNoneMayRunBeside) {
  Simulation s;
  s.Add('a');
  s.Add('b');
  EXPECT_EQ(s.Start(), 'a');
  EXPECT_EQ(s.schedule.NextStartUs(), FairSchedule::kNever);
  s.now_us += 3'600'000'000;
  EXPECT_EQ(s.Start(), '-');
  s.Complete('a');
  EXPECT_EQ(s.Start(), 'b');
}

TEST(FairSchedule, AShortJobStartsBesideOneThatRunsLong) {
  Simulation s(kBeside);
  s.Add('a', 2, 1e9);
  EXPECT_EQ(s.Start(), 'a');
  s.Add('b', 1, 50);
  EXPECT_EQ(s.schedule.NextStartUs(), s.now_us + FairSchedule::kBesideMinUs);
  s.now_us += FairSchedule::kBesideMinUs - 1;
  EXPECT_EQ(s.Start(), '-');
  s.now_us += 1;
  EXPECT_EQ(s.Start(), 'b');
  EXPECT_EQ(s.Start(), '-') << "The session has one running: its jobs keep their order.";
  s.Complete('b');
  s.Add('c', 1, 50);
  EXPECT_EQ(s.Start(), 'c') << "a's runs long already.";
}

// A short job does not wait for a long one, nor for a short one whose thread does not get a core.
TEST(FairSchedule, AShortJobWaitsForTenTimesItsOwnTime) {
  FairSchedule::Options options = kBeside;
  options.beside_wait_us_min = 100;
  const auto wait_us = [&](double expected_us) {
    Simulation s(options);
    s.schedule.Add(1, 1e9, [] {});
    EXPECT_TRUE(s.schedule.Start(s.now_us).has_value());
    s.schedule.Add(2, expected_us, [] {});
    return s.schedule.NextStartUs() - s.now_us;
  };
  EXPECT_EQ(wait_us(0.5), 100);
  EXPECT_EQ(wait_us(10), 100);
  EXPECT_EQ(wait_us(50), 500);
  EXPECT_EQ(wait_us(1'000), 10'000);
  EXPECT_EQ(wait_us(5'000), 10'000);
  EXPECT_EQ(wait_us(30'000), 30'000);
  EXPECT_EQ(wait_us(1e9), 100'000);
}

TEST(FairSchedule, TinyJobsRunAtOnce) {
  FairSchedule::Options options = kBeside;
  options.tiny_us = 20;
  FairSchedule schedule(options);
  const std::optional<uint64_t> first = schedule.StartHere(1, 5, 1000);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(schedule.StartHere(1, 5, 1000).has_value()) << "Jobs of one session keep their order.";
  const std::optional<uint64_t> second = schedule.StartHere(2, 5, 1000);
  ASSERT_TRUE(second.has_value());
  ASSERT_TRUE(schedule.StartHere(3, 20, 1000).has_value()) << "Tiny ones hold up no longer one.";
  schedule.Complete(*first, 1005);
  schedule.Complete(*second, 1005);
  EXPECT_TRUE(schedule.StartHere(1, 5, 1010).has_value()) << "Beside a longer one, too.";
  schedule.Add(4, 1e9, [] {});
  schedule.Add(5, 5, [] {});
  EXPECT_FALSE(schedule.StartHere(5, 5, 1010).has_value()) << "It would overtake its own session.";
  EXPECT_EQ(schedule.Start(1010).value().session, 5u);
}

// Two sessions between them always have a tiny job running, and never none.
TEST(FairSchedule, TinyJobsThatOverlapHoldUpNoLongerOne) {
  FairSchedule::Options options = kBeside;
  options.beside_wait_us_min = 100;
  options.tiny_us = 20;
  FairSchedule schedule(options);
  uint64_t tiny = schedule.StartHere(1, 5, 1000).value();
  schedule.Add(3, 1e9, [] {});
  EXPECT_EQ(schedule.NextStartUs(), 0);
  const std::optional<uint64_t> second = schedule.StartHere(2, 5, 1000);
  ASSERT_TRUE(second.has_value()) << "Nor do they wait for a longer one.";
  schedule.Complete(*second, 1000);
  const std::optional<FairSchedule::Started> longer = schedule.Start(1000);
  ASSERT_TRUE(longer.has_value());
  EXPECT_EQ(longer->session, 3u);
  // Nor do they hold up the next long one, which starts beside the first after its time.
  schedule.Add(4, 1e9, [] {});
  int64_t now_us = 1000;
  for (uint64_t session = 2; now_us < 1000 + FairSchedule::kBesideMaxUs; now_us += 5'000) {
    EXPECT_EQ(schedule.NextStartUs(), 1000 + FairSchedule::kBesideMaxUs);
    const std::optional<uint64_t> next = schedule.StartHere(session, 5, now_us);
    ASSERT_TRUE(next.has_value()) << now_us;
    schedule.Complete(std::exchange(tiny, *next), now_us);
    session = 3 - session;
  }
  EXPECT_EQ(schedule.Start(now_us).value().session, 4u);
}

// The job then gets its error, instead of trying again and again between the tiny jobs of others.
TEST(FairSchedule, OnlyATinyJobIsPostponedForTinyOnes) {
  FairSchedule::Options options = kBeside;
  options.tiny_us = 20;
  FairSchedule schedule(options);
  ASSERT_TRUE(schedule.StartHere(1, 5, 1000).has_value());
  ASSERT_TRUE(schedule.StartHere(2, 5, 1000).has_value());
  ASSERT_TRUE(schedule.StartHere(3, 1e9, 1000).has_value());
  EXPECT_FALSE(schedule.Postpone(3, 1e9, [] {}));
  EXPECT_TRUE(schedule.Postpone(1, 5, [] {}));
  EXPECT_TRUE(schedule.Postpone(2, 5, [] {}));
}

TEST(FairSchedule, WhatIsExpectedToRunLongerWaitsLonger) {
  Simulation s(kBeside);
  s.Add('a', 1, 1e9);
  EXPECT_EQ(s.Start(), 'a');
  s.Add('b', 1, 40'000);
  EXPECT_EQ(s.schedule.NextStartUs(), s.now_us + 40'000);
  s.now_us += 40'000;
  EXPECT_EQ(s.Start(), 'b');
  s.Add('c', 1, 1e9);
  EXPECT_EQ(s.schedule.NextStartUs(), s.now_us + FairSchedule::kBesideMaxUs) << "Both must have run so long.";
}

TEST(FairSchedule, OnlyShortJobsRunBesideWhereThatIsTheRule) {
  Simulation s({.width = 2, .beside_us_max = 100'000});
  s.Add('a', 3, 1e9);
  EXPECT_EQ(s.Start(), 'a');
  const uint64_t first = s.running.at('a');
  EXPECT_EQ(s.Start(), 'a') << "One session may use the whole width ...";
  s.now_us += 3'600'000'000;
  EXPECT_EQ(s.Start(), '-') << "... and no more.";
  s.Add('b', 1, 100'001);
  s.Add('c', 1, 100'000);
  EXPECT_EQ(s.Start(), 'c');
  EXPECT_EQ(s.Start(), '-');
  s.Complete('c');
  EXPECT_EQ(s.Start(), '-');
  s.schedule.Complete(first, s.now_us);
  EXPECT_EQ(s.Start(), 'b') << "It has used least.";
}

TEST(FairSchedule, AJobRunsHereOnlyWhenItIsItsTurn) {
  Simulation s(kBeside);
  const std::optional<uint64_t> alone = s.schedule.StartHere('a', 1, s.now_us);
  ASSERT_TRUE(alone.has_value());
  EXPECT_FALSE(s.schedule.StartHere('b', 1, s.now_us).has_value()) << "Another one runs.";
  s.Add('a', 1, 50);
  s.schedule.Complete(*alone, s.now_us);
  EXPECT_FALSE(s.schedule.StartHere('b', 1, s.now_us).has_value()) << "Another one is first.";
  EXPECT_EQ(s.Start(), 'a');
  s.Add('a', 1, 50);
  s.now_us += FairSchedule::kBesideMinUs;
  EXPECT_FALSE(s.schedule.StartHere('a', 1, s.now_us).has_value()) << "It would overtake its own session.";
  EXPECT_TRUE(s.schedule.StartHere('b', 1, s.now_us).has_value());
}

TEST(FairSchedule, DiscardingASessionLeavesTheOthers) {
  Simulation s;
  s.Add('a', 3);
  s.Add('b', 2);
  EXPECT_EQ(s.Start(), 'a');
  EXPECT_EQ(s.schedule.Discard('a').size(), 2u);
  EXPECT_EQ(s.schedule.waiting(), 2);
  s.Complete('a');
  EXPECT_EQ(s.Run({{'b', 1}}, 10), "bb");
  EXPECT_EQ(s.schedule.Discard('z').size(), 0u);
}

// a has used 50 more than b when it ends. The next session of the same owner waits until b has caught up; a
// session of another owner does not.
TEST(FairSchedule, WhatAnEndedSessionHasUsedStaysWithItsOwner) {
  for (const bool same_owner : {true, false}) {
    Simulation s;
    s.schedule.SetOwner('a', 1);
    s.schedule.SetOwner('b', 2);
    s.schedule.SetOwner('c', same_owner ? 1 : 3);
    s.Add('a');
    s.Add('b', 100);
    EXPECT_EQ(s.Run({{'a', 50}, {'b', 10}}, 2), "ab");
    s.schedule.Discard('a');
    s.Add('c', 1);
    EXPECT_EQ(s.Run({{'b', 10}, {'c', 10}}, 6), same_owner ? "bbbbcb" : "cbbbbb");
  }
}

TEST(FairSchedule, AJobThatOutlivesItsSessionIsChargedToTheOwnersNextSession) {
  Simulation s;
  s.schedule.SetOwner('a', 1);
  s.schedule.SetOwner('c', 1);
  s.Add('a');
  s.Add('b', 100);
  ASSERT_EQ(s.Start(), 'a');
  s.schedule.Discard('a');
  s.Add('c', 1);
  s.now_us += 50;
  s.Complete('a');
  EXPECT_EQ(s.Run({{'b', 10}, {'c', 10}}, 7), "bbbbbcb");
}

TEST(FairSchedule, AJobThatOutlivesItsSessionIsChargedToTheOwner) {
  Simulation s;
  s.schedule.SetOwner('a', 1);
  s.schedule.SetOwner('c', 1);
  s.Add('a');
  s.Add('b', 100);
  ASSERT_EQ(s.Start(), 'a');
  s.schedule.Discard('a');
  s.now_us += 50;
  s.Complete('a');
  s.Add('c', 1);
  EXPECT_EQ(s.Run({{'b', 10}, {'c', 10}}, 7), "bbbbbcb");
}

}  // namespace
}  // namespace hlod::device
