// Both ends of a connection are named as ParseEndpoint would name them.
#include "common/rpc/socket_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/rpc/shared_memory.h"
#include "tests/support/loopback.h"

namespace hlod::rpc {
namespace {

using ::testing::HasSubstr;

TEST(SocketAddress, OfTcpIsNumericAtBothEnds) {
  hlod::testing::LoopbackListener listener;
  const Descriptor near = listener.Connect();

  const absl::StatusOr<Endpoint> bound = AddressOf(listener.fd()), peer = PeerOf(near.get());
  ASSERT_TRUE(bound.ok() && peer.ok()) << bound.status() << peer.status();
  EXPECT_EQ(ToString(*bound), "127.0.0.1:" + std::to_string(listener.port()));
  EXPECT_EQ(ToString(*peer), ToString(*bound));
}

TEST(SocketAddress, OfAnAbstractSocketHasItsMark) {
  const std::string name = "@hlod-socket-address-test-" + std::to_string(getpid());
  const UnixAddress address = ToUnixAddress(name);
  const Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(listener.get(), address.get(), address.size), 0);
  const absl::StatusOr<Endpoint> bound = AddressOf(listener.get());
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(ToString(*bound), "unix:" + name);
}

TEST(SocketAddress, OfNoPeerIsAnError) {
  const Descriptor alone(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_THAT(PeerOf(alone.get()).status().message(), HasSubstr("is not connected"));
  EXPECT_THAT(AddressOf(-1).status().message(), HasSubstr("Descriptor -1 is not a socket"));
}

}  // namespace
}  // namespace hlod::rpc
