// The times at which uploads are abandoned.
#include "server/device/buffers/upload_deadlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace hlod::device {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

absl::Time At(int64_t second) { return absl::FromUnixSeconds(second); }

TEST(UploadDeadlines, AnUploadWaitsFromItsDeclaration) {
  UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
  deadlines.Declare(1, At(0));
  deadlines.Declare(2, At(10));
  EXPECT_THAT(deadlines.Late(At(29), At(29)), IsEmpty());
  EXPECT_THAT(deadlines.Late(At(30), At(30)), ElementsAre(1));
  EXPECT_THAT(deadlines.Late(At(40), At(40)), ElementsAre(1, 2));
  deadlines.End(1);
  EXPECT_THAT(deadlines.Late(At(40), At(40)), ElementsAre(2));
}

TEST(UploadDeadlines, AnUploadWaitsForThoseBeforeIt) {
  UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
  deadlines.Declare(1, At(0));
  deadlines.Declare(2, At(0));
  for (int64_t second = 0; second <= 100; second += 20) deadlines.Progress(1, At(second));
  deadlines.End(1);
  EXPECT_THAT(deadlines.Late(At(129), At(129)), IsEmpty()) << "Its turn came after 100 seconds.";
  EXPECT_THAT(deadlines.Late(At(130), At(130)), ElementsAre(2));
}

TEST(UploadDeadlines, LaterUploadsDoNotKeepOneThatTheyHaveOvertaken) {
  UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
  deadlines.Declare(1, At(0));
  for (uint64_t later = 2; later < 10; ++later) {
    deadlines.Declare(later, At(static_cast<int64_t>(later)));
    deadlines.Progress(later, At(static_cast<int64_t>(later)));
    deadlines.End(later);
  }
  EXPECT_THAT(deadlines.Late(At(29), At(29)), IsEmpty());
  EXPECT_THAT(deadlines.Late(At(30), At(30)), ElementsAre(1));
}

TEST(UploadDeadlines, AClientThatIsNotHeardEitherHasItsGracePeriodBesides) {
  UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
  deadlines.Declare(1, At(0));
  EXPECT_THAT(deadlines.Late(At(31), At(30)), ElementsAre(1));
  EXPECT_THAT(deadlines.Late(At(49), At(29)), IsEmpty());
  EXPECT_THAT(deadlines.Late(At(50), At(29)), ElementsAre(1));
}

TEST(UploadDeadlines, AClientThatHasResumedItsSessionHasTheWholeTimeAgain) {
  UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
  deadlines.Declare(1, At(0));
  deadlines.Progress(1, At(5));
  deadlines.Restart(At(25));
  EXPECT_THAT(deadlines.Late(At(54), At(54)), IsEmpty());
  EXPECT_THAT(deadlines.Late(At(55), At(55)), ElementsAre(1));
}

// Compares with a direct implementation of the rule.
TEST(UploadDeadlines, FollowTheRuleInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    UploadDeadlines deadlines(absl::Seconds(30), absl::Seconds(20));
    std::map<uint64_t, int64_t> declared;
    std::map<uint64_t, int64_t> last;  // The last progress by command.
    uint64_t next = 1;
    for (int64_t now = 0; now < 100; ++now) {
      switch (random() % 4) {
        case 0:
          deadlines.Declare(next, At(now));
          declared[next++] = now;
          break;
        case 1:
        case 2:
          if (declared.empty()) break;
          {
            const uint64_t command =
                std::next(declared.begin(), static_cast<std::ptrdiff_t>(random() % declared.size()))->first;
            deadlines.Progress(command, At(now));
            last[command] = now;
          }
          break;
        default:
          if (declared.empty()) break;
          const uint64_t command =
              std::next(declared.begin(), static_cast<std::ptrdiff_t>(random() % declared.size()))->first;
          deadlines.End(command);
          declared.erase(command);
      }
      std::vector<uint64_t> late;
      for (const auto& [command, since] : declared) {
        int64_t time = since;
        for (const auto& [moved, when] : last) {
          if (moved <= command) time = std::max(time, when);
        }
        if (time + 30 <= now) late.push_back(command);
      }
      ASSERT_EQ(deadlines.Late(At(now), At(now)), late) << "round " << round << ", second " << now;
    }
  }
}

}  // namespace
}  // namespace hlod::device
