// The programs that a session may name by their digest.
#include "server/device/programs/recent_digests.h"

#include <gtest/gtest.h>

namespace hlod::device {
namespace {

TEST(RecentDigests, TheOneLongestNotUsedIsForgotten) {
  RecentDigests digests(2);
  const Digest a = Sha256("a"), b = Sha256("b"), c = Sha256("c");
  EXPECT_FALSE(digests.Use(a));
  digests.Insert(a);
  digests.Insert(b);
  EXPECT_TRUE(digests.Use(a));
  digests.Insert(c);
  EXPECT_TRUE(digests.Use(a));
  EXPECT_FALSE(digests.Use(b));
  EXPECT_TRUE(digests.Use(c));
}

TEST(RecentDigests, TheLatestIsKnownHoweverManyCameBefore) {
  RecentDigests digests(16);
  for (int i = 0; i < 1000; ++i) {
    const Digest digest = Sha256(std::to_string(i));
    digests.Insert(digest);
    digests.Insert(digest);
    EXPECT_TRUE(digests.Use(digest));
  }
  EXPECT_FALSE(digests.Use(Sha256("983")));
  EXPECT_TRUE(digests.Use(Sha256("984")));
}

}  // namespace
}  // namespace hlod::device
