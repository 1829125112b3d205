// Sealed memfds, descriptors sent over unix sockets, abstract sockets, peer credentials.
#include "common/rpc/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/errors/status.h"

namespace hlod::rpc {
namespace {

// Returns ErrnoToStatus with the call's name; a lost peer is UNAVAILABLE under every errno.
absl::Status Failed(std::string_view what) {
  const int error = errno;
  if (error == EPIPE || error == ECONNRESET || error == ECONNREFUSED || error == ENOENT) {
    return Unavailable("%s failed: %s.", what, std::strerror(error));
  }
  return absl::ErrnoToStatus(error, absl::StrCat(ToAbsl(what), " failed"));
}

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length = 0;
};

absl::StatusOr<AbstractAddress> MakeAbstract(const std::string& name) {
  AbstractAddress result;
  result.address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof(result.address.sun_path)) {
    return InvalidArgument("Abstract socket name (%s) is %d bytes long; the limit is %d.", name, name.size(),
                           sizeof(result.address.sun_path) - 1);
  }
  std::memcpy(result.address.sun_path + 1, name.data(), name.size());
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.Release();
  }
  return *this;
}
Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}
int Descriptor::Release() { return std::exchange(fd_, -1); }

absl::StatusOr<SharedMemory> SharedMemory::Create(int64_t bytes) {
  Descriptor fd(memfd_create("hlod-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return Failed("memfd_create");
  if (ftruncate(fd.get(), bytes) != 0) return Failed("Sizing the shared arena");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Failed("Sealing the shared arena");
  return Map(std::move(fd), bytes);
}

absl::StatusOr<SharedMemory> SharedMemory::Map(Descriptor fd, int64_t bytes) {
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW)) {
    return FailedPrecondition("The descriptor of the shared arena is not a memfd of sealed size.");
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return Failed("Reading the shared arena's size");
  if (bytes <= 0 || info.st_size != bytes) {
    return FailedPrecondition("The shared arena has %d bytes; %d were announced.", info.st_size, bytes);
  }
  void* data = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return Failed("Mapping the shared arena");
  SharedMemory memory;
  memory.fd_ = std::move(fd);
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_ = bytes;
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_));
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_));
}

namespace {

// A message of one byte, with room for one descriptor beside it.
struct DescriptorMessage {
  DescriptorMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 'd';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
};

}  // namespace

absl::Status SendDescriptor(int socket, int fd) {
  DescriptorMessage frame;
  cmsghdr* header = CMSG_FIRSTHDR(&frame.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
  if (sendmsg(socket, &frame.message, MSG_NOSIGNAL) != 1) return Failed("Passing a descriptor");
  return absl::OkStatus();
}

absl::StatusOr<Descriptor> ReceiveDescriptor(int socket) {
  DescriptorMessage frame;
  const ssize_t received = recvmsg(socket, &frame.message, MSG_CMSG_CLOEXEC);
  if (received < 0) return Failed("Receiving a descriptor");
  if (received == 0) return Unavailable("The peer closed the socket instead of passing a descriptor.");
  const cmsghdr* header = CMSG_FIRSTHDR(&frame.message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return FailedPrecondition("The peer sent a byte without a descriptor.");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
  return Descriptor(fd);
}

absl::StatusOr<Descriptor> ListenAbstract(const std::string& name) {
  ASSIGN_OR_RETURN(const AbstractAddress address, MakeAbstract(name));
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Failed("Opening the arena's socket");
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.address), address.length) != 0 ||
      listen(fd.get(), 64) != 0) {
    return Failed("Listening on the arena's socket");
  }
  return fd;
}

absl::StatusOr<Descriptor> ConnectAbstract(const std::string& name, absl::Duration timeout) {
  ASSIGN_OR_RETURN(const AbstractAddress address, MakeAbstract(name));
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Failed("Opening a socket to the arena");
  // SO_SNDTIMEO also bounds connect, which waits while the listener's queue is full.
  const timeval limit = absl::ToTimeval(timeout);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.address), address.length) != 0) {
    return Failed("Connecting to the arena's socket");
  }
  return fd;
}

absl::StatusOr<SharedMemory> FetchSharedMemory(const std::string& socket, const std::string& secret,
                                               int64_t bytes) {
  // The wait has a limit: the daemon answers as soon as it gets a core, but another program that took its
  // name may not.
  ASSIGN_OR_RETURN(const Descriptor connected, ConnectAbstract(socket, absl::Seconds(5)));
  if (send(connected.get(), secret.data(), secret.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(secret.size()))
    return Failed("Sending a secret");
  ASSIGN_OR_RETURN(Descriptor memory, ReceiveDescriptor(connected.get()));
  return SharedMemory::Map(std::move(memory), bytes);
}

absl::StatusOr<PeerCredentials> ReadPeerCredentials(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return Failed("Reading the peer's credentials");
  return PeerCredentials{credentials.pid, credentials.uid, credentials.gid};
}

}  // namespace hlod::rpc
