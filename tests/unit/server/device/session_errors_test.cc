// The lines of a program, and errors that name them.
#include "server/device/session_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

namespace hlod::device {
namespace {

using testing::HasSubstr;

class LineErrors : public testing::Test {
 protected:
  LineErrors() { EXPECT_TRUE(errors.DefineOrigin(1, {"train.cc", 7, "main"}, refused).ok()); }
  Limits limits{.origins_per_session_max = 2};
  SessionErrors errors{limits, KeptBudget(limits.session_bytes_max)};
  absl::Status refused;
};

TEST_F(LineErrors, LinesCountUpFromOne) {
  EXPECT_EQ(errors.OriginOf(1).line, 7);
  EXPECT_EQ(KindOf(errors.DefineOrigin(3, {}, refused).status()), ErrorKind::kViolation);
  EXPECT_EQ(KindOf(errors.DefineOrigin(1, {}, refused).status()), ErrorKind::kViolation);
  EXPECT_TRUE(errors.DefineOrigin(2, {"b.cc", 8, "f"}, refused).ok());
  EXPECT_TRUE(refused.ok());
  // A line beyond the limit is refused, but its number is used up.
  EXPECT_TRUE(errors.DefineOrigin(3, {"c.cc", 9, "g"}, refused).ok());
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_EQ(errors.OriginOf(3).file, "");
  EXPECT_TRUE(errors.DefineOrigin(4, {}, refused).ok());
}

TEST(Lines, KeepNoMoreMemoryThanTheirNamesAreAllowed) {
  const Limits limits;
  SessionErrors errors(limits, KeptBudget(limits.session_bytes_max));
  absl::Status refused;
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (uint32_t id = 1; id <= 100; ++id)
    EXPECT_TRUE(
        errors.DefineOrigin(id, {std::string(1 << 20, 'f'), 1, std::string(1 << 20, 'g')}, refused).ok());
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, before + (10 << 20));
  EXPECT_EQ(errors.OriginOf(100).file, std::string(1024, 'f'));
  for (uint32_t id = 101; id <= 20'000; ++id)
    EXPECT_TRUE(errors.DefineOrigin(id, {std::string(1024, 'f'), 1, std::string(1024, 'g')}, refused).ok());
  EXPECT_EQ(errors.OriginOf(20'000).file, std::string(128, 'f'));
}

TEST_F(LineErrors, TheFirstCommandThatFailedIsTheRoot) {
  const absl::Status status = MakeError(ErrorKind::kArgument, "It is wrong.");
  const ErrorDetails root = errors.Root("upload", status, {5, 1, 0});
  EXPECT_EQ(root.root_command, 5u);
  EXPECT_EQ(root.root_origin.line, 7);
  EXPECT_THAT(root.text, HasSubstr("upload failed: It is wrong. (command 5, "));
  EXPECT_THAT(root.text, HasSubstr("train.cc"));
  const ErrorDetails later = errors.Root("execute", ToStatus(root), {6, 1, 0});
  EXPECT_EQ(later.root_command, 5u);
  EXPECT_EQ(later.text, root.text);
}

TEST_F(LineErrors, ADeadHandleSaysWhatBecameOfIt) {
  BufferTable table(1);
  for (Handle handle = 1; handle <= 3; ++handle) ASSERT_TRUE(table.Claim(handle).ok());
  EXPECT_EQ(KindOf(errors.Dead(table, 4)), ErrorKind::kUnknownHandle);
  table.RecordDeath(1, {ErrorKind::kDeleted, {8, 1, 0}, nullptr});
  EXPECT_EQ(KindOf(errors.Dead(table, 1)), ErrorKind::kDeleted);
  EXPECT_THAT(std::string(errors.Dead(table, 1).message()), HasSubstr("freed (command 8, "));
  table.RecordDeath(2, {ErrorKind::kDonated, {9, 0, 0}, nullptr});
  EXPECT_EQ(KindOf(errors.Dead(table, 2)), ErrorKind::kDonated);
  EXPECT_EQ(KindOf(errors.Dead(table, 1)), ErrorKind::kUnknownHandle) << "Its reason is forgotten.";
}

}  // namespace
}  // namespace hlod::device
