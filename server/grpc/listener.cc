// Binds without stealing a socket from another daemon, and accepts.
#include "server/grpc/listener.h"

#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/keepalive.h"
#include "common/rpc/socket_address.h"
#include "server/grpc/refusal.h"

namespace hlod::grpc_server {
namespace {

constexpr int kBacklog = 256;
// The pause between two attempts to accept without descriptors or memory, and the time that a connection
// refused for that reason has to read why.
constexpr int kPauseMs = 50;

absl::Status Failed(const char* what, const rpc::Endpoint& endpoint) {
  return Unavailable("%s on %s failed: %s.", what, rpc::ToString(endpoint), std::strerror(errno));
}

// Returns true when a daemon answers there; then the file belongs to it.
bool SomebodyListens(const std::string& path) {
  const rpc::Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rpc::UnixAddress address = rpc::ToUnixAddress(path);
  return connect(probe.get(), address.get(), address.size) == 0;
}

// Lets members of the group hlod connect, when that group exists and this user may grant it.
void ShareWithGroup(const std::string& path) {
  char buffer[4096];
  group entry, *found = nullptr;
  if (getgrnam_r("hlod", &entry, buffer, sizeof(buffer), &found) == 0 && found != nullptr &&
      chown(path.c_str(), static_cast<uid_t>(-1), entry.gr_gid) != 0) {
    spdlog::warn("{} could not be given to the group hlod: {}.", path, std::strerror(errno));
  }
}

absl::Status AnotherListens(const rpc::Endpoint& endpoint) {
  return AlreadyExists("Another daemon listens on %s.", rpc::ToString(endpoint));
}

// Locks a socket's path. A daemon that ends removes the lock file while it holds the lock, so another daemon
// that had opened the file before may lock a removed file, while the next one locks a new one: this checks
// for that.
absl::StatusOr<rpc::Descriptor> TakeLock(const rpc::Endpoint& endpoint) {
  const std::string path = endpoint.path + ".lock";
  for (;;) {
    rpc::Descriptor lock(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid())
      return Unavailable("The lock file %s cannot be opened: %s.", path, std::strerror(errno));
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return AnotherListens(endpoint);
    struct stat locked, present;
    if (fstat(lock.get(), &locked) == 0 && stat(path.c_str(), &present) == 0 &&
        locked.st_ino == present.st_ino && locked.st_dev == present.st_dev)
      return lock;
  }
}

absl::StatusOr<rpc::Descriptor> ListenUnix(const rpc::Endpoint& endpoint, rpc::Descriptor& lock) {
  ASSIGN_OR_RETURN(lock, TakeLock(endpoint));
  if (SomebodyListens(endpoint.path)) return AnotherListens(endpoint);
  struct stat info;
  if (lstat(endpoint.path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return AlreadyExists("%s exists and is not a socket.", endpoint.path);
    unlink(endpoint.path.c_str());  // It was left behind by a daemon that was killed.
  }
  rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const rpc::UnixAddress address = rpc::ToUnixAddress(endpoint.path);
  // Created for the owner alone, then opened to the group if the file belongs to it.
  const mode_t mask = umask(0177);
  const bool bound = bind(fd.get(), address.get(), address.size) == 0;
  umask(mask);
  if (!bound) return Failed("Binding", endpoint);
  ShareWithGroup(endpoint.path);
  if (chmod(endpoint.path.c_str(), 0660) != 0 || listen(fd.get(), kBacklog) != 0)
    return Failed("Listening", endpoint);
  return fd;
}

absl::StatusOr<rpc::Descriptor> ListenAbstract(const rpc::Endpoint& endpoint) {
  rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const rpc::UnixAddress address = rpc::ToUnixAddress(endpoint.path);
  if (bind(fd.get(), address.get(), address.size) != 0)
    return errno == EADDRINUSE ? AnotherListens(endpoint) : Failed("Binding", endpoint);
  if (listen(fd.get(), kBacklog) != 0) return Failed("Listening", endpoint);
  return fd;
}

absl::StatusOr<rpc::Descriptor> ListenTcp(rpc::Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int resolved =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (resolved != 0)
    return Unavailable("Host (%s) to listen on is unknown: %s.", endpoint.host, gai_strerror(resolved));
  rpc::Descriptor fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // Sets only SO_REUSEADDR: the port of a daemon that just ended is free at once, but that of a running one
  // is not.
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool listening =
      bind(fd.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(fd.get(), kBacklog) == 0;
  freeaddrinfo(found);
  if (!listening) return Failed("Listening", endpoint);
  return fd;
}

}  // namespace

absl::StatusOr<ListeningSocket> ListeningSocket::Open(const rpc::Endpoint& endpoint) {
  ListeningSocket listening;
  listening.endpoint_ = endpoint;
  switch (endpoint.kind) {
    case rpc::Endpoint::Kind::kUnix: {
      if (endpoint.IsAbstract()) {
        ASSIGN_OR_RETURN(listening.fd_, ListenAbstract(endpoint));
        return listening;
      }
      ASSIGN_OR_RETURN(listening.fd_, ListenUnix(endpoint, listening.lock_));
      listening.owns_file_ = true;
      return listening;
    }
    case rpc::Endpoint::Kind::kTcp: {
      ASSIGN_OR_RETURN(listening.fd_, ListenTcp(listening.endpoint_));
      if (endpoint.port == 0) {
        ASSIGN_OR_RETURN(const rpc::Endpoint bound, rpc::AddressOf(listening.fd_.get()));
        listening.endpoint_.port = bound.port;
      }
      return listening;
    }
    case rpc::Endpoint::Kind::kDescriptor: return Inherit(endpoint.descriptor);
  }
  return Internal("An endpoint of no kind.");
}

absl::StatusOr<ListeningSocket> ListeningSocket::Inherit(int fd) {
  ListeningSocket listening;
  ASSIGN_OR_RETURN(listening.endpoint_, rpc::AddressOf(fd));
  int accepting = 0;
  socklen_t size = sizeof(accepting);
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) != 0 || accepting == 0) {
    return InvalidArgument("The inherited descriptor %d does not listen.", fd);
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  listening.fd_ = rpc::Descriptor(fd);
  return listening;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : fd_(std::move(other.fd_)),
      lock_(std::move(other.lock_)),
      endpoint_(std::move(other.endpoint_)),
      owns_file_(std::exchange(other.owns_file_, false)) {}

ListeningSocket::~ListeningSocket() {
  if (!owns_file_) return;
  unlink(endpoint_.path.c_str());
  // Removed while it is still locked: the next daemon makes its own.
  unlink((endpoint_.path + ".lock").c_str());
}

Listener::Listener(std::vector<ListeningSocket> sockets, absl::Duration tcp_silence, Accepted accepted)
    : sockets_(std::move(sockets)),
      tcp_silence_(tcp_silence),
      accepted_(std::move(accepted)),
      wake_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { Serve(); });
  pthread_setname_np(thread_.native_handle(), "listener");
}

Listener::~Listener() { Stop(); }

void Listener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof(one));
  thread_.join();
  sockets_.clear();
}

