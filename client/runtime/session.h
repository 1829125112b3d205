// The session machine: command ids, order, settlement, acknowledgement, replay. It knows messages and a Pipe,
// and no gRPC.
//
// There is no reader thread (but for one that looks now and then, where the daemon asks whether its peer is
// there: Beat). A thread that waits becomes the poller, which handles every event, and stops
// polling when what it waits for has come; another one that waits then polls. A thread that sends writes at
// once when no write is under way; else its commands queue, and the poller sends them on, several in one
// message, or, when no thread polls, the sender polls until the queue is empty. Small uploads wait for the
// command that uses them. As long as no thread waits for a command that has no reply, the client says that
// the daemon need not report progress (ClientMessage.quiet). Handles that were dropped are freed with the
// next command, large ones at once. A broken connection is made again by a thread that ends when it is:
// callers that wait do so until their deadlines, and calls that do not wait return.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/runtime/heart.h"
#include "client/runtime/outbox.h"
#include "client/runtime/pipe.h"
#include "client/runtime/process.h"
#include "client/runtime/program_history.h"
#include "client/runtime/sent_programs.h"
#include "common/base/error.h"
#include "common/base/limits.h"
#include "common/base/sha256.h"
#include "hlod/caller.h"
#include "hlod/types.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::internal {

class Arena;

// One command under way. `done` is set once, after the other fields; those never change again.
struct CommandState {
  uint64_t id = 0;
  uint32_t origin = 0;
  bool has_reply = false;  // It is answered by a Reply also when it succeeds.
  std::atomic<bool> done = false;
  absl::Status status;  // OK, or the command's error.
  v1::Reply reply;      // What it asked for, if anything.
};
using Command = std::shared_ptr<CommandState>;

class AbstractSession;
class BackgroundCloser;

struct SessionOptions {
  // Ends the session's stream after the session; null: the stream is cancelled once its goodbye is written.
  std::shared_ptr<BackgroundCloser> closer;
  std::string name;
  absl::Duration timeout = absl::Seconds(10);
  // Where a connection may stall (Connector::may_stall), a wait in which nothing came for `question` asks the
  // daemon whether it is there, and breaks the connection when it does not answer for `silence`.
  absl::Duration question = absl::Seconds(10), silence = absl::Seconds(30);
  absl::Duration beat = kBeat;  // There, too.
  bool shared_memory = true;
  bool skip_local_checks = false;
  std::shared_ptr<AbstractSession> abstract;  // Null unless the session is abstract.
};

// What every call after Close returns.
absl::Status SessionIsClosed();

class Session : public std::enable_shared_from_this<Session> {
 public:
  // Connects and greets. Kind version, auth, limit (too many sessions), or UNAVAILABLE naming the address.
  static absl::StatusOr<std::shared_ptr<Session>> Open(std::unique_ptr<Connector> connector,
                                                       const SessionOptions& options);
  // Says goodbye and leaves the stream's end to the closer; does not wait. In a forked child: nothing.
  ~Session();

  // Adds commands in one go: nothing of another thread comes between them.
  class Sender {
   public:
    // A new handle; it must be defined by the next command that is added.
    uint64_t NewHandle();
    // The id of a line of the program; the line is sent when the daemon does not have it.
    uint32_t OriginOf(const Caller& caller);
    // Sends the command under the next id. Its origin is that of the transaction.
    Command Add(v1::Command&& command);
    // While held, the daemon keeps what the command's reply refers to (a download's bytes on the bulk
    // stream).
    void HoldAcknowledgement(uint64_t command);

   private:
    friend class Session;
    Sender(Session& session, uint32_t origin) : session_(session), origin_(origin) {}
    Session& session_;
    uint32_t origin_;
  };
  // Runs `body` as one transaction. Returns the session's loss instead when it is lost. May wait for room
  // (limit commands_in_flight_max, or for the writer), never for an answer; with `may_wait` false it is
  // RESOURCE_EXHAUSTED instead.
  absl::Status Transact(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait = true);
  // A transaction of commands that do nothing by themselves, such as small uploads: as long as they are few,
  // they are sent with what follows or when a thread waits.
  absl::Status TransactLazily(const Caller& caller, absl::FunctionRef<void(Sender&)> body);
  // One command.
  absl::StatusOr<Command> Send(const Caller& caller, v1::Command&& command);
  // Asks that a command stop.
  void Cancel(uint64_t command);
  // Nothing refers to the handle any more: frees it and the `bytes` that it holds, with the next command, or
  // before that once much was dropped and there is room. `donor` is the execute it was donated to: freed only
  // if that fails. For destructors: never waits.
  void Drop(uint64_t handle, int64_t bytes, const Command& donor = nullptr);
  // So much, dropped, is freed at once.
  static constexpr int64_t kDroppedBytesMax = 64 << 10;

