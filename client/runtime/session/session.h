// A client's session: command ids, order, settlement, acknowledgement, replay. It uses messages and a Pipe,
// and is independent of gRPC. The protocol is described in proto/hlod/v1/session.proto.
//
// THREADS. There is no reader thread (except one that polls periodically if the connection may stall: Beat).
// A thread that waits becomes the poller: it handles every event, and stops polling when the event that it
// waits for has come; then another waiting thread polls. A thread that sends writes at once when no write is
// under way. Otherwise its commands queue, and the poller sends them, several in one message; when no thread
// polls, the sender polls until the queue is empty. Small uploads wait for the command that uses them. As
// long as no thread waits for a command that has no reply, the client tells the daemon that it need not
// report progress (ClientMessage.quiet). Handles that were dropped are freed with the next command, large
// ones at once.
//
// THE COMMAND LOG. A connection may break at any time, and each command must still take effect once. So every
// command is serialized once, under the next id, and those bytes are shared by the Outbox, which sends them,
// and by the command log (log_), which keeps them for a replay. The log holds all commands from the first
// unsettled one to the last one added, without gaps, so that an id is an index (ReplayLog::Find). An entry is
// done when the daemon sent its Reply, named it in `settled`, or counted it into `settled_through`, whichever
// comes first. Its bytes are then released, and its waiting callers return; the entry itself leaves the log
// when `settled_through` reaches it. New transactions wait while the log is full (HasRoom): half the limit of
// unsettled commands, 64 MiB of unsettled bytes, or too many commands behind the oldest unsettled one.
//
// ACKNOWLEDGEMENT. The daemon keeps every reply until the client acknowledges it, because the reply may be
// lost with the connection. Each message carries `ack_through`, the settled_through that the client has
// seen, and names in `acknowledged` the replies beyond it. A download on a bulk stream
// holds its acknowledgement until its bytes are in, and `ack_through` stays below it. An
// acknowledgement travels with the next message; it is sent alone only for more than 1 MiB of replies, or
// when a held one is released.
//
// A BROKEN CONNECTION. When the stream ends (session_recovery.cc), the session is lost at once if the daemon
// gave a reason, or if the transport has corrupted or reset streams too often in a row. (It is also lost when
// a command does not fit into a message that the daemon accepts: Fits.) Otherwise a thread connects again,
// after pauses of at most half a second, for as long as the daemon keeps the session (limit grace_us). Its
// Hello names the epoch, the session and the secret, and the Welcome answers with `received_through`, the
// last command id that the daemon has received. The outbox is filled again with the commands after that id,
// then with the cancels of commands that are not done. Commands up to that id are not sent again: the daemon
// sends their replies, and what else the client has not acknowledged. Waiting callers notice none of this,
// except by their deadlines; calls that do not wait return. When the daemon was restarted (another epoch),
// when nothing listens any more, or when time is up, the session is lost: every command that is not done ends
// with that error, of kind lost_session, and so does every later call.
//
// AN EXAMPLE. [7] is a log entry with its bytes, (10) one that is done.
//
//   7 Upload x, 8 Execute p(x) -> y (slow), 9 Download y, 10 Download w, 11 Execute q(w) -> v
//                                                                 log [7] [8] [9] [10] [11]
//   <- settled_through 7, Reply 10: 7 is settled, and w is ready
//      while 8 still runs. The caller of 10 returns.              log [8] [9] (10) [11]
//   -> 12 StepMark, ack_through 7, acknowledged 10.
//      The connection breaks before this message arrives.         log [8] [9] (10) [11] [12]
//   -> Hello.resume                 <- Welcome, received_through 11
//   -> 12 again, with ack_through 7. 8, 9 and 11 are with the daemon.
//   <- Reply 10 again, because its acknowledgement was lost: 10 is done, so the reply is dropped, and
//      acknowledged by the next message.
//   <- settled_through 12, Reply 9                                log empty
//
// If the daemon had been restarted instead, 8, 9, 11 and 12 would end with lost_session; 10 keeps its reply.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/runtime/cluster/place.h"
#include "client/runtime/connection/pipe.h"
#include "client/runtime/connection/process.h"
#include "client/runtime/observe/program_history.h"
#include "client/runtime/session/acknowledgements.h"
#include "client/runtime/session/command.h"
#include "client/runtime/session/daemon_facts.h"
#include "client/runtime/session/dropped_handles.h"
#include "client/runtime/session/heart.h"
#include "client/runtime/session/outbox.h"
#include "client/runtime/session/replay_log.h"
#include "client/runtime/session/sent_origins.h"
#include "client/runtime/session/sent_programs.h"
#include "client/runtime/session/silence.h"
#include "common/base/errors/error.h"
#include "common/base/limits.h"
#include "common/rpc/ring_use.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/types.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

