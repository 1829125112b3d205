// What each command does: one handler a command, found by a table.
#pragma once

#include "absl/status/status.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/session/session.h"

namespace hlod::session {

// Handles one command in order. An error is a violation of the protocol; whatever else becomes of it is
// answered by the session. A command that is `refused` (a limit) fails with that, and what it was to define
// holds that error; those that only keep the session's own state in order are handled nevertheless.
absl::Status HandleCommand(Session& session, const v1::Command& command, const absl::Status& refused);

// The handlers, by theme. Each settles or answers its command exactly once, now or later.
// commands_transfer.cc
absl::Status HandleUpload(Session& session, const v1::Command& command, const absl::Status& refused);
absl::Status HandleUploadPiece(Session& session, const v1::Command& command);
absl::Status HandleDownload(Session& session, const v1::Command& command);
// commands_buffer.cc
absl::Status HandlePlaceholder(Session& session, const v1::Command& command, const absl::Status& refused);
absl::Status HandleFree(Session& session, const v1::Command& command);
// commands_program.cc
absl::Status HandleCompile(Session& session, const v1::Command& command, const absl::Status& refused);
absl::Status HandleProgramChunk(Session& session, const v1::Command& command);
absl::Status HandleExecute(Session& session, const v1::Command& command, const absl::Status& refused);
// commands_control.cc
absl::Status HandleStepMark(Session& session, const v1::Command& command);
absl::Status HandleDefineOrigin(Session& session, const v1::Command& command);
absl::Status HandlePing(Session& session, const v1::Command& command);
absl::Status HandleGoodbye(Session& session, const v1::Command& command);
absl::Status HandleStats(Session& session, const v1::Command& command);

// Who asks: the command, its line, the program's step.
inline device::CommandRef RefOf(const Session& session, const v1::Command& command) {
  return {command.id(), command.origin(), session.step};
}
// A shape from the wire, checked, without its layout: buffers are dense row-major.
absl::StatusOr<hlo::Shape> ShapeOf(const hlod::xla::ShapeProto& proto);

}  // namespace hlod::session
