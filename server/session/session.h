// The session machine: one client's commands in order, their answers, and what outlives a broken connection.
// It knows no gRPC: it speaks to a SessionStream, and runs over an in-memory pipe in tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/base/limits.h"
#include "common/rpc/secret.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/workspace.h"
#include "server/session/budgets.h"
#include "server/session/reply_box.h"
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
  Session(Identity identity, device::Devices& devices);

  // Makes `stream` the session's stream and sends its Welcome; what is unacknowledged follows. Returns the
  // stream that it had before, for the caller to finish. Error kind lost_session when the session has ended
  // meanwhile or its lease has run out.
  absl::StatusOr<std::shared_ptr<SessionStream>> Attach(std::shared_ptr<SessionStream> stream,
                                                        const v1::Welcome& welcome);
  // Whether `stream` is the session's.
  bool LivesOn(const SessionStream* stream) const;
  // The stream broke: answers are kept for the next one. False: the session has another stream, or has ended.
  bool Detach(const SessionStream* stream, absl::Time now);
  // Whether it has been detached for `grace`; from then on no stream can be attached, and the caller ends it.
  bool LeaseRanOut(absl::Time now, absl::Duration grace);
  // When it was detached; nothing while connected.
  std::optional<absl::Time> detached_since() const;

  // One message of the client, in order. An error is a violation or the end of the session's limits: the
  // session must end with it.
  absl::Status OnMessage(const SessionStream* stream, const v1::ClientMessage& message);
  void OnWritten(const SessionStream* stream);
  // Sends what is settled, if nothing is on its way. Its stream calls it after messages were handled or
  // written, when nothing else waits.
  void Flush();
  // Whether Flush would send something.
  bool HasNews() const;

  // Whether commands are not settled, or bytes of downloads on their way to a client that is there.
  bool busy() const;

  // Frees everything and ends the stream with `status`.
  void End(const absl::Status& status);
  bool goodbye() const { return goodbye_; }

  // Uploads whose bytes are late, transfers whose declaration is.
  void Tick(absl::Time now);

  // For command handlers. The command is finished, without an answer when it succeeded.
  void Settle(uint64_t command, const absl::Status& status);
  void Answer(v1::Reply reply);
  // The callback that settles.
  device::Done Settler(uint64_t command);
  // Runs `barrier` when all commands before `command` are settled. It has to answer.
  void WhenAllBefore(uint64_t command, std::function<void()> barrier);
  void Goodbye() { goodbye_ = true; }
  const Identity& identity() const { return identity_; }
  device::Workspace& workspace() { return *workspace_; }
  const std::shared_ptr<device::Workspace>& shared_workspace() { return workspace_; }
  SessionTransfers& transfers() { return transfers_; }
  SessionBudgets& budgets() { return budgets_; }
  const Limits& limits() const { return limits_; }
  absl::Time created() const { return created_; }
  uint64_t received_through() const;
  // The account as a message, without rows or with.
  v1::SessionStats Stats(bool with_rows);

  // State of the reader: only used by command handlers, one at a time.
  uint64_t step = 0;
  std::optional<ProgramAssembly> assembly;

 private:
  absl::Status OnMessageRead(const SessionStream* stream, const v1::ClientMessage& message);
  absl::Status OnCommands(const v1::ClientMessage& message);
  absl::Status OnCommand(const v1::Command& command);
  // Whether there is something that the client is to hear now.
  bool MustTell() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleWith(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  void RunBarriers();
  void WriteRest(SessionStream& stream);

  // Constant after construction.
  const Identity identity_;
  const Limits& limits_;
  const absl::Time created_;
  const std::shared_ptr<device::Workspace> workspace_;

  // These lock for themselves.
  SessionBudgets budgets_;
  SessionTransfers transfers_;

  // One message is handled at a time, whichever stream brings it.
  Mutex reader_mu_;
  // Also read by the stream that was replaced, whose thread is another one.
  std::atomic<bool> goodbye_{false};

  // State below is guarded by mu_, which is never held while a stream or a workspace is called.
  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool lease_ran_out_ ABSL_GUARDED_BY(mu_) = false;  // Its end follows.
  std::shared_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> detached_since_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // A message is on its way.
  bool quiet_ ABSL_GUARDED_BY(mu_) = false;    // The client waits for nothing that is merely settled.
  bool reading_ ABSL_GUARDED_BY(mu_) = false;  // A message is being handled; Flush follows.
  ReplyBox box_ ABSL_GUARDED_BY(mu_){budgets_.replies};
  struct Barrier {
    uint64_t command;
    std::function<void()> run;
  };
  std::deque<Barrier> barriers_ ABSL_GUARDED_BY(mu_);
  bool running_barriers_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::session