bool AcceptMustWait(int error) {
  switch (error) {
    case EINTR:
    case EAGAIN:
    // Errors of a waiting connection, which the failed accept has removed.
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENONET:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH: return false;
    default: return true;
  }
}

void Listener::RefuseOne(int listening) {
  reserve_ = rpc::Descriptor();
  if (const int fd = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); fd >= 0) {
    RefusedConnection refused(
        ConnectedSocket(fd),
        MakeError(ErrorKind::kLimit, "The daemon has as many files open as it may have (RLIMIT_NOFILE)."));
    const absl::Time end = absl::Now() + absl::Milliseconds(kPauseMs);
    for (pollfd polled{fd, POLLIN, 0}; refused.Advance();) {
      const int64_t left_ms = absl::ToInt64Milliseconds(end - absl::Now());
      if (left_ms <= 0 || poll(&polled, 1, static_cast<int>(left_ms)) <= 0) break;
    }
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
  reserve_ = rpc::Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

void Listener::Serve() {
  reserve_ = rpc::Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<pollfd> polled;
  for (const ListeningSocket& socket : sockets_) polled.push_back({socket.fd(), POLLIN, 0});
  polled.push_back({wake_.get(), POLLIN, 0});
  for (;;) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled.back().revents != 0) return;
    for (size_t i = 0; i < sockets_.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const int fd = accept4(sockets_[i].fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        ConnectedSocket socket(fd);
        if (sockets_[i].endpoint().kind == rpc::Endpoint::Kind::kTcp) {
          const int on = 1;
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
          rpc::EnableKeepalive(fd, tcp_silence_);
        }
        try {
          accepted_(std::move(socket), sockets_[i].endpoint());
        } catch (const std::exception& e) {
          spdlog::error("A connection could not be taken: {}", e.what());
        }
      } else if (AcceptMustWait(errno)) {
        const int error = errno;
        spdlog::error("A connection cannot be accepted: {}.", std::strerror(error));
        if (error == EMFILE || error == ENFILE) {
          RefuseOne(sockets_[i].fd());
        } else {
          std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
        }
      }
    }
  }
}

}  // namespace hlod::grpc_server
