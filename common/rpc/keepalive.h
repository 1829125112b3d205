// Detects TCP connections whose peer has vanished silently: the kernel probes the peer's kernel, which also
// answers for a program that does not run.
#pragma once

#include "absl/time/time.h"

namespace hlod::rpc {

// The smallest interval of keepalive; the kernel counts in whole seconds.
inline constexpr absl::Duration kSilenceMin = absl::Seconds(4);

// Makes an idle connection break (ETIMEDOUT) after `silence` without an answer from the peer's kernel. Does
// nothing for sockets other than TCP. TCP_USER_TIMEOUT is not used: since Linux 5.11 it also breaks a
// connection whose peer answers but does not read for that time, for example because the program is
// computing.
void EnableKeepalive(int socket, absl::Duration silence);

// Returns true when sent data has not been acknowledged for `silence` although it was sent again; keepalive
// does not cover this case. Returns false for a peer that acknowledges but does not read.
bool IsUnreachable(int socket, absl::Duration silence);

}  // namespace hlod::rpc
