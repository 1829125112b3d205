// Memory that two processes share: a sealed memfd, sent as a descriptor over a unix socket and mapped by
// both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace hlod::rpc {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release();

 private:
  int fd_ = -1;
};

// A mapped region. Not copyable; unmaps itself. Copy data before a decision depends on it, because the other
// side may write at any time.
class SharedMemory {
 public:
  // Makes a new region of `bytes` bytes. Its size is sealed (F_SEAL_SHRINK | F_SEAL_GROW), so that a
  // truncation cannot kill a process that maps it.
  static absl::StatusOr<SharedMemory> Create(int64_t bytes);
  // Maps a received descriptor. Refuses one that is not sealed, or whose size is not `bytes`.
  static absl::StatusOr<SharedMemory> Map(Descriptor fd, int64_t bytes);

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  absl::Span<std::byte> bytes() const { return {data_, static_cast<size_t>(size_)}; }
  int fd() const { return fd_.get(); }
  // Returns the descriptor, which the mapping does not need.
  Descriptor TakeDescriptor() { return std::move(fd_); }

 private:
  Descriptor fd_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

// SendDescriptor sends one byte with a descriptor over a connected unix socket; ReceiveDescriptor receives
// them. UNAVAILABLE when the peer is gone.
absl::Status SendDescriptor(int socket, int fd);
absl::StatusOr<Descriptor> ReceiveDescriptor(int socket);

// Make a listening or a connected socket in the abstract namespace (SOCK_STREAM, close-on-exec). Connecting,
// and each later read and write of the connected socket, waits at most `timeout`.
absl::StatusOr<Descriptor> ListenAbstract(const std::string& name);
absl::StatusOr<Descriptor> ConnectAbstract(const std::string& name,
                                           absl::Duration timeout = absl::Seconds(2));

// Fetches memory from the daemon's socket (ArenaServer): sends the secret, receives the descriptor, and maps
// it.
absl::StatusOr<SharedMemory> FetchSharedMemory(const std::string& socket, const std::string& secret,
                                               int64_t bytes);

// The process at the other end of a unix socket (SO_PEERCRED).
struct PeerCredentials {
  int pid = 0;
  uint32_t uid = 0, gid = 0;
};
absl::StatusOr<PeerCredentials> ReadPeerCredentials(int socket);

}  // namespace hlod::rpc