class Arena;

class AbstractSession;
class BackgroundCloser;

struct SessionOptions {
  // Ends the session's stream after the session is destroyed. Null: the destructor begins to write the
  // goodbye and cancels the stream.
  std::shared_ptr<BackgroundCloser> closer;
  std::string name;
  absl::Duration timeout = absl::Seconds(10);
  // On a connection that may stall (Connector::may_stall), a wait in which no event came for `question` pings
  // the daemon, and breaks the connection when no answer comes for `silence`.
  absl::Duration question = absl::Seconds(10), silence = absl::Seconds(30);
  absl::Duration beat = kBeat;  // The pause between Beat() calls on such a connection.
  bool shared_memory = true;
  rpc::RingUse ring = rpc::RingUse::kOff;  // Only with `shared_memory`.
  bool skip_local_checks = false;
  bool hidden = false;                        // True for a session of the library's own (hidden_client.h).
  std::shared_ptr<AbstractSession> abstract;  // Null unless the session is abstract.
  // Reaches the other daemons of a cluster. Null: the session uses none of them.
  std::function<absl::StatusOr<std::unique_ptr<Connector>>(const std::string& address)> reach;
  // For a session with another daemon of the cluster than the client connected to: all daemons, the number of
  // the first device there, the daemon's name, the pass of the client's own session, and the most time to
  // wait for the daemon when its connection breaks.
  std::shared_ptr<Daemons> daemons;
  int first_device = 0;
  std::string daemon, pass;
  absl::Duration patience = absl::InfiniteDuration();
};

// Returns the error of every call after Close.
absl::Status SessionIsClosed();

class Session : public std::enable_shared_from_this<Session> {
 public:
  // Connects and greets. Fails with kind version, auth or limit (too many sessions), or with UNAVAILABLE
  // naming the address.
  static absl::StatusOr<std::shared_ptr<Session>> Open(std::unique_ptr<Connector> connector,
                                                       const SessionOptions& options);
  // Says goodbye and passes the stream to the closer, without waiting. Does nothing in a forked child.
  ~Session();

  // Adds the commands of one transaction: commands of other threads do not come between them.
  class Sender {
   public:
    // Returns a new handle; the next command that is added must define it.
    uint64_t NewHandle();
    // Returns the id of a line of the program; sends the line when the daemon does not have it. 0 for an
    // unknown line, or beyond limit origins_per_session_max.
    uint32_t OriginOf(const Caller& caller);
    // Adds the command under the next id, with the transaction's origin.
    Command Add(v1::Command&& command);
    // Keeps the command's reply unacknowledged, so that the daemon keeps the data it refers to (a download's
    // bytes on the bulk stream), until ReleaseAcknowledgement().
    void HoldAcknowledgement(uint64_t command);

   private:
    friend class Session;
    Sender(Session& session, uint32_t origin) : session_(session), origin_(origin) {}
    Session& session_;
    uint32_t origin_;
  };
  // Runs `body` as one transaction and sends its commands. Returns the reason when the session is lost or
  // closed. May wait for room in the command log (limit commands_in_flight_max) or for the writer, but does
  // not wait for the commands' answers. With `may_wait` false it returns RESOURCE_EXHAUSTED instead of
  // waiting for room.
  absl::Status Transact(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait = true);
  // Runs a transaction of commands that have no effect by themselves, such as small uploads: a few of them
  // are sent with the next command, or when a thread waits.
  absl::Status TransactLazily(const Caller& caller, absl::FunctionRef<void(Sender&)> body,
                              bool may_wait = true);
  // Sends one command, as a transaction.
  absl::StatusOr<Command> Send(const Caller& caller, v1::Command&& command);
  // Asks the daemon to stop a command, unless it is done.
  void Cancel(uint64_t command);
  // Frees a handle of `bytes` bytes that the program no longer refers to: with the next command, or earlier
  // if much was dropped and there is room. `donor` is the execute that it was donated to, if any: then the
  // handle is freed only if that execute fails. For destructors: never waits.
  void Drop(uint64_t handle, int64_t bytes, const Command& donor = nullptr);
  // Dropped handles that together hold this many bytes are freed at once.
  static constexpr int64_t kDroppedBytesMax = DroppedHandles::kBytesMax;