  // Waits until the command is done and returns its status; DEADLINE_EXCEEDED (kind none) when `deadline`
  // comes first.
  absl::Status Wait(const CommandState& command, absl::Time deadline = absl::InfiniteFuture());
  // Waits until one of the commands is done. The session's loss, or OK.
  absl::Status WaitAny(absl::Span<const Command> commands);
  // Takes in what has arrived, without waiting.
  void Drain();

  // Answers what the transport asks, when no thread polls: called now and then where the connection may
  // stall, so that the daemon does not take a program that computes for one that is gone.
  void Beat();

  // Undoes Sender::HoldAcknowledgement, and tells the daemon.
  void ReleaseAcknowledgement(uint64_t command);

  // Goodbye, and waits for the stream's end.
  absl::Status Close(absl::Time deadline);
  // OK, or why the session is lost, or that this process was forked from the session's.
  absl::Status status();
  // That last question alone. In a forked child every function here fails at once, and those that cannot fail
  // do nothing: none of them sends, waits or locks.
  absl::Status CheckProcess() const { return owner_.Check(); }
  bool InForkedChild() const { return !owner_.IsThisOne(); }

  // The line behind an id of this session; an unknown one for 0 and in a forked child.
  Origin OriginOf(uint32_t id);

  // SentPrograms, under the lock.
  bool Knows(const Digest& digest);
  void Remember(const Digest& digest, const Command& compile);

  // The shared arena, set up on first use; null when there is none, and in a forked child.
  Arena* arena();

  // Constant after Open.
  const Limits& limits() const { return limits_; }
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  const std::string& daemon() const { return daemon_; }
  const std::string& address() const { return connector_->address(); }
  Connector& connector() { return *connector_; }
  uint64_t epoch() const { return epoch_; }
  uint64_t id() const { return session_id_; }
  v1::TransferId TransferOf(uint64_t command) const;
  const SessionOptions& options() const { return options_; }

  // Reads and executes that this library refused because of a placeholder.
  std::atomic<int64_t> refused_before_sending = 0;
  // The step that commands belong to from here on; and whether the program counts steps itself.
  std::atomic<uint64_t> step = 0;
  std::atomic<bool> program_counts_steps = false;
  // What was compiled before.
  ProgramHistory programs;

 private:
  struct LogEntry {
    std::shared_ptr<const std::string> bytes;  // Of the Outbox's making; null when the command is done.
    Command command;
    bool piece = false;  // Of an upload or a program: it does not count in the window.
  };
  struct Dropped {
    uint64_t handle;
    int64_t bytes;
  };

  Session(std::unique_ptr<Connector> connector, const SessionOptions& options);
  absl::Status Greet(absl::Time deadline);
  absl::Status AcceptWelcome(const v1::Welcome& welcome);

