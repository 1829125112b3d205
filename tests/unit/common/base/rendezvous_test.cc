// Participants that meet, participants that do not come, and participants that wait for each other in vain.
#include "common/base/system/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "common/base/errors/status.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const auto kGoOn = [] { return absl::OkStatus(); };

// Places are distinguished by their addresses.
const char kHere = 0, kThere = 0;

absl::Status Nothing(absl::Span<void* const>) { return absl::OkStatus(); }

TEST(Rendezvous, TheLastOneWorksForAllInTheGroupsOrder) {
  Rendezvous rendezvous({"a", "b", "c"});
  std::atomic<int> works = 0;
  int sums[3] = {0, 0, 0};
  {
    std::vector<std::jthread> threads;
    for (int m = 0; m < 3; ++m) {
      threads.emplace_back([&, m] {
        for (int round = 1; round <= 100; ++round) {
          int own = (m + 1) * round;
          const absl::Status met =
              rendezvous.Meet(m, &kHere, "here", {2, 0, 1}, &own, kGoOn, [&](auto brought) {
                ++works;
                int all[3];
                for (int i = 0; i < 3; ++i) all[i] = *static_cast<int*>(brought[i]);
                EXPECT_EQ(all[0], 3 * round);  // Participant 2 is the first of the group.
                EXPECT_EQ(all[2], 2 * round);
                for (int i = 0; i < 3; ++i) *static_cast<int*>(brought[i]) = all[0] + all[1] + all[2];
                return absl::OkStatus();
              });
          EXPECT_TRUE(met.ok()) << met;
          sums[m] += own;
        }
        rendezvous.Leave(m, absl::OkStatus());
      });
    }
  }
  EXPECT_EQ(works, 100);
  for (const int sum : sums) EXPECT_EQ(sum, 6 * 5050);
  EXPECT_TRUE(rendezvous.cause().ok());
}

TEST(Rendezvous, GroupsAtOnePlaceDoNotMix) {
  Rendezvous rendezvous({"a", "b", "c", "d"});
  std::vector<std::jthread> threads;
  for (int m = 0; m < 4; ++m) {
    threads.emplace_back([&, m] {
      const std::vector<int> group = m < 2 ? std::vector{0, 1} : std::vector{2, 3};
      int own = m;
      EXPECT_TRUE(rendezvous
                      .Meet(m, &kHere, "here", group, &own, kGoOn,
                            [&](auto brought) {
                              EXPECT_EQ(brought.size(), 2u);
                              EXPECT_EQ(*static_cast<int*>(brought[0]), m < 2 ? 0 : 2);
                              return absl::OkStatus();
                            })
                      .ok());
    });
  }
}

TEST(Rendezvous, TheErrorOfTheWorkIsEverybodys) {
  Rendezvous rendezvous({"a", "b"});
  const auto meet = [&](int m) {
    int own = 0;
    return rendezvous.Meet(m, &kHere, "here", {0, 1}, &own, kGoOn,
                           [](auto) { return ResourceExhausted("no %s", "room"); });
  };
  absl::Status other;
  std::jthread thread([&] { other = meet(1); });
  EXPECT_EQ(meet(0).message(), "no room");
  thread.join();
  EXPECT_EQ(other.message(), "no room");
}

TEST(Rendezvous, AParticipantThatFailsReleasesTheOthers) {
  Rendezvous rendezvous({"a", "b"});
  std::jthread failing([&] { rendezvous.Leave(1, DataLoss("it broke")); });
  int own = 0;
  const absl::Status met = rendezvous.Meet(0, &kHere, "here", {0, 1}, &own, kGoOn, Nothing);
  EXPECT_EQ(met.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(met.message()), AllOf(HasSubstr("it broke"), HasSubstr("running b")));
  rendezvous.Leave(0, met);
  // The cause is the first error, not the last.
  EXPECT_EQ(rendezvous.cause().code(), absl::StatusCode::kDataLoss);
}

TEST(Rendezvous, OneThatEndedIsNotWaitedFor) {
  Rendezvous rendezvous({"a", "b"});
  rendezvous.Leave(1, absl::OkStatus());
  int own = 0;
  EXPECT_FALSE(rendezvous.Meet(0, &kHere, "all-reduce (y)", {0, 1}, &own, kGoOn, Nothing).ok());
  EXPECT_EQ(rendezvous.cause().message(), "b has ended, and others wait for it at all-reduce (y).");
}

TEST(Rendezvous, WaitingForEachOtherAtTwoPlacesEnds) {
  Rendezvous rendezvous({"a", "b"});
  const auto meet = [&](int m, const char* place, std::string_view what) {
    int own = 0;
    return rendezvous.Meet(m, place, what, {0, 1}, &own, kGoOn, Nothing);
  };
  std::jthread thread([&] { EXPECT_FALSE(meet(1, &kThere, "there").ok()); });
  EXPECT_FALSE(meet(0, &kHere, "here").ok());
  EXPECT_THAT(std::string(rendezvous.cause().message()),
              AllOf(HasSubstr("a at here"), HasSubstr("b at there")));
}

TEST(Rendezvous, WhoHasToStopReleasesTheOthers) {
  Rendezvous rendezvous({"a", "b", "c"});
  std::atomic<bool> stop = false;
  std::jthread thread([&] {
    int own = 0;
    EXPECT_EQ(rendezvous.Meet(1, &kHere, "here", {0, 1, 2}, &own, kGoOn, Nothing).code(),
              absl::StatusCode::kAborted);
  });
  std::jthread later([&] { stop = true; });
  int own = 0;
  const absl::Status met = rendezvous.Meet(
      0, &kHere, "here", {0, 1, 2}, &own,
      [&] { return stop ? DeadlineExceeded("too %s", "late") : absl::OkStatus(); }, Nothing);
  EXPECT_EQ(met.message(), "too late");
  EXPECT_EQ(rendezvous.context(), "a waited at here.");
}

TEST(Rendezvous, WorkThatThrowsEndsTheWaitingOfAll) {
  Rendezvous rendezvous({"a", "b"});
  absl::Status met[2];
  {
    std::vector<std::jthread> threads;
    for (int m = 0; m < 2; ++m) {
      threads.emplace_back([&, m] {
        int own = m;
        met[m] = rendezvous.Meet(m, &kHere, "here", {0, 1}, &own, kGoOn,
                                 [](absl::Span<void* const>) -> absl::Status { throw std::bad_alloc(); });
        rendezvous.Leave(m, met[m]);
      });
    }
  }
  for (const absl::Status& status : met) EXPECT_THAT(status.ToString(), HasSubstr("bad_alloc"));
}

}  // namespace
}  // namespace hlod
