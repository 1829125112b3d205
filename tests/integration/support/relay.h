// A relay between clients and a daemon's unix socket that counts bytes, can break connections, and can
// corrupt the bytes that it carries.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hlod {

// Passes bytes between clients and the daemon and counts them.
class Relay {
 public:
  // Listens on `path`; empty: on a path beside the daemon's.
  explicit Relay(const std::string& daemon, const std::string& path = "")
      : daemon_(daemon.substr(5)), path_(path.empty() ? daemon_ + ".relay" : path) {
    listener_ = Socket(path_, /*listening=*/true);
    acceptor_ = std::thread([this] {
      for (;;) {
        const int client = accept(listener_, nullptr, nullptr);
        if (client < 0) return;
        const int server = Socket(daemon_, false);
        {
          absl::MutexLock lock(&mu_);
          sockets_.insert(sockets_.end(), {client, server});
        }
        pumps_.emplace_back(&Relay::Pump, this, client, server, &to_daemon);
        pumps_.emplace_back(&Relay::Pump, this, server, client, &to_client);
      }
    });
  }
  ~Relay() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    Break();
    for (std::thread& pump : pumps_) pump.join();
    for (const int fd : sockets_) close(fd);
    close(listener_);
    unlink(path_.c_str());
  }
  std::string address() const { return "unix:" + path_; }
  // Breaks every open connection. New ones are accepted.
  void Break() {
    absl::MutexLock lock(&mu_);
    for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  }
  std::atomic<int64_t> to_daemon = 0, to_client = 0;
  // The number of bytes still to corrupt. Only bytes in runs of kPayload are corrupted, at most one per read:
  // bytes of values, because a corrupted frame would break the connection anyway.
  static constexpr char kPayload = 0x5a;
  std::atomic<int64_t> to_corrupt = 0;

 private:
  static constexpr char kRun[] = {kPayload, kPayload, kPayload, kPayload, kPayload, kPayload,
                                  kPayload, kPayload, kPayload, kPayload, kPayload, kPayload,
                                  kPayload, kPayload, kPayload, kPayload};
  static int Socket(const std::string& path, bool listening) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (listening) {
      if (bind(fd, generic, sizeof(address)) != 0 || listen(fd, 8) != 0) std::abort();
    } else if (connect(fd, generic, sizeof(address)) != 0) {
      std::abort();
    }
    return fd;
  }
  void Corrupt(char* bytes, ssize_t n) {
    const std::string_view run(kRun, sizeof(kRun));
    const size_t at = std::string_view(bytes, static_cast<size_t>(n)).find(run);
    if (at == run.npos || to_corrupt.fetch_sub(1) <= 0) return;
    bytes[at + sizeof(kRun) / 2] ^= 1;
  }
  void Pump(int from, int to, std::atomic<int64_t>* count) {
    std::vector<char> bytes(1 << 16);
    for (;;) {
      const ssize_t n = read(from, bytes.data(), bytes.size());
      if (n <= 0) break;
      if (to_corrupt > 0) Corrupt(bytes.data(), n);
      *count += n;
      for (ssize_t sent = 0; sent < n;) {
        const ssize_t m = send(to, bytes.data() + sent, static_cast<size_t>(n - sent), MSG_NOSIGNAL);
        if (m <= 0) break;
        sent += m;
      }
    }
    shutdown(to, SHUT_RDWR);
    shutdown(from, SHUT_RDWR);
  }

  const std::string daemon_, path_;
  int listener_ = -1;
  std::thread acceptor_;
  std::vector<std::thread> pumps_;
  absl::Mutex mu_;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod
