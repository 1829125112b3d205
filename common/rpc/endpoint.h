// Addresses of a daemon: "unix:/run/hlod/hlod.sock", "127.0.0.1:8470", "fd:5".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::rpc {

struct Endpoint {
  enum class Kind { kUnix, kTcp, kDescriptor } kind = Kind::kUnix;
  std::string path;     // kUnix: file system path.
  std::string host;     // kTcp
  int port = 0;         // kTcp; 0 lets the system choose when listening.
  int descriptor = -1;  // kDescriptor: an inherited connected socket.
  // kUnix: looked for where daemons usually are, and not named by the user: the process that listens there
  // has to be this user or the system.
  bool found = false;

  // Whether a TCP host is the loopback interface (127.0.0.0/8, ::1, localhost): where plain TCP is allowed.
  bool IsLoopback() const;
};

// "unix:PATH", an absolute "/PATH", "tcp:HOST:PORT" or "HOST:PORT" ("[::1]:PORT" for IPv6), "fd:N".
// INVALID_ARGUMENT otherwise, naming the text and the forms; a unix path over 107 bytes is refused naming the
// limit.
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view text);
// The form ParseEndpoint reads.
std::string ToString(const Endpoint& endpoint);

// The system's daemon.
inline constexpr char kSystemSocketPath[] = "/run/hlod/hlod.sock";

// Where a daemon listens by default: $XDG_RUNTIME_DIR/hlod.sock when `xdg_runtime_dir` is not empty, else
// kSystemSocketPath.
std::string DefaultSocketPath(std::string_view xdg_runtime_dir);

}  // namespace hlod::rpc
