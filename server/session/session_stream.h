// What the session machine needs of a connection. gRPC is one implementation (session_handler.cc); tests use
// one in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::session {

// Who is at the other end, as far as the kernel or TLS says.
struct Peer {
  // On a unix socket of this host: process ids mean something, and the shared arena works.
  bool local = false;
  std::string description;       // For the log: "unix", "ipv4:10.1.2.3:5555".
  // Whom its sessions count for: "user 1000", "user 1000 over TCP", "host 10.1.2.3".
  std::string owner;
  std::optional<uint32_t> user;  // Of a unix socket, as the kernel says.
};

// The daemon's half of one stream. Messages that come in go to a Connection (connection.h).
class SessionStream {
 public:
  virtual ~SessionStream() = default;
  // Starts sending; `message` is not used after the return. Does not wait. Connection::OnWritten() says when
  // it is out.
  virtual void Write(const v1::ServerMessage& message) = 0;
  // Ends the stream when what was written is out. Nothing is written after it.
  virtual void Finish(const absl::Status& status) = 0;
};

// One bulk stream of a session, as far as the session is concerned. Thread-safe.
class BulkStream {
 public:
  virtual ~BulkStream() = default;
  // Ends the call at once: its session is over.
  virtual void Stop() = 0;
};

// The processes that have connections here. Thread-safe.
class Processes {
 public:
  virtual ~Processes() = default;
  // The user id of a process that connected to this daemon's unix socket and has not ended; nothing for any
  // other process.
  virtual std::optional<uint32_t> UserOf(int64_t pid) const { return std::nullopt; }
  // Whether a process with this id connected and ended lately, and no other has connected under its id.
  virtual bool HasEnded(int64_t pid) const { return false; }
};

}  // namespace hlod::session
