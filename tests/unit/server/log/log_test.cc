// Similar messages are counted instead of logged, by a clock that the test advances.
#include "server/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlod {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::string From(int port) {
  return "gRPC: Handshake with ipv4:127.0.0.1:" + std::to_string(port) + " failed";
}

TEST(LogThrottle, AFloodIsAFewMessagesAndTheirNumber) {
  LogThrottle throttle;
  LogThrottle::Time now{std::chrono::hours(1'000'000)};
  for (int i = 1; i < LogThrottle::kBurst; ++i)
    EXPECT_EQ(throttle.Pass(From(50'000 + i), now), From(50'000 + i));
  EXPECT_THAT(throttle.Pass(From(9), now), Optional(HasSubstr("are left out for 60 s")));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(throttle.Pass(From(40'000 + i), now), std::nullopt);
  now += LogThrottle::kPeriod;
  EXPECT_EQ(throttle.Pass(From(7), now), From(7) + " (1000 messages like this were left out.)");
  EXPECT_EQ(throttle.Pass(From(8), now), From(8));
}

TEST(LogThrottle, OtherMessagesAreNotHeldBack) {
  LogThrottle throttle;
  const LogThrottle::Time now{std::chrono::hours(1'000'000)};
  for (int i = 0; i < 100; ++i) throttle.Pass(From(i), now);
  EXPECT_EQ(throttle.Pass("The sessions of process 7 could not be ended", now),
            "The sessions of process 7 could not be ended");
}

TEST(LogThrottle, WhoMakesUpEndlessKindsMakesItForgetAndNotGrow) {
  LogThrottle throttle;
  const LogThrottle::Time now{std::chrono::hours(1'000'000)};
  for (size_t i = 0; i < 10 * LogThrottle::kKindsMax; ++i) {
    std::string word;
    for (size_t rest = i + 1; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    EXPECT_EQ(throttle.Pass(word, now), word);
  }
}

}  // namespace
}  // namespace hlod
