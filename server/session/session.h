// A session: one client's commands in order, their answers, and the state that survives a broken connection.
// It is independent of gRPC: it writes to a SessionStream, and tests run it over an in-memory pipe.
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
  // `request.program` grows with the chunks; it stays empty when the request was refused already.
  device::CompileRequest request;
  bool describe = false;
  uint64_t bytes = 0;  // The size of the whole program.
  uint64_t received = 0;
  // The bytes that arrived and were not refused, which are charged to SessionBudgets::staging.
  int64_t reserved_bytes = 0;
};

// Thread-safe. Owned by the registry and by callbacks of pending work.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Identity {
    uint64_t id = 0;
    rpc::Secret secret;
    rpc::Secret ring_key;          // Ring.key of its Welcome.
    std::string client;            // The client's name for itself.
    int64_t pid = 0;               // 0 if it is not known to be a local process.
    std::string owner;             // The owner for whom it is counted (sessions_per_user_max).
    std::optional<uint32_t> user;  // The user of the connection that opened it.
    bool offers_arena = false, offers_ring = false;
    device::LaunchClient launches;  // The client of its launches.
  };
  // The memory of a session that has done no work yet.
  static constexpr int64_t kBytes = 128 << 10;
  // `charge` is a charge of kBytes.
  Session(Identity identity, device::Devices& devices, device::MemoryCharge charge);

  // Handles one message of the client, in order. An error is a violation or an exceeded limit of the session:
  // the session must end with it.
  absl::Status OnMessage(const SessionStream* stream, const v1::ClientMessage& message);
  // Returns true while some commands are not settled, or bytes of downloads are being sent to a connected
  // client.
  bool busy() const;

  // Frees everything and ends the stream with `status`.
  void End(const absl::Status& status);
  bool goodbye() const { return goodbye_; }

  // Called before the client gets a new stream: what the daemon waits for may have to be sent again.
  void OnResume();
  // Fails uploads whose bytes are late, and transfers whose declaration is late. Called on one thread.
  void Tick(absl::Time now);

  // For command handlers. Settler returns the callback that settles `command`.
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
  // Returns the account as a message, with or without rows.
  v1::SessionStats Stats(bool with_rows);

  // State of the reader, used only by command handlers, one at a time.
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

  // Members that have their own locks.
  const device::MemoryCharge charge_;
  SessionBudgets budgets_;
  Answers answers_;
  SessionTransfers transfers_;

  // Held while a message is handled: one at a time, even from different streams.
  Mutex reader_mu_;
  // Atomic, because a replaced stream, on another thread, also reads it.
  std::atomic<bool> goodbye_{false};
  std::atomic<bool> heard_{false};              // True when a message came since the last Tick.
  absl::Time heard_at_ = absl::InfinitePast();  // The time of the Tick that found the last one.
};

}  // namespace hlod::session
