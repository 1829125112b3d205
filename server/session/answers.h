// The outgoing side of a session: which commands have arrived and are settled, their replies until these are
// acknowledged, and the stream that they go to, which may break and be replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/limits.h"
#include "common/base/system/mutex.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/clock.h"
#include "server/device/ledger/ledger.h"
#include "server/session/budgets.h"
#include "server/session/reply_box.h"
#include "server/session/session_stream.h"

namespace hlod::session {

// Returns an error of kind violation: the client broke a rule of the protocol.
absl::Status ViolationError(std::string text);

// Thread-safe.
class Answers {
 public:
  // The arguments must outlive this object.
  Answers(const Limits& limits, const Clock& clock, device::SessionLedger& ledger, SessionBudgets& budgets)
      : limits_(limits), clock_(clock), ledger_(ledger), budgets_(budgets), box_(budgets) {}

  // Makes `stream` the session's stream and sends its Welcome, then everything unacknowledged. Returns the
  // previous stream, for the caller to finish. The error kind is lost_session if the session has ended
  // meanwhile or its lease has expired.
  absl::StatusOr<std::shared_ptr<SessionStream>> Attach(std::shared_ptr<SessionStream> stream,
                                                        const v1::Welcome& welcome);
  // Returns true when `stream` is the session's current stream.
  bool LivesOn(const SessionStream* stream) const;
  // Called when the stream broke: answers are kept for the next one. Returns false when the session has
  // another stream or has ended.
  bool Detach(const SessionStream* stream, absl::Time now);
  // Returns true when it has been detached for `grace`. From then on no stream can be attached, and the
  // caller ends the session.
  bool LeaseRanOut(absl::Time now, absl::Duration grace);
  bool connected() const;
  // Returns true when it is connected, and messages come through shared memory.
  bool uses_ring() const;
  // The time at which it was detached; nullopt while connected.
  std::optional<absl::Time> detached_since() const;

  // Begins a message and handles its acknowledgements. Returns false if its stream was replaced, so that the
  // message is ignored. An error is a violation.
  absl::StatusOr<bool> BeginMessage(const SessionStream* stream, const v1::ClientMessage& message);
  // Ends a message whose commands were all handled: sends their answers when there is a reply to send.
  void EndMessage(bool flush);
  // Records the arrival of a command, in order. An error ends the session: it is a violation, or a limit was
  // far exceeded. Sets `refused` if the command exceeds a limit and is answered with that error.
  enum class Arrival { kNew, kReplayed };
  absl::StatusOr<Arrival> Receive(const v1::Command& command, absl::Status& refused);

  // Settles a command; without a reply, it has succeeded.
  void Settle(uint64_t command, const absl::Status& status);
  void Answer(v1::Reply reply);
  // Runs `barrier` when all commands before `command` are settled. The barrier must answer `command`.
  void WhenAllBefore(uint64_t command, std::function<void()> barrier);
  // Returns true while some commands are not settled.
  bool busy() const;

  // Sends the answers of settled commands, unless a message is being written. The stream calls it when
  // messages were handled or written and no other event waits.
  void Flush();
  // Returns true when Flush would send a message.
  bool HasNews() const;
  void OnWritten(const SessionStream* stream);

  // Ends the session's answers. Returns false if they had ended before. Sets `stream` to the current stream,
  // for Finish.
  bool End(std::shared_ptr<SessionStream>& stream);
  // Writes the remaining answers and finishes the stream.
  void Finish(SessionStream& stream, const absl::Status& status);

 private:
  // Sends one message as Flush does. Returns true if it has been sent already, so that there may be a next
  // one.
  bool FlushOnce();
  // Returns true when the client should get a message now.
  bool MustTell() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleWith(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  void RunBarriers();
  void WriteRest(SessionStream& stream);

  const Limits& limits_;
  const Clock& clock_;
  device::SessionLedger& ledger_;
  const SessionBudgets& budgets_;
  // The members below are guarded by mu_, which is never held while a stream is called.
  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  // True when the lease has expired; the session's end follows.
  bool lease_ran_out_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> detached_since_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // True while a message is being written.
  // True when the client does not wait for commands that settle without a reply.
  bool quiet_ ABSL_GUARDED_BY(mu_) = false;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;  // True while a message is being handled; Flush follows.
  ReplyBox box_ ABSL_GUARDED_BY(mu_);
  struct Barrier {
    uint64_t command;
    std::function<void()> run;
  };
  std::list<Barrier> barriers_ ABSL_GUARDED_BY(mu_);
  bool running_barriers_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::session