  // Waits until the command is done and returns its status; DEADLINE_EXCEEDED (kind none) when `deadline`
  // comes first.
  absl::Status Wait(const CommandState& command, absl::Time deadline = absl::InfiniteFuture());
  // Waits until one of the commands is done. Returns OK, or the reason why the session is lost.
  absl::Status WaitAny(absl::Span<const Command> commands);
  // Waits until `done` returns true. It is asked after each event, with the session locked: it must be cheap
  // and must not call the session. Returns OK, or why no event will come any more.
  absl::Status WaitFor(absl::FunctionRef<bool()> done);
  // The number of commands that are done. While it stays the same, no further command is done.
  int64_t commands_done() const { return commands_done_.load(std::memory_order_acquire); }
  // Handles the messages that have arrived, without waiting.
  void Drain();

  // Polls without waiting, so that the transport answers the daemon's pings when no thread polls. Called
  // periodically on a connection that may stall, so that a program that computes for long is not given up.
  void Beat();

  // The number of the connection: it grows with each that is resumed on.
  int64_t connection() const { return connection_.load(std::memory_order_acquire); }
  // For a thread that waits for something else which the daemon sends on connection number `connection`, such
  // as the bytes of a bulk stream. Polls like Beat, and with `ask` pings the daemon: a peer that has
  // forgotten the connection answers that with a reset, and nothing else would tell. Returns false when the
  // connection has broken.
  bool Watch(int64_t connection, bool ask);

  // Undoes Sender::HoldAcknowledgement, and tells the daemon.
  void ReleaseAcknowledgement(uint64_t command);

  // Says goodbye and waits for the stream's end. DEADLINE_EXCEEDED when it does not come by `deadline`.
  absl::Status Close(absl::Time deadline);
  // OK, or the reason why the session is lost, or the error that this process is a forked child.
  absl::Status status();
  // The process that opened the session. In a child forked from it every function here fails at once, and
  // functions that cannot fail do nothing: they do not send, wait or lock.
  const OwnerProcess& owner() const { return owner_; }

  // Returns the line with an id of this session; an unknown line for 0 and in a forked child.
  Origin OriginOf(uint32_t id);

  // Returns the shared arena, set up on first use; null when there is none, and in a forked child.
  Arena* arena();

  // Constant after Open.
  const Place& place() const { return place_; }
  const DaemonFacts& daemon() const { return daemon_; }
  Connector& connector() const { return *connector_; }
  uint64_t id() const { return id_; }
  v1::TransferId TransferOf(uint64_t command) const;
  const SessionOptions& options() const { return options_; }

  // Reads and executes that this library refused because of a placeholder.
  std::atomic<int64_t> refused_before_sending = 0;
  // The step of the commands that follow.
  std::atomic<uint64_t> step = 0;
  std::atomic<bool> program_counts_steps = false;  // True when the program sets the step itself.
  // The programs that were compiled before.
  ProgramHistory programs;
  // The programs that the daemon should have.
  SentPrograms sent_programs;