  // The next message of the outbox, with what there is to acknowledge.
  MessageParts NextMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint32_t InternLocked(const Caller& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Command AddCommand(v1::Command&& command, uint32_t origin) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a command may be sent without being refused as one too many.
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds one Free of what was dropped, when there is room.
  void AddDropped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether so much was dropped that its Free does not wait for another command.
  bool MustFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteDropped(const Dropped& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What all transactions do before they send.
  absl::Status Add(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has the daemon report what is settled, from here on for some messages.
  void AskForProgress() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Writes what is queued while no write is under way.
  void StartWrites() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Empties the queue until the deadline, polling when no other thread does.
  void Push(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes one event. REQUIRES: !polling_.
  bool PollOnce(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A thread polls from now on: when it is to ask whether the daemon is there, if nothing comes before.
  absl::Time NextQuestion() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Nothing has come until then: asks, or, when that was asked long ago, breaks the connection.
  void AskOrBreak() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `progress`: for what the daemon reports only when it is asked to.
  bool WaitUntil(absl::FunctionRef<bool()> done, absl::Time deadline, bool progress = true)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleMessage(v1::ServerMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the daemon takes a message as large as this one; else the session is lost.
  bool Fits(const MessageParts& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Runs Recover on a new thread, which keeps the session until then.
  void StartRecovery(const absl::Status& cause) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Connects again and sends again what the daemon has not received; or the session is lost. REQUIRES:
  // !connected_, so that no thread polls.
  void Recover(const absl::Status& cause) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status ResumeOnce(absl::Time deadline, bool* retry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Lose(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The command is done: its message is not needed for a replay any more.
  void MarkDone(LogEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  LogEntry* FindInLog(uint64_t command) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint64_t AckThrough() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a message now would acknowledge more than the last one did.
  bool MayAcknowledge() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after Open.
  const OwnerProcess owner_;
  std::unique_ptr<Connector> connector_;
  const SessionOptions options_;
  Limits limits_;
  std::vector<DeviceInfo> devices_;
  std::string daemon_;
  uint64_t epoch_ = 0, session_id_ = 0;
  std::string secret_;
  v1::Arena arena_offer_;

  absl::Mutex mu_;
  absl::CondVar changed_;  // No thread polls, or an event was handled.
  std::shared_ptr<Pipe> pipe_ ABSL_GUARDED_BY(mu_);
  bool polling_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;    // A write is under way.
  bool connected_ ABSL_GUARDED_BY(mu_) = false;  // False while a broken connection is made again.
  bool goodbye_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // The stream ended after Goodbye.
  absl::Status lost_ ABSL_GUARDED_BY(mu_);
  // How long to wait before the next attempt to connect: grows while connections break without a command that
  // completes, so that a message which breaks each of them is not sent in a busy loop.
  absl::Duration backoff_ ABSL_GUARDED_BY(mu_) = absl::ZeroDuration();
  // Of connections that may stall: when something came or went, or was polled for, and when the daemon was
  // asked whether it is there.
  absl::Time heard_ ABSL_GUARDED_BY(mu_), polled_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> asked_ ABSL_GUARDED_BY(mu_);
  // Streams that ended one after the other for reasons that may pass, without a command that completed.
  int mishaps_ ABSL_GUARDED_BY(mu_) = 0;
  Outbox outbox_ ABSL_GUARDED_BY(mu_);
  // Commands from the first that is not settled on, in order of id, without a gap.
  std::deque<LogEntry> log_ ABSL_GUARDED_BY(mu_);
  int64_t unsettled_ ABSL_GUARDED_BY(mu_) = 0;  // Of them, those that are not done.
  int64_t pieces_ ABSL_GUARDED_BY(mu_) = 0;     // Of them, pieces.
  int64_t log_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t next_command_ ABSL_GUARDED_BY(mu_) = 1;
  uint64_t next_handle_ ABSL_GUARDED_BY(mu_) = 1;
  uint64_t settled_through_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t ack_sent_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t unacknowledged_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int sends_since_drain_ ABSL_GUARDED_BY(mu_) = 0;
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;          // Threads in WaitUntil, for progress.
  int loud_messages_ ABSL_GUARDED_BY(mu_) = 0;    // So many more ask for progress though no thread waits.
  bool told_quiet_ ABSL_GUARDED_BY(mu_) = false;  // By the last message.
  std::set<uint64_t> held_ ABSL_GUARDED_BY(mu_);
  std::set<uint64_t> cancels_ ABSL_GUARDED_BY(mu_);     // Asked for, and the command is not done.
  std::vector<uint64_t> dropped_ ABSL_GUARDED_BY(mu_);  // Handles to free.
  int64_t dropped_bytes_ ABSL_GUARDED_BY(mu_) = 0;      // What they hold.
  // Dropped while the execute they were donated to was under way, by its command.
  absl::flat_hash_map<uint64_t, std::vector<Dropped>> donated_ ABSL_GUARDED_BY(mu_);
  // Commands whose replies are here and not acknowledged, because an earlier one is not settled or held.
  std::set<uint64_t> answered_beyond_ ABSL_GUARDED_BY(mu_);
  // Origin id i is at i - 1; the keys of origin_ids_ refer here.
  std::deque<Origin> origins_ ABSL_GUARDED_BY(mu_);
  std::deque<std::string> names_ ABSL_GUARDED_BY(mu_);  // Of tensors, beside them.
  absl::flat_hash_map<std::tuple<std::string_view, int, std::string_view, std::string_view>, uint32_t>
      origin_ids_ ABSL_GUARDED_BY(mu_);
  SentPrograms programs_ ABSL_GUARDED_BY(mu_);

  absl::Mutex arena_mu_;
  bool arena_tried_ ABSL_GUARDED_BY(arena_mu_) = false;
  std::unique_ptr<Arena> arena_ ABSL_GUARDED_BY(arena_mu_);
};

}  // namespace hlod::internal
