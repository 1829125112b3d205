// Dispatches messages to commands, and ends a session. The commands are in commands*.cc.
#include "server/session/session.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "absl/functional/function_ref.h"
#include "common/base/errors/status.h"
#include "server/session/answers.h"
#include "server/session/commands.h"

namespace hlod::session {

Session::Session(Identity identity, device::Devices& devices, device::MemoryCharge charge)
    : identity_(std::move(identity)),
      limits_(devices.limits()),
      created_(devices.clock().Now()),
      session_device_(std::make_shared<device::SessionDevice>(
          identity_.id, devices, devices.side_memory().ShareForSession(identity_.owner),
          devices.AssemblyOf(identity_.id, identity_.owner), identity_.launches)),
      charge_(std::move(charge)),
      budgets_(limits_, session_device_->share()),
      answers_(limits_, devices.clock(), session_device_->ledger(), budgets_),
      transfers_(*session_device_, limits_, budgets_) {
  devices.Add(identity_.id, std::hash<std::string>{}(identity_.owner));
}

bool Session::busy() const { return answers_.busy() || (answers_.connected() && transfers_.busy()); }

void Session::End(const absl::Status& status) {
  std::shared_ptr<SessionStream> stream;
  if (!answers_.End(stream)) return;
  // Each part ends, even if another one finds no memory.
  const auto guarded = [](absl::FunctionRef<void()> part) {
    try {
      part();
      return true;
    } catch (const std::exception& e) {
      spdlog::error("The end of a session was not told to all: {}", e.what());
      return false;
    }
  };
  guarded([&] { session_device_->Close(); });
  guarded([&] { transfers_.End(); });
  if (stream == nullptr || guarded([&] { answers_.Finish(*stream, status); })) return;
  guarded([&] { stream->Finish(absl::Status(absl::StatusCode::kResourceExhausted, "")); });
}

device::Done Session::Settler(uint64_t command) {
  return [self = shared_from_this(), command](const absl::Status& status) {
    self->answers_.Settle(command, status);
  };
}

// -----------------------------------------------------------------------------------------------------------
// messages

absl::Status Session::OnMessage(const SessionStream* stream, const v1::ClientMessage& message) {
  heard_.store(true, std::memory_order_relaxed);
  MutexLock reader(&reader_mu_);
  const absl::StatusOr<bool> begun = answers_.BeginMessage(stream, message);
  const absl::Status status = begun.ok() && *begun ? OnMessageRead(message) : begun.status();
  answers_.EndMessage(/*flush=*/status.ok());
  return status;
}

absl::Status Session::OnMessageRead(const v1::ClientMessage& message) {
  transfers_.AcknowledgeThrough(message.ack_through());
  for (const uint64_t command : message.acknowledged()) transfers_.Acknowledge(command);
  if (message.commands_size() > 0) return OnCommands(message);
  switch (message.message_case()) {
    case v1::ClientMessage::MESSAGE_NOT_SET: return absl::OkStatus();
    case v1::ClientMessage::kHello: return ViolationError("A second Hello came on a stream.");
    case v1::ClientMessage::kCancel:
      session_device_->Cancel(message.cancel().command());
      return absl::OkStatus();
    case v1::ClientMessage::kCommand: return OnCommand(message.command());
  }
  return absl::OkStatus();
}

absl::Status Session::OnCommands(const v1::ClientMessage& message) {
  if (message.message_case() != v1::ClientMessage::MESSAGE_NOT_SET)
    return ViolationError("A message has `commands` beside a hello, a command or a cancel.");
  if (message.commands_size() > limits_.commands_per_message_max) {
    return ViolationError(
        absl::StrFormat("%d commands came in one message; the limit commands_per_message_max is %d.",
                        message.commands_size(), limits_.commands_per_message_max));
  }
  for (const v1::Command& command : message.commands()) {
    if (goodbye_) break;  // The session ends, and the rest of this message is ignored.
    RETURN_IF_ERROR(OnCommand(command));
  }
  return absl::OkStatus();
}

absl::Status Session::OnCommand(const v1::Command& command) {
  absl::Status refused;
  ASSIGN_OR_RETURN(const Answers::Arrival arrival, answers_.Receive(command, refused));
  if (arrival == Answers::Arrival::kReplayed) return absl::OkStatus();
  const device::Violation violation = HandleCommand(*this, command, refused);
  transfers_.OnHandled(command.id());
  return violation.status();
}

void Session::OnResume() {
  session_device_->uploads().OnResume(session_device_->devices().clock().Now());
  transfers_.OnResume();
}

void Session::Tick(absl::Time now) {
  if (heard_.exchange(false, std::memory_order_relaxed)) heard_at_ = now;
  session_device_->uploads().Expire(now, heard_at_);
  // A client that is away declares its transfers when it has returned.
  if (answers_.connected()) transfers_.Tick(now);
}

}  // namespace hlod::session
