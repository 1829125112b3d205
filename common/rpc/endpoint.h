// Addresses of a daemon: "unix:/run/hlod/hlod.sock", "unix:@name", "127.0.0.1:8470", "fd:5".
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::rpc {

struct Endpoint {
  enum class Kind { kUnix, kTcp, kDescriptor } kind = Kind::kUnix;
  std::string path;     // For kUnix: the path of the socket, or '@' and a name of the abstract namespace.
  std::string host;     // For kTcp.
  int port = 0;         // For kTcp; 0 lets the system choose a port to listen on.
  int descriptor = -1;  // For kDescriptor: an inherited, connected socket.
  // For kUnix: true when the path is one of the daemon's default paths instead of one that the user named.
  // Then the process that listens there must belong to this user or the system.
  bool found = false;

  // Returns true when a TCP host is the loopback interface (127.0.0.0/8, ::1, localhost), where plain TCP is
  // allowed.
  bool IsLoopback() const;
  // Returns true for a name in Linux's abstract namespace, which has no file and ends with its listener. Any
  // user can connect or listen there, so both sides ask the kernel for the other's user.
  bool IsAbstract() const { return kind == Kind::kUnix && path.starts_with('@'); }
};

// A socket address for a path of kUnix, which is at most as long as ParseEndpoint allows.
struct UnixAddress {
  sockaddr_un address{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};
UnixAddress ToUnixAddress(std::string_view path);

// Parses "unix:PATH", "unix:@NAME", an absolute "/PATH", "tcp:HOST:PORT" or "HOST:PORT" ("[::1]:PORT" for
// IPv6), "fd:N". INVALID_ARGUMENT otherwise, with the text and the accepted forms. A unix path over 107 bytes
// is refused; the error names that limit.
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view text);
// Returns the form that ParseEndpoint reads.
std::string ToString(const Endpoint& endpoint);

// The socket of the system's daemon.
inline constexpr char kSystemSocketPath[] = "/run/hlod/hlod.sock";

// Returns the path at which a daemon listens by default: $XDG_RUNTIME_DIR/hlod.sock when `xdg_runtime_dir` is
// not empty, else kSystemSocketPath.
std::string DefaultSocketPath(std::string_view xdg_runtime_dir);

}  // namespace hlod::rpc
