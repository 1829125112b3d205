// Detects TCP connections whose peer has vanished silently: the kernel probes the peer's kernel, which also
// answers for a program that sleeps.
#pragma once

#include "absl/time/time.h"

namespace hlod::rpc {

// The smallest time that keepalive can be set to; the kernel counts in whole seconds.
inline constexpr absl::Duration kSilenceMin = absl::Seconds(4);

// Makes an idle connection break (ETIMEDOUT) after `silence` without an answer from the peer's kernel. Does
// nothing for sockets other than TCP. TCP_USER_TIMEOUT is not used: since Linux 5.11 it also breaks a
// connection whose peer answers but does not read for that time, as a program does that computes while bytes
// arrive.
void EnableKeepalive(int socket, absl::Duration silence);

// Returns true when sent data has not been acknowledged for `silence`, although it was sent again; keepalive
// does not cover this case. Returns false for a peer that answers and does not read.
bool IsUnreachable(int socket, absl::Duration silence);

}  // namespace hlod::rpc
