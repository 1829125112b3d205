// The order of launches, by hand.
#include "server/fabric/tickets.h"

#include <gtest/gtest.h>

#include "server/fabric/work.h"

namespace hlod::fabric {
namespace {

constexpr uint64_t kSecond = 1'000'000;

TEST(Tickets, WhoHasUsedLessComesFirst) {
  Tickets tickets;
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), 1u);
  tickets.Charge(0, 1, "a", 5 * kSecond);
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), 5 * kSecond + 1);
  // The other one is first until it has used five seconds, too, however many launches that takes.
  for (uint64_t used = 0; used < 5; ++used) {
    EXPECT_EQ(tickets.Next(0, 2, "b", 0), used * kSecond + 1);
    tickets.Charge(0, 2, "b", kSecond);
  }
  EXPECT_EQ(tickets.Next(0, 2, "b", 0), 5 * kSecond + 1);
}

TEST(Tickets, WhoAsksForManyAtOnceLeavesPlacesBetweenThem) {
  Tickets tickets;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(tickets.Next(0, 1, "a", i * kSecond), i * kSecond + 1);
  EXPECT_EQ(tickets.Next(0, 2, "b", 0), 1u) << "before the second one";
}

TEST(Tickets, APauseEarnsNothing) {
  Tickets tickets;
  tickets.Next(0, 1, "a", 0);
  tickets.Charge(0, 1, "a", 1);
  for (int i = 0; i < 100; ++i) {
    tickets.Next(0, 2, "b", 0);
    tickets.Charge(0, 2, "b", kSecond);
  }
  // The last launch of b began at 99 s.
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), 99 * kSecond + 1);
}

TEST(Tickets, ANewSessionHasTheDebtOfItsUser) {
  Tickets tickets;
  tickets.Next(0, 1, "a", 0);
  tickets.Charge(0, 1, "a", 7 * kSecond);
  EXPECT_EQ(tickets.Next(0, 2, "a", 0), 7 * kSecond + 1);
  EXPECT_EQ(tickets.Next(0, 3, "b", 0), 1u);
}

TEST(Tickets, ADebtIsLimited) {
  Tickets tickets;
  for (int i = 0; i < 3; ++i) {
    tickets.Next(0, 1, "a", 0);
    tickets.Charge(0, 1, "a", 2 * Tickets::kDebtMaxUs);
  }
  // The third launch began two debts after the first.
  EXPECT_EQ(tickets.Next(0, 1, "a", 2 * Tickets::kDebtMaxUs), 4 * Tickets::kDebtMaxUs + 1);
  EXPECT_EQ(tickets.Next(0, 2, "b", 0), 2 * Tickets::kDebtMaxUs + 1);
}

// A launch of ten minutes on eight devices.
TEST(Tickets, ALongLaunchCountsInFull) {
  Tickets tickets;
  tickets.Next(0, 1, "a", 0);
  tickets.Charge(0, 1, "a", 8 * 600 * kSecond);
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), 4800 * kSecond + 1);
  for (uint64_t used = 0; used < 4800; used += 600) {
    EXPECT_EQ(tickets.Next(0, 2, "b", 0), used * kSecond + 1) << "before it";
    tickets.Charge(0, 2, "b", 600 * kSecond);
  }
  EXPECT_EQ(tickets.Next(0, 2, "b", 0), 4800 * kSecond + 1);
}

TEST(Tickets, AfterARestartAllAreLaterThanThoseThatWereGiven) {
  Tickets tickets;
  EXPECT_EQ(tickets.Next(0, 1, "a", 0, /*seen=*/7 * kSecond), 7 * kSecond + 1);
  EXPECT_EQ(tickets.Next(0, 2, "b", 0, /*seen=*/0), 7 * kSecond + 1);
  // The seen tickets that this one has given change nothing: b does not lose its place before a.
  tickets.Charge(0, 1, "a", 5 * kSecond);
  EXPECT_EQ(tickets.Next(0, 1, "a", 0, 7 * kSecond + 1), 12 * kSecond + 1);
  EXPECT_EQ(tickets.Next(0, 2, "b", 0, 12 * kSecond + 1), 7 * kSecond + 1);
  // Numbers that nobody can have been given do not make the following ones wrap.
  const uint64_t last = tickets.Next(0, 3, "c", 0, UINT64_MAX);
  EXPECT_GT(tickets.Next(0, 3, "c", 5, UINT64_MAX), last);
}

