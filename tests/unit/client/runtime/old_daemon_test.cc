// A daemon that speaks an older version of the protocol is not sent what would end the session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "hlod/runtime/device.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

using testing::HasSubstr;

TEST(OldDaemon, ACopyIsRefusedInASentence) {
  const auto daemon = std::make_shared<FakeDaemon>();  // It chooses version 1.
  const std::shared_ptr<Session> session = Session::Open(std::make_unique<FakeConnector>(daemon), {}).value();
  const Device device(session, 0);
  const Buffer x = device.Placeholder(Shape::Array(hlo::kF32, {4})).value();
  const absl::Status copied = x.CopyTo(device).status();
  EXPECT_EQ(KindOf(copied), ErrorKind::kVersion);
  EXPECT_THAT(std::string(copied.message()), HasSubstr("speaks protocol version 1, which has no copies"));
  for (const v1::Command& command : daemon->commands()) EXPECT_FALSE(command.has_copy());
  daemon->End();
}

}  // namespace
}  // namespace hlod::runtime
