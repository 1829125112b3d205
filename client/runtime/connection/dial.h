// Connects sockets to daemons without gRPC, which would not say why it cannot.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/shared_memory.h"

namespace hlod::runtime {

// The time without an answer from the peer's kernel after which a TCP connection is broken.
inline constexpr absl::Duration kSilence = absl::Seconds(30);

// Returns a connected socket that does not block. For kDescriptor that is the descriptor itself, which is
// owned by the result. Errors: kind lost_session for a daemon that has ended (the socket refuses, or its file
// does not exist); auth without the right to connect, and for a listener of another user at a default or an
// abstract socket; argument for a descriptor that is not a connected socket; UNAVAILABLE otherwise. The
// addresses of a TCP host share the time until the deadline.
absl::StatusOr<rpc::Descriptor> Dial(const rpc::Endpoint& endpoint, absl::Time deadline);

// Breaks a TCP connection whose peer's kernel has not answered for kSilence, also while data is being sent:
// the daemon always reads, so a peer that does not acknowledge is gone.
void NoticeSilence(int socket);

}  // namespace hlod::runtime
