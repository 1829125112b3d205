// What the session machine needs of a connection: ordered messages both ways, polled by the thread that
// waits. gRPC is one implementation (grpc_pipe.h); tests use one in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/hlod/v1/bulk.pb.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::internal {

// One serialized message: the concatenation of its parts, each shared with whatever keeps it.
using MessageParts = std::vector<std::shared_ptr<const std::string>>;

struct PipeEvent {
  enum class Kind { kNothing, kWritten, kRead, kEnded } kind = Kind::kNothing;
  v1::ServerMessage message;  // kRead
  absl::Status status;  // kEnded: why, with the daemon's ErrorDetails when it gave one. OK when the daemon
                        // ended it in order.
};

// One stream. A write and a poll may run at once, on different threads.
class Pipe {
 public:
  virtual ~Pipe() = default;
  // Sends a serialized ClientMessage. One at a time: the next after kWritten. Does not wait.
  virtual void StartWrite(MessageParts message) = 0;
  // The next event, or kNothing at `deadline` (or for no reason). After kEnded there is none. One caller at a
  // time.
  virtual PipeEvent Poll(absl::Time deadline) = 0;
  // Whether it ends messages with their checksums, and asks for them: Hello has to say so.
  virtual bool checksums() const { return false; }
  // No more writes follow.
  virtual void FinishWrites() = 0;
  // Ends the stream now: Poll soon gives kEnded. Any thread.
  virtual void Cancel() = 0;
};

// A bulk stream of chunks, beside the session's own.
class BulkChannel {
 public:
  virtual ~BulkChannel() = default;
  // Sends all of `bytes` under the transfer; returns when the daemon has them.
  virtual absl::Status Upload(const v1::TransferId& transfer, absl::Span<const std::byte> bytes,
                              int64_t chunk_bytes, absl::Time deadline) = 0;
  // Fills `out`, which must be what the transfer carries.
  virtual absl::Status Download(const v1::TransferId& transfer, absl::Span<std::byte> out,
                                absl::Time deadline) = 0;
};

// Makes connections to one daemon.
class Connector {
 public:
  virtual ~Connector() = default;
  // A stream on a new connection. Kind lost_session: nothing listens there any more (the socket does not
  // exist or refuses), so a session there is lost. After other errors it may be tried again.
  virtual absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline) = 0;
  // The error of a connection that came about and ended before the daemon greeted, with what is known of why.
  virtual absl::Status Explain(const absl::Status& status) { return status; }
  // Bulk streams on the latest connection.
  virtual std::shared_ptr<BulkChannel> bulk() = 0;
  // "unix:/run/hlod/hlod.sock"
  virtual const std::string& address() const = 0;
  // Whether a connection may stall without an end: it leads through a network, or a tunnel whose ends answer
  // each for itself.
  virtual bool may_stall() const { return false; }
  // Whether the daemon may be on this host: its process ids mean something, and shared memory may work.
  virtual bool local() const = 0;
};

}  // namespace hlod::internal