// A leader says that it has seen a later ticket than all that were given.
TEST(Tickets, WhatALeaderSaysThatItHasSeenErasesNoDebt) {
  Tickets tickets;
  for (uint64_t used = 0; used < 3; ++used) {  // The virtual time is 2 s then.
    tickets.Next(0, 1, "a", 0);
    tickets.Charge(0, 1, "a", kSecond);
  }
  tickets.Charge(0, 1, "a", 7 * kSecond);
  const uint64_t seen = 100 * kSecond;
  EXPECT_EQ(tickets.Next(0, 2, "b", 0, seen), seen + 1);
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), seen + 8 * kSecond + 1) << "10 s used, of which 2 s count for all";
  EXPECT_EQ(tickets.Next(0, 2, "b", 0, kTicketMax), kTicketMax + 1);
  EXPECT_EQ(tickets.Next(0, 1, "a", 0, UINT64_MAX), kTicketMax + 8 * kSecond + 1);
}

TEST(Tickets, ManySessionsAreForgotten) {
  Tickets tickets;
  for (uint64_t session = 1; session < 100'000; ++session)
    EXPECT_EQ(tickets.Next(0, session, std::to_string(session), 0), 1u);
}

// A leader says what it likes of anybody's launches, and asks for tickets for more clients than are kept.
TEST(Tickets, WhatALeaderSaysConcernsTheLaunchesThatItLeads) {
  Tickets tickets;
  tickets.Next(0, 1, "a", 0);
  tickets.Charge(0, 1, "a", 7 * kSecond);
  for (const uint64_t session : {1, 2}) {
    const std::string user = session == 1 ? "a" : "b";
    tickets.Next(5, session, user, 0);
    tickets.Charge(5, session, user, 1000 * kSecond);
  }
  for (uint64_t session = 3; session < 20'000; ++session) {
    tickets.Next(5, session, std::to_string(session), 0);
    tickets.Charge(5, session, std::to_string(session), kSecond);
  }
  EXPECT_EQ(tickets.Next(0, 3, "b", 0), 1u) << "b has used nothing that rank 0 knows of";
  EXPECT_EQ(tickets.Next(0, 1, "a", 0), 7 * kSecond + 1) << "and what a has used is not forgotten";
  EXPECT_EQ(tickets.Next(0, 4, "a", 0), 7 * kSecond + 1);
}

// A cluster of 4 devices. Ten seconds after its first ticket a leader's launches may have used 40 s, all
// together.
TEST(Claims, NoLeaderSaysMoreThanThereWasSinceTheFirstTicket) {
  Claims claims;
  EXPECT_EQ(claims.Believe(1, 1'000, 4, 10'000'000), 0u) << "it has asked for no ticket";
  claims.OnTicket(1, 20'000'000);
  EXPECT_EQ(claims.Believe(2, 1'000, 4, 30'000'000), 0u) << "another daemon has";
  EXPECT_EQ(claims.Believe(1, 30'000'000, 4, 30'000'000), 30'000'000u);
  constexpr uint64_t kOfALaunch = 1'000 + 4;
  EXPECT_EQ(claims.Believe(1, UINT64_MAX, 4, 30'000'000), 10'000'000u + kOfALaunch);
  EXPECT_EQ(claims.Believe(1, 1'000, 4, 30'000'000), 0u);
  EXPECT_EQ(claims.Believe(1, 1'000, 4, 31'000'000), 1'000u);
  claims.Forget(1);
  EXPECT_EQ(claims.Believe(1, 1'000, 4, 32'000'000), 0u);
}

// However short they are, each counts as a millisecond.
TEST(Claims, ShortLaunchesAreBelieved) {
  Claims claims;
  for (int i = 0; i < 100; ++i) {
    claims.OnTicket(1, 0);
    EXPECT_EQ(claims.Believe(1, 1'000, 1, 10), 1'000u) << i;
  }
}

}  // namespace
}  // namespace hlod::fabric
