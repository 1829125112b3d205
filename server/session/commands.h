// The handlers of the commands, found through a table.
#pragma once

#include "absl/status/status.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/session/session.h"

namespace hlod::session {

// Handles one command, in order. The returned Violation is a breach of the protocol; the session answers the
// command with every other outcome. A command that is `refused` (for a limit) fails with that error, and so
// do the handles that it would have defined. Commands that only keep the session's own state in order are
// handled nevertheless.
device::Violation HandleCommand(Session& session, const v1::Command& command, const absl::Status& refused);

// The handlers, by theme. Each settles or answers its command exactly once, now or later.
//
// commands_transfer.cc
device::Violation HandleUpload(Session& session, const v1::Command& command, const absl::Status& refused);
device::Violation HandleUploadPiece(Session& session, const v1::Command& command);
device::Violation HandleDownload(Session& session, const v1::Command& command);
device::Violation HandleReadPrefetched(Session& session, const v1::Command& command);
// Defined in commands_channel.cc.
device::Violation HandleInfeed(Session& session, const v1::Command& command);
device::Violation HandleOutfeed(Session& session, const v1::Command& command, const absl::Status& refused);
// Defined in commands_buffer.cc.
device::Violation HandlePlaceholder(Session& session, const v1::Command& command,
                                    const absl::Status& refused);
device::Violation HandleCopy(Session& session, const v1::Command& command, const absl::Status& refused);
device::Violation HandleFree(Session& session, const v1::Command& command);
// Defined in commands_program.cc.
device::Violation HandleCompile(Session& session, const v1::Command& command, const absl::Status& refused);
device::Violation HandleProgramChunk(Session& session, const v1::Command& command);
device::Violation HandleExecute(Session& session, const v1::Command& command, const absl::Status& refused);
// Defined in commands_control.cc.
device::Violation HandleStepMark(Session& session, const v1::Command& command);
device::Violation HandleDefineOrigin(Session& session, const v1::Command& command);
device::Violation HandlePing(Session& session, const v1::Command& command);
device::Violation HandleGoodbye(Session& session, const v1::Command& command);
device::Violation HandleStats(Session& session, const v1::Command& command);

// Returns the command's id, its line and the program's step.
inline device::CommandRef RefOf(const Session& session, const v1::Command& command) {
  return {command.id(), command.origin(), session.step};
}
// Returns a shape from the wire, checked and without its layout: buffers are dense row-major.
absl::StatusOr<hlo::Shape> ShapeOf(const hlod::xla::ShapeProto& proto);
// Does the same for a request: returns kInvalid for an invalid shape, and sets `refused` unless it has an
// error already.
hlo::Shape ShapeOf(const hlod::xla::ShapeProto& proto, absl::Status& refused);

}  // namespace hlod::session
