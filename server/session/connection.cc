// Handles the Hello, and passes everything else to the session.
#include "server/session/connection.h"

#include <spdlog/spdlog.h>

#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"

namespace hlod::session {

void Connection::OnMessage(const std::shared_ptr<SessionStream>& stream, const v1::ClientMessage& message) {
  absl::Status status;
  try {
    if (session_ != nullptr) {
      status = session_->OnMessage(stream.get(), message);
      if (status.ok() && !session_->goodbye()) return;
      registry_.End(session_, status);
      return;
    }
    if (message.has_hello()) {
      absl::StatusOr<std::shared_ptr<Session>> session = registry_.Open(message.hello(), peer_, stream);
      if (session.ok()) session_ = *std::move(session);
      status = session.status();
    } else {
      status = MakeError(ErrorKind::kViolation, "The first message on a stream is not a Hello.");
    }
  } catch (const std::exception& e) {  // bad_alloc, caused by this client's message.
    // The session ends, even if there is no memory to say so now.
    if (session_ != nullptr) registry_.devices().failed().Add(session_->identity().id);
    spdlog::error("A message could not be handled: {}", e.what());
    status = ExceptionError("This message could not be handled", e);
  }
  if (!status.ok()) EndWith(*stream, status);
}

void Connection::EndWith(SessionStream& stream, const absl::Status& status) {
  // A session that was resumed on another stream does not end because of this one.
  if (session_ != nullptr && session_->answers().LivesOn(&stream)) {
    registry_.End(session_, status);
  } else {
    stream.Finish(status);
  }
}

void Connection::OnMalformed(SessionStream& stream) {
  EndWith(stream,
          MakeError(ErrorKind::kViolation, "The bytes of a message are not a hlod.v1.ClientMessage."));
}

void Connection::OnNoMemory(SessionStream& stream) {
  EndWith(stream, MakeError(ErrorKind::kLimit,
                            "The daemon has no memory for this message, or it has too many parts."));
}

void Connection::OnWritten(const SessionStream* stream) {
  if (session_ != nullptr) session_->answers().OnWritten(stream);
}

void Connection::OnClosed(const SessionStream* stream) {
  if (session_ != nullptr) registry_.OnBroken(session_, stream);
}

std::unique_ptr<RingMemory> Connection::TakeRing() {
  return session_ == nullptr ? nullptr : session_->transfers().TakeRing();
}

bool Connection::HasNews() const { return session_ != nullptr && session_->answers().HasNews(); }

void Connection::Flush() {
  if (session_ != nullptr) session_->answers().Flush();
}

}  // namespace hlod::session
