// Connects sockets, and distinguishes the reasons why that fails.
#include "client/runtime/connection/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/rpc/credentials.h"
#include "common/rpc/keepalive.h"
namespace hlod::runtime {
namespace {

absl::Status Unreachable(const rpc::Endpoint& endpoint, int error) {
  const std::string text =
      absl::StrFormat("No daemon answers at %s: %s.", rpc::ToString(endpoint), std::strerror(error));
  // The socket does not exist or refuses, so the daemon has ended.
  if (error == ECONNREFUSED || error == ENOENT || error == ENOTDIR)
    return MakeError(ErrorKind::kLostSession, text);
  if (error == EACCES || error == EPERM) return MakeError(ErrorKind::kAuth, text);
  return Unavailable("%s", text);
}

// Connects without blocking beyond the deadline. Returns 0 or an errno.
int ConnectWithin(int fd, const sockaddr* address, socklen_t size, absl::Time deadline) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (connect(fd, address, size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EAGAIN) return errno;
  for (;;) {
    pollfd waiting = {.fd = fd, .events = POLLOUT};
    const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(deadline - absl::Now()), 0, 1 << 30);
    const int n = poll(&waiting, 1, static_cast<int>(ms));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? ETIMEDOUT : errno;
    int error = 0;
    socklen_t length = sizeof(error);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    return error;
  }
}

// Refuses a listener of another user on a default socket, or on an abstract one: that user could have made
// the socket to get this program's data. Only the system makes the folder of the system's daemon, so the
// folder's owner is that daemon's user.
absl::Status CheckListener(int fd, const std::string& path) {
  ASSIGN_OR_RETURN(const rpc::PeerCredentials peer, rpc::ReadPeerCredentials(fd));
  if (peer.uid == geteuid() || peer.uid == 0) return absl::OkStatus();
  struct stat folder = {};
  if (path == rpc::kSystemSocketPath && stat("/run/hlod", &folder) == 0 && folder.st_uid == peer.uid &&
      (folder.st_mode & S_IWOTH) == 0)
    return absl::OkStatus();
  return MakeError(
      ErrorKind::kAuth,
      absl::StrFormat("The daemon at unix:%s is not trusted: it runs as user %d, who is neither this "
                      "user (%d) nor the system. If it is the one that is meant, give its address.",
                      path, peer.uid, geteuid()));
}

absl::StatusOr<rpc::Descriptor> DialUnix(const rpc::Endpoint& endpoint, absl::Time deadline) {
  const rpc::UnixAddress address = rpc::ToUnixAddress(endpoint.path);
  for (;;) {
    rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return Unreachable(endpoint, errno);
    fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    if (connect(fd.get(), address.get(), address.size) == 0) {
      if (endpoint.found || endpoint.IsAbstract()) RETURN_IF_ERROR(CheckListener(fd.get(), endpoint.path));
      return fd;
    }
    // EAGAIN on a unix socket means that the listener's queue is full.
    if (errno != EAGAIN || absl::Now() >= deadline) return Unreachable(endpoint, errno);
    absl::SleepFor(absl::Milliseconds(1));
  }
}

// Returns the time until which one of `candidates` addresses is tried, so that one that drops packets leaves
// time for the others.
absl::Time ShareOf(absl::Time deadline, int64_t candidates) {
  const absl::Time now = absl::Now();
  return now + (deadline - now) / candidates;
}

absl::StatusOr<rpc::Descriptor> DialTcp(const rpc::Endpoint& endpoint, absl::Time deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int resolved =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (resolved != 0) {
    return Unavailable("Host (%s) of the daemon's address is unknown: %s.", endpoint.host,
                       gai_strerror(resolved));
  }
  int64_t candidates = 0;
  for (const addrinfo* candidate = found; candidate != nullptr; candidate = candidate->ai_next) ++candidates;
  int error = EHOSTUNREACH;
  rpc::Descriptor connected;
  for (addrinfo* candidate = found; candidate != nullptr && !connected.valid();
       candidate = candidate->ai_next, --candidates) {
    rpc::Descriptor fd(socket(candidate->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid()) continue;
    error = ConnectWithin(fd.get(), candidate->ai_addr, candidate->ai_addrlen, ShareOf(deadline, candidates));
    if (error == 0) connected = std::move(fd);
  }
  freeaddrinfo(found);
  if (!connected.valid()) return Unreachable(endpoint, error);
  const int on = 1;
  setsockopt(connected.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  NoticeSilence(connected.get());
  return connected;
}

// Returns the socket of kDescriptor, which is refused unless it is a connected one: gRPC would abort the
// program.
absl::StatusOr<rpc::Descriptor> TakeDescriptor(int fd) {
  if (fd < 0) return MakeError(ErrorKind::kLostSession, "The private daemon ended.");
  int type = 0;
  socklen_t type_size = sizeof(type);
  sockaddr_storage peer = {};
  socklen_t peer_size = sizeof(peer);
  if (fcntl(fd, F_GETFD) >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 &&
      getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) {
    if (type == SOCK_STREAM) {
      fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
      return rpc::Descriptor(fd);
    }
    errno = EPROTOTYPE;
  }
  return MakeError(ErrorKind::kArgument,
                   absl::StrFormat("Descriptor %d is not a connected socket: %s.", fd, std::strerror(errno)));
}

}  // namespace

absl::StatusOr<rpc::Descriptor> Dial(const rpc::Endpoint& endpoint, absl::Time deadline) {
  switch (endpoint.kind) {
    case rpc::Endpoint::Kind::kDescriptor: return TakeDescriptor(endpoint.descriptor);
    case rpc::Endpoint::Kind::kUnix: return DialUnix(endpoint, deadline);
    case rpc::Endpoint::Kind::kTcp: return DialTcp(endpoint, deadline);
  }
  return Internal("An endpoint of no kind.");
}

void NoticeSilence(int socket) {
  rpc::EnableKeepalive(socket, kSilence);
  const unsigned int ms = static_cast<unsigned int>(absl::ToInt64Milliseconds(kSilence));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

}  // namespace hlod::runtime
