// The interface between a session and a connection: ordered messages both ways, polled by the thread that
// waits. gRPC is one implementation (grpc_pipe.h); tests use one in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/hlod/v1/bulk.pb.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

// One serialized message: the concatenation of its parts, which may be shared with the command log.
using MessageParts = std::vector<std::shared_ptr<const std::string>>;

struct PipeEvent {
  enum class Kind { kNothing, kWritten, kRead, kEnded } kind = Kind::kNothing;
  v1::ServerMessage message;  // The message of kRead.
  // The reason of kEnded, with the daemon's ErrorDetails if it sent them. OK if the daemon ended the stream
  // in order.
  absl::Status status;
};

// One stream. A write and a poll may run at once on different threads.
class Pipe {
 public:
  virtual ~Pipe() = default;
  // Starts to send a serialized ClientMessage; does not wait. Returns true if it has been sent already.
  // Otherwise the next may follow only after kWritten.
  virtual bool StartWrite(MessageParts message) = 0;
  // Returns the next event, or kNothing at about `deadline` (a millisecond later at most). No event follows
  // kEnded. One caller at a time.
  virtual PipeEvent Poll(absl::Time deadline) = 0;
  // Returns true when messages end with their checksums in both directions. Hello must then request
  // checksums.
  virtual bool checksums() const { return false; }
  // Ends writing: no more writes may follow.
  virtual void FinishWrites() = 0;
  // Ends the stream now: Poll soon returns kEnded. May be called on any thread.
  virtual void Cancel() = 0;
};

// Asked several times a second while nothing moves on a bulk stream, with the time for which nothing has
// moved. Returns false when the stream must be given up.
using BulkWatch = absl::FunctionRef<bool(absl::Duration still)>;

// A bulk stream of chunks, besides the session's own stream. A stream that `watch` gives up ends with
// UNAVAILABLE. On a connection that may stall, a stream cannot tell by itself that it waits for ever: its
// peer's side may be gone, or it may be on another connection than the session.
class BulkChannel {
 public:
  virtual ~BulkChannel() = default;
  // Sends all of `bytes` for the transfer; returns when the daemon has them.
  virtual absl::Status Upload(const v1::TransferId& transfer, absl::Span<const std::byte> bytes,
                              int64_t chunk_bytes, absl::Time deadline, BulkWatch watch) = 0;
  // Fills `out`, whose size must be that of the transfer.
  virtual absl::Status Download(const v1::TransferId& transfer, absl::Span<std::byte> out,
                                absl::Time deadline, BulkWatch watch) = 0;
};

// Makes connections to one daemon.
class Connector {
 public:
  virtual ~Connector() = default;
  // Opens a stream on a new connection. Fails with kind lost_session if no program listens there any more
  // (the socket does not exist or refuses), so that a session there is lost. After other errors the call may
  // be repeated.
  virtual absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline) = 0;
  // Returns `status`, the error of a connection that ended before the daemon's greeting, with the reason if
  // it is known.
  virtual absl::Status Explain(const absl::Status& status) { return status; }
  // Returns bulk streams on the latest connection.
  virtual std::shared_ptr<BulkChannel> bulk() = 0;
  // "unix:/run/hlod/hlod.sock"
  virtual const std::string& address() const = 0;
  // Returns true when a connection may stall without ending, because it leads through a network, or through a
  // tunnel whose ends answer separately.
  virtual bool may_stall() const { return false; }
  // Returns true when the daemon may be on this host: its process ids mean something, and shared memory may
  // work.
  virtual bool local() const = 0;
};

}  // namespace hlod::runtime
