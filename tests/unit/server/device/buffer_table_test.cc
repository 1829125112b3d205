// Handles increase, are never reused, and are remembered when their buffers are gone.
#include "server/device/buffers/buffer_table.h"

#include <gtest/gtest.h>

#include "common/base/errors/error.h"

namespace hlod::device {
namespace {

TEST(BufferTable, HandlesOnlyCountUp) {
  BufferTable table(10);
  EXPECT_TRUE(table.Claim(5).ok());
  EXPECT_EQ(KindOf(table.Claim(5).status()), ErrorKind::kViolation);
  EXPECT_EQ(KindOf(table.Claim(4).status()), ErrorKind::kViolation);
  EXPECT_EQ(KindOf(table.Claim(0).status()), ErrorKind::kViolation);
  EXPECT_TRUE(table.Claim(UINT64_MAX).ok());
  EXPECT_EQ(KindOf(table.Claim(UINT64_MAX).status()), ErrorKind::kViolation);
}

TEST(BufferTable, TheDeadAreRememberedUpToALimit) {
  BufferTable table(3);
  for (Handle handle = 1; handle <= 5; ++handle) {
    ASSERT_TRUE(table.Claim(handle).ok());
    table.Put(handle, {std::make_shared<Buffer>(), nullptr});
    EXPECT_NE(table.Erase(handle, {ErrorKind::kDonated, {handle + 100, 0, 0}, nullptr}).buffer, nullptr);
  }
  EXPECT_EQ(table.size(), 0);
  EXPECT_EQ(table.Reason(2), nullptr);
  ASSERT_NE(table.Reason(3), nullptr);
  EXPECT_EQ(table.Reason(3)->kind, ErrorKind::kDonated);
  EXPECT_EQ(table.Reason(5)->by.id, 105u);
}

}  // namespace
}  // namespace hlod::device