 private:
  Session(std::unique_ptr<Connector> connector, const SessionOptions& options);
  absl::Status Greet(absl::Time deadline);
  // Opens a stream with the daemon; it uses the ring if the daemon offers one and the options allow it.
  absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline);

  // Takes the next message of the outbox, and adds the acknowledgements that are due.
  MessageParts NextMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint32_t InternLocked(const Caller& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Command AddCommand(v1::Command&& command, uint32_t origin) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return log_.HasRoom(daemon_.limits); }
  // Adds one Free of the dropped handles if there is room.
  void AddDropped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The first part of every transaction: waits for room, frees dropped handles, runs `body`.
  absl::Status Add(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes the daemon report settled commands at once, for the next kLoudMessages messages.
  void AskForProgress() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Writes queued messages while no write is under way.
  void StartWrites() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Pings the daemon, also when the log has no room.
  void AskAtOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Empties the queue until the deadline, polling when no other thread does.
  void Push(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Handles one event, waiting for it until the deadline. Returns false if no event came, if another thread
  // polls, or if there is no connection. Releases the lock while it waits.
  bool PollOnce(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the time at which a thread that polls from now on must call AskOrBreak, if no event comes before.
  absl::Time NextQuestion() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Called when no event came until NextQuestion(): pings the daemon or, if an earlier ping was not answered
  // in time, breaks the connection.
  void AskOrBreak() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Polls, or waits for the thread that polls, until `done` returns true; returns its result. Returns early
  // at the deadline, and when the session is lost or has ended. With `progress` it waits for an event that
  // the daemon reports only on request (ClientMessage.quiet).
  bool WaitUntil(absl::FunctionRef<bool()> done, absl::Time deadline, bool progress = true)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleMessage(v1::ServerMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns true when the daemon accepts a message as large as this one; otherwise the session is lost.
  bool Fits(const MessageParts& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Runs Recover on a new thread, which keeps the session alive until it ends.
  void StartRecovery(const absl::Status& cause) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Connects again and replays the commands that the daemon has not received. If that fails, the session is
  // lost. REQUIRES: !connected_, so that no thread polls.
  void Recover(const absl::Status& cause) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes one attempt. Sets `retry` to true if it failed for a reason that may be temporary.
  absl::Status ResumeOnce(absl::Time deadline, bool* retry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the session: every command that is not done, and every later call, fails with `why`.
  void Lose(absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks the command as done and releases its bytes, which are not needed for a replay any more. `status`
  // and `reply` must be set.
  void MarkDone(ReplayLog::Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The parts of HandleMessage: a reply, and the id up to which all commands are settled.
  void HandleReply(v1::Reply& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandleSettledThrough(uint64_t command) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after Open.
  const OwnerProcess owner_;
  std::unique_ptr<Connector> connector_;
  const SessionOptions options_;
  DaemonFacts daemon_;
  Place place_;
  uint64_t id_ = 0;
  std::string secret_;

  std::atomic<int64_t> commands_done_ = 0, connection_ = 0;

  absl::Mutex mu_;
  absl::CondVar changed_;  // Signalled after each event, and when the polling thread stops.
  absl::CondVar started_;  // Signalled when no thread is in Pipe::StartWrite any more.
  std::shared_ptr<Pipe> pipe_ ABSL_GUARDED_BY(mu_);
  bool polling_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;    // True while a write is under way.
  // The number of threads in Pipe::StartWrite: a write that ends there ends without an event.
  int starting_ ABSL_GUARDED_BY(mu_) = 0;
  bool connected_ ABSL_GUARDED_BY(mu_) = false;  // False while a broken connection is being replaced.
  bool goodbye_ ABSL_GUARDED_BY(mu_) = false;
  // True when the daemon lacked memory or a thread for a connection: further ones do without a ring.
  std::atomic<bool> ring_refused_{false};
  bool ended_ ABSL_GUARDED_BY(mu_) = false;  // True when the stream has ended after Goodbye.
  absl::Status lost_ ABSL_GUARDED_BY(mu_);
  // The pause before the next attempt to connect: it grows while connections break without completing a
  // command, so that a message that breaks each of them is not sent in a busy loop.
  absl::Duration backoff_ ABSL_GUARDED_BY(mu_) = absl::ZeroDuration();
  Silence silence_ ABSL_GUARDED_BY(mu_);  // For connections that may stall.
  // The number of streams in a row that ended for reasons that may pass, without a command that completed.
  int mishaps_ ABSL_GUARDED_BY(mu_) = 0;
  Outbox outbox_ ABSL_GUARDED_BY(mu_);
  ReplayLog log_ ABSL_GUARDED_BY(mu_);
  Acknowledgements acknowledgements_ ABSL_GUARDED_BY(mu_);
  uint64_t next_handle_ ABSL_GUARDED_BY(mu_) = 1;
  int sends_since_drain_ ABSL_GUARDED_BY(mu_) = 0;
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;  // The number of threads in WaitUntil with `progress`.
  // The number of following messages that request progress although no thread waits.
  int progress_requests_ ABSL_GUARDED_BY(mu_) = 0;
  bool told_idle_ ABSL_GUARDED_BY(mu_) = false;      // The `quiet` of the last message.
  std::set<uint64_t> cancels_ ABSL_GUARDED_BY(mu_);  // Cancelled commands that are not done.
  DroppedHandles dropped_ ABSL_GUARDED_BY(mu_);
  SentOrigins origins_ ABSL_GUARDED_BY(mu_);

  absl::Mutex arena_mu_;
  bool arena_tried_ ABSL_GUARDED_BY(arena_mu_) = false;
  std::unique_ptr<Arena> arena_ ABSL_GUARDED_BY(arena_mu_);
};

}  // namespace hlod::runtime
