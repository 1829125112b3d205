// The process that a connection belongs to. A forked child has a copy of its parent's memory, but none of its
// threads: a lock that was held at the fork stays held, and the connection still belongs to the parent. So
// every function of the client that would lock, send or wait checks first, and fails at once in a child.
#pragma once

#include <sys/types.h>

#include "absl/status/status.h"

namespace hlod::runtime {

// Remembers the process in which it was constructed.
class OwnerProcess {
 public:
  OwnerProcess();
  bool IsThisOne() const;
  // Returns OK in that process; in a forked child, FAILED_PRECONDITION of kind lost_session.
  absl::Status Check() const;

 private:
  pid_t pid_;
};

// Must be called before each use of gRPC that makes a connection: gRPC starts threads at its first use and
// cannot be used in a child of that process. The first call claims gRPC for this process; in a forked child
// it returns FAILED_PRECONDITION of kind lost_session.
absl::Status ClaimGrpc();
// Returns what ClaimGrpc() would, and claims nothing.
absl::Status CheckGrpc();

}  // namespace hlod::runtime
