// The session machine: one client's commands in order, their answers, and what outlives a broken connection.
// It knows no gRPC: it speaks to a SessionStream, and runs over an in-memory pipe in tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/base/limits.h"
#include "common/rpc/secret.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/session_device.h"
#include "server/session/answers.h"
#include "server/session/budgets.h"
#include "server/session/session_stream.h"
#include "server/session/transfers.h"

namespace hlod::session {

// A program that arrives in chunks.
struct ProgramAssembly {
  device::CompileRequest request;  // Its program grows; it stays empty when the request is refused already.
  bool describe = false;
  uint64_t bytes = 0;  // To come in all.
  uint64_t received = 0;
  int64_t reserved_bytes = 0;  // SessionBudgets::staging: what came and was not refused.
};

// Thread-safe. Held by the registry and by callbacks of work under way.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Identity {
    uint64_t id = 0;
    rpc::Secret secret;
    std::string client;            // As it calls itself.
    int64_t pid = 0;               // 0: not known to be a local process.
    std::string owner;             // Whom it counts for (sessions_per_user_max).
    std::optional<uint32_t> user;  // Of the connection that opened it.
    bool offers_arena = false;
  };
  // What a session takes that has done nothing yet.
  static constexpr int64_t kBytes = 128 << 10;
  // `charge`: of kBytes.
  Session(Identity identity, device::Devices& devices, device::MemoryCharge charge);

  // One message of the client, in order. An error is a violation or the end of the session's limits: the
  // session must end with it.
  absl::Status OnMessage(const SessionStream* stream, const v1::ClientMessage& message);
  // Whether commands are not settled, or bytes of downloads on their way to a client that is there.
  bool busy() const;

  // Frees everything and ends the stream with `status`.
  void End(const absl::Status& status);
  bool goodbye() const { return goodbye_; }

  // Uploads whose bytes are late, transfers whose declaration is.
  void Tick(absl::Time now);

  // For command handlers: the callback that settles.
  device::Done Settler(uint64_t command);
  void Goodbye() { goodbye_ = true; }

  const Identity& identity() const { return identity_; }
  device::SessionDevice& session_device() { return *session_device_; }
  const std::shared_ptr<device::SessionDevice>& shared_session_device() { return session_device_; }
  Answers& answers() { return answers_; }
  SessionTransfers& transfers() { return transfers_; }
  SessionBudgets& budgets() { return budgets_; }
  const Limits& limits() const { return limits_; }
  absl::Time created() const { return created_; }
  // The account as a message, without rows or with.
  v1::SessionStats Stats(bool with_rows);

  // State of the reader: only used by command handlers, one at a time.
  uint64_t step = 0;
  std::optional<ProgramAssembly> assembly;

 private:
  absl::Status OnMessageRead(const v1::ClientMessage& message);
  absl::Status OnCommands(const v1::ClientMessage& message);
  absl::Status OnCommand(const v1::Command& command);

  // Constant after construction.
  const Identity identity_;
  const Limits& limits_;
  const absl::Time created_;
  const std::shared_ptr<device::SessionDevice> session_device_;

  // These lock for themselves.
  const device::MemoryCharge charge_;
  SessionBudgets budgets_;
  Answers answers_;
  SessionTransfers transfers_;

  // One message is handled at a time, whichever stream brings it.
  Mutex reader_mu_;
  // Also read by the stream that was replaced, whose thread is another one.
  std::atomic<bool> goodbye_{false};
};

}  // namespace hlod::session
