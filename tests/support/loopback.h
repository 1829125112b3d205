// Sockets of TCP over the loopback interface, for tests that look at connections themselves.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>

#include "common/rpc/shared_memory.h"

namespace hlod::testing {

// Listens on a free port of 127.0.0.1. A process that cannot have one aborts.
class LoopbackListener {
 public:
  LoopbackListener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    constexpr int kWaitingMax = 8;
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    if (bind(fd(), generic(), size) != 0 || listen(fd(), kWaitingMax) != 0 ||
        getsockname(fd(), generic(), &size) != 0) {
      std::abort();
    }
  }

  int fd() const { return socket_.get(); }
  uint16_t port() const { return ntohs(address_.sin_port); }

  // Returns the near end of a new connection; Accept returns the far one.
  rpc::Descriptor Connect() {
    rpc::Descriptor near(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(near.get(), generic(), sizeof(address_)) != 0) std::abort();
    return near;
  }
  rpc::Descriptor Accept() const { return rpc::Descriptor(accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC)); }

 private:
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address_); }

  rpc::Descriptor socket_;
  sockaddr_in address_{};
};

}  // namespace hlod::testing
