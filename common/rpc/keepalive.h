// TCP connections whose peer has vanished without a word: the kernel asks the peer's kernel, which also
// answers for a program that sleeps.
#pragma once

#include "absl/time/time.h"

namespace hlod::rpc {

// What keepalive can be set to; the kernel counts in whole seconds.
inline constexpr absl::Duration kSilenceMin = absl::Seconds(4);

// An idle connection breaks (ETIMEDOUT) after `silence` in which the peer's kernel answered nothing. Does
// nothing for sockets that are not TCP. TCP_USER_TIMEOUT is not used: it also breaks a connection whose peer
// answers but does not read for so long (since Linux 5.11), as a program does that computes while bytes
// arrive.
void EnableKeepalive(int socket, absl::Duration silence);

// Whether data on its way was not acknowledged for `silence`, although it was sent again: what keepalive does
// not look at. False for a peer that answers and does not read.
bool IsUnreachable(int socket, absl::Duration silence);

}  // namespace hlod::rpc
