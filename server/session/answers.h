// What a session has to say to its client: which commands have come and are settled, their replies until they
// are acknowledged, and the stream that they go to, which may break and be replaced.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

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

// Thread-safe.
class Answers {
 public:
  // What is given outlives it.
  Answers(const Limits& limits, const Clock& clock, device::SessionLedger& ledger, SessionBudgets& budgets)
      : limits_(limits), clock_(clock), ledger_(ledger), budgets_(budgets), box_(budgets) {}

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
  bool connected() const;
  // When it was detached; nothing while connected.
  std::optional<absl::Time> detached_since() const;

  // A message begins, and says what it acknowledges. False: its stream was replaced, and it is ignored. An
  // error is a violation.
  absl::StatusOr<bool> BeginMessage(const SessionStream* stream, const v1::ClientMessage& message);
  // All of the message's commands were handled: sends their answers, when there is a reply to send.
  void EndMessage(bool flush);
  // A command has come, in order. An error ends the session: a violation, or a limit that was passed far.
  // `refused`: it is one too many, and answered with that.
  enum class Arrival { kNew, kReplayed };
  absl::StatusOr<Arrival> Receive(const v1::Command& command, absl::Status& refused);

  // The command is finished, without an answer when it succeeded.
  void Settle(uint64_t command, const absl::Status& status);
  void Answer(v1::Reply reply);
  // Runs `barrier` when all commands before `command` are settled. It has to answer.
  void WhenAllBefore(uint64_t command, std::function<void()> barrier);
  // Whether commands are not settled.
  bool busy() const;

  // Sends what is settled, if nothing is on its way. Its stream calls it after messages were handled or
  // written, when nothing else waits.
  void Flush();
  // Whether Flush would send something.
  bool HasNews() const;
  void OnWritten(const SessionStream* stream);

  // Nothing more is taken in. False: it has ended before. `stream` gets the stream that it had, for Finish.
  bool End(std::shared_ptr<SessionStream>& stream);
  // Writes what is left and finishes the stream.
  void Finish(SessionStream& stream, const absl::Status& status);

 private:
  // Whether there is something that the client is to hear now.
  bool MustTell() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SettleWith(uint64_t command, std::shared_ptr<const v1::Reply> reply);
  void RunBarriers();
  void WriteRest(SessionStream& stream);

  const Limits& limits_;
  const Clock& clock_;
  device::SessionLedger& ledger_;
  const SessionBudgets& budgets_;
  // State below is guarded by mu_, which is never held while a stream is called.
  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool lease_ran_out_ ABSL_GUARDED_BY(mu_) = false;  // Its end follows.
  std::shared_ptr<SessionStream> stream_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Time> detached_since_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // A message is on its way.
  bool quiet_ ABSL_GUARDED_BY(mu_) = false;    // The client waits for nothing that is merely settled.
  bool reading_ ABSL_GUARDED_BY(mu_) = false;  // A message is being handled; Flush follows.
  ReplyBox box_ ABSL_GUARDED_BY(mu_);
  struct Barrier {
    uint64_t command;
    std::function<void()> run;
  };
  std::deque<Barrier> barriers_ ABSL_GUARDED_BY(mu_);
  bool running_barriers_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::session
