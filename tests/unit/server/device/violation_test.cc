// Violations and refusals are different types.
#include "server/device/violation.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace hlod::device {
namespace {

static_assert(!std::is_constructible_v<Violation, absl::Status> &&
                  !std::is_convertible_v<Violation, absl::Status>,
              "A refusal cannot end a session, nor a violation answer a command, without saying so.");

Violation First(bool wrong, bool& reached) {
  RETURN_IF_VIOLATION(wrong ? Violation("Handle 0 cannot be defined.") : Violation());
  reached = true;
  return Violation();
}

TEST(Violation, HasItsKindAndIsHandedOn) {
  bool reached = false;
  EXPECT_EQ(KindOf(First(true, reached).status()), ErrorKind::kViolation);
  EXPECT_FALSE(reached);
  EXPECT_TRUE(First(false, reached).ok());
  EXPECT_TRUE(reached);
}

}  // namespace
}  // namespace hlod::device
