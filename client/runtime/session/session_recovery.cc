// Greets a daemon. When a connection breaks, resumes the session and replays its commands, or ends it with a
// typed error. The essay in session.h explains the command log that this relies on.
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/ring_pipe.h"
#include "client/runtime/session/command_log_writer.h"
#include "client/runtime/session/heart.h"
#include "client/runtime/session/session.h"
#include "client/runtime/transfer/arena.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/rpc/message_size.h"
#include "common/rpc/wire.h"

namespace hlod::runtime {
namespace {

constexpr absl::Duration kBackoffFirst = absl::Milliseconds(20), kBackoffMax = absl::Milliseconds(500);

// Returns true when the daemon itself gave the reason why the stream ended; false when the transport broke.
bool SaidByDaemon(const absl::Status& status) { return !status.ok() && KindOf(status) != ErrorKind::kNone; }

// The maximum number of consecutive times that messages are corrupted, or the stream is reset for lack of
// memory, without completing a command. A temporary cause has passed by then.
constexpr int kMishapsMax = 16;

bool SaidByTransport(const absl::Status& status, absl::StatusCode code) {
  return status.code() == code && KindOf(status) == ErrorKind::kNone;
}

// Returns true when the stream ended for a reason that may be temporary, but may also occur each time.
bool IsMishap(const absl::Status& status) {
  return SaidByTransport(status, absl::StatusCode::kResourceExhausted) ||
         SaidByTransport(status, absl::StatusCode::kDataLoss);
}

absl::Status LostSession(const std::string& address, std::string_view why) {
  return MakeError(ErrorKind::kLostSession,
                   absl::StrFormat("The session with the daemon at %s is lost, and its buffers with it: %s",
                                   address, why));
}

// Sends Hello and waits for Welcome until `deadline`, which is the end of the time `limit`. Sets `writing` to
// true if the write of Hello has not been reported as complete; further messages may come before that, so it
// does not wait for the report.
absl::StatusOr<v1::Welcome> Handshake(Pipe& pipe, const v1::Hello& hello, absl::Time deadline,
                                      absl::Duration limit, bool* writing) {
  v1::ClientMessage message;
  *message.mutable_hello() = hello;
  message.mutable_hello()->set_checksums(pipe.checksums());
  *writing = !pipe.StartWrite({std::make_shared<const std::string>(message.SerializeAsString())});
  for (;;) {
    PipeEvent event = pipe.Poll(deadline);
    switch (event.kind) {
      case PipeEvent::Kind::kNothing:
        if (absl::Now() >= deadline) return NoAnswerWithin(limit);
        break;
      case PipeEvent::Kind::kWritten: *writing = false; break;
      case PipeEvent::Kind::kRead:
        if (!event.message.has_welcome()) {
          return MakeError(ErrorKind::kViolation, "The daemon's first message is not a Welcome.");
        }
        return std::move(*event.message.mutable_welcome());
      case PipeEvent::Kind::kEnded:
        return event.status.ok() ? Unavailable("The daemon ended the stream.") : event.status;
    }
  }
}

v1::Hello MakeHello(const std::string& name, bool local) {
  v1::Hello hello;
  hello.set_version_min(rpc::kVersionMin);
  hello.set_version_max(rpc::kVersionMax);
  hello.set_client(ValidUtf8(name));
  if (local) hello.set_pid(getpid());
  return hello;
}

v1::CommandLogHeader HeaderOf(const Session& session) {
  v1::CommandLogHeader header;
  header.set_client(ValidUtf8(session.options().name));
  header.set_daemon(session.daemon().name);
  header.set_address(session.connector().address());
  header.set_session(session.id());
  for (const DeviceInfo& info : session.daemon().devices) {
    v1::DeviceInfo& device = *header.add_devices();
    device.set_ordinal(static_cast<uint32_t>(info.ordinal));
    device.set_kind(info.kind);
    device.set_memory_bytes(info.memory_bytes);
  }
  return header;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Session>> Session::Open(std::unique_ptr<Connector> connector,
                                                       const SessionOptions& options) {
  std::shared_ptr<Session> session(new Session(std::move(connector), options));
  RETURN_IF_ERROR(session->Greet(absl::Now() + options.timeout));
  if (session->connector().may_stall()) KeepBeating(session, options.beat);
  if (const std::string path = CommandLogPath(); !path.empty() && !options.hidden)
    RETURN_IF_ERROR(CommandLogWriter::Start(session.get(), path, HeaderOf(*session)));
  return session;
}

absl::StatusOr<std::shared_ptr<Pipe>> Session::Connect(absl::Time deadline) {
  ASSIGN_OR_RETURN(std::shared_ptr<Pipe> stream, connector_->Connect(deadline));
  const bool may = options_.shared_memory && connector_->local() && !ring_refused_;
  if (options_.ring == rpc::RingUse::kOff || !may) return stream;
  return std::shared_ptr<Pipe>(std::make_shared<RingPipe>(std::move(stream), options_.ring));
}

absl::Status Session::Greet(absl::Time deadline) {
  ASSIGN_OR_RETURN(std::shared_ptr<Pipe> pipe, Connect(deadline));
  bool writing = false;
  v1::Hello hello = MakeHello(options_.name, connector_->local());
  hello.set_pass(options_.pass);
  const Daemons* const group = options_.daemons.get();
  hello.set_separate(group != nullptr && group->is_group() && group->processes() > 1);
  absl::StatusOr<v1::Welcome> welcome = Handshake(*pipe, hello, deadline, options_.timeout, &writing);
  if (!welcome.ok())
    return connector_->Explain(Annotate(welcome.status(), "connecting to " + connector_->address()));
  ASSIGN_OR_RETURN(daemon_, ReadFacts(*welcome));
  place_ = {.daemons = options_.daemons,
            .first_device = options_.first_device,
            .devices = static_cast<int>(daemon_.devices.size())};
  if (place_.daemons == nullptr && options_.reach != nullptr && daemon_.cluster.daemons_size() > 0) {
    place_.daemons = std::make_shared<Daemons>(daemon_, options_, options_.reach);
    place_.daemons->SetHome(shared_from_this());
  }
  if (place_.daemons != nullptr) daemon_.devices = place_.daemons->devices();
  id_ = welcome->session();
  secret_ = welcome->secret();
  absl::MutexLock lock(&mu_);
  silence_.Restart(absl::Now());
  outbox_.set_commands_per_message_max(daemon_.limits.commands_per_message_max);
  pipe_ = std::move(pipe);
  writing_ = writing;
  connected_ = true;
  return absl::OkStatus();
}

void Session::HandleEnd(const absl::Status& status) {
  connected_ = false;
  writing_ = false;
  if (absl::IsResourceExhausted(status)) ring_refused_ = true;
  if (goodbye_) {
    ended_ = true;
    Lose(SessionIsClosed());
  } else if (SaidByDaemon(status)) {
    Lose(status);
  } else if (IsMishap(status) && ++mishaps_ > kMishapsMax) {
    Lose(LostSession(connector_->address(), absl::StrFormat("the transport does not carry its messages (%s).",
                                                            FromAbsl(status.message()))));
  } else {
    StartRecovery(status);
  }
}

bool Session::Fits(const MessageParts& message) {
  int64_t bytes = 0;
  for (const std::shared_ptr<const std::string>& part : message) bytes += static_cast<int64_t>(part->size());
  const int64_t most = rpc::MessageBytesMax(daemon_.limits);
  if (bytes <= most) return true;
  writing_ = false;
  pipe_->Cancel();
  Lose(LostSession(connector_->address(),
                   absl::StrFormat("a command takes a message of %d bytes, and the daemon takes "
                                   "messages of %d.",
                                   bytes, most)));
  return false;
}

void Session::StartRecovery(const absl::Status& cause) {
  const auto mend = [self = shared_from_this(), cause] {
    absl::MutexLock lock(&self->mu_);
    self->Recover(cause);
    self->changed_.SignalAll();
  };
  try {
    std::thread(mend).detach();
  } catch (const std::system_error&) {
    Recover(cause);  // No thread could be started, so this one waits.
  }
}

void Session::Lose(absl::Status why) {
  lost_ = std::move(why);
  if (!options_.daemon.empty() && !goodbye_ && KindOf(lost_) == ErrorKind::kLostSession) {
    lost_ = MakeError(ErrorKind::kLostDaemon,
                      absl::StrFormat("Daemon %s is gone, and the buffers on its devices: %s",
                                      options_.daemon, FromAbsl(lost_.message())));
  }
  connected_ = false;
  outbox_.Clear();
  for (const ReplayLog::Entry& entry : log_.entries()) {
    if (entry.command->done.load(std::memory_order_relaxed)) continue;
    entry.command->status = lost_;
    entry.command->done.store(true, std::memory_order_release);
    commands_done_.fetch_add(1, std::memory_order_release);
  }
  log_.Clear();
  dropped_.Clear();
  cancels_.clear();
  changed_.SignalAll();
}

void Session::Recover(const absl::Status& cause) {
  const absl::Time deadline =
      absl::Now() + std::min(options_.patience, absl::Microseconds(daemon_.limits.grace_us));
  for (;;) {
    if (backoff_ > absl::ZeroDuration()) {
      const absl::Duration wait = backoff_;
      mu_.Unlock();
      absl::SleepFor(wait);
      mu_.Lock();
    }
    backoff_ = std::clamp(backoff_ * 2, kBackoffFirst, kBackoffMax);
    bool retry = false;
    const absl::Status resumed = ResumeOnce(std::min(deadline, absl::Now() + options_.timeout), &retry);
    if (resumed.ok()) return;
    if (!retry || absl::Now() + backoff_ >= deadline) {
      if (KindOf(resumed) == ErrorKind::kLostSession) {
        Lose(LostSession(connector_->address(), FromAbsl(resumed.message())));
      } else {
        Lose(LostSession(connector_->address(),
                         absl::StrFormat("the connection broke (%s), and it could not be resumed (%s).",
                                         FromAbsl(cause.message()), FromAbsl(resumed.message()))));
      }
      return;
    }
  }
}

absl::Status Session::ResumeOnce(absl::Time deadline, bool* retry) {
  v1::Hello hello = MakeHello(options_.name, connector_->local());
  hello.mutable_resume()->set_epoch(daemon_.epoch);
  hello.mutable_resume()->set_session(id_);
  hello.mutable_resume()->set_secret(secret_);

  mu_.Unlock();
  absl::StatusOr<std::shared_ptr<Pipe>> pipe = Connect(deadline);
  bool writing = false;
  absl::StatusOr<v1::Welcome> welcome =
      pipe.ok() ? Handshake(**pipe, hello, deadline, options_.timeout, &writing) : pipe.status();
  mu_.Lock();

  if (!welcome.ok()) {
    // The session is lost if no program listens there, or if the daemon answered that it does not know the
    // session. Any other failure is tried again, because it may be temporary (such as a TLS handshake that
    // broke off).
    *retry = pipe.ok() ? !SaidByDaemon(welcome.status()) : KindOf(pipe.status()) != ErrorKind::kLostSession;
    return welcome.status();
  }
  if (welcome->epoch() != daemon_.epoch || welcome->session() != id_) {
    return MakeError(ErrorKind::kLostSession, "the daemon was restarted.");
  }
  std::shared_ptr<Pipe> broken = std::exchange(pipe_, *std::move(pipe));
  outbox_.Clear();
  for (const ReplayLog::Entry& entry : log_.entries()) {
    if (entry.command->id > welcome->received_through() && entry.bytes != nullptr)
      outbox_.AddCommand(entry.bytes);
  }
  for (const uint64_t command : cancels_) outbox_.AddCancel(command);
  writing_ = writing;
  silence_.Restart(absl::Now());
  connection_.fetch_add(1, std::memory_order_release);
  told_idle_ = false;  // A new stream begins as if its last message had not been quiet.
  connected_ = true;
  StartWrites();
  changed_.SignalAll();
  // The last write on it ends when the kernel gives it up, which may take kSilence of connector.cc.
  mu_.Unlock();
  broken.reset();
  mu_.Lock();
  return absl::OkStatus();
}

}  // namespace hlod::runtime
