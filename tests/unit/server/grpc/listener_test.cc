// The fate of accepted connections that cannot be served.
#include "server/grpc/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

namespace hlod::grpc_server {
namespace {

TEST(Listening, AConnectionThatCannotBeTakenEnds) {
  spdlog::set_level(spdlog::level::off);
  std::vector<ListeningSocket> sockets;
  sockets.push_back(ListeningSocket::Open(rpc::ParseEndpoint("127.0.0.1:0").value()).value());
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(sockets[0].fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  rpc::Descriptor duplicate;  // The server's Connections keeps such a duplicate.
  Listener listener(std::move(sockets), absl::Hours(1), [&](ConnectedSocket socket, const rpc::Endpoint&) {
    duplicate = rpc::Descriptor(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    throw std::bad_alloc();
  });
  const rpc::Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  pollfd polled{client.get(), POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 20'000), 1);
  char byte;
  EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
  listener.Stop();  // The listener stops before `duplicate` is closed.
}

TEST(Listening, WaitsBeforeItAcceptsAgainForWhatDoesNotPassAtOnce) {
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EPERM, EBADF}) EXPECT_TRUE(AcceptMustWait(error));
  for (const int error : {EINTR, EAGAIN, ECONNABORTED, EPROTO, EHOSTUNREACH})
    EXPECT_FALSE(AcceptMustWait(error));
}

}  // namespace
}  // namespace hlod::grpc_server
