// The table of commands.
#include "server/session/commands.h"

#include "common/base/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod::session {
namespace {

// What becomes of a command that is refused.
enum class Refusal { kAnswered, kIgnored };

struct Row {
  v1::Command::BodyCase body;
  absl::Status (*handle)(Session&, const v1::Command&) = nullptr;
  Refusal refusal = Refusal::kAnswered;
  // Instead of `handle`: defines handles, which a refusal fails.
  absl::Status (*define)(Session&, const v1::Command&, const absl::Status& refused) = nullptr;
};
constexpr Row kCommands[] = {
    {.body = v1::Command::kUpload, .define = HandleUpload},
    {v1::Command::kUploadPiece, HandleUploadPiece},
    {v1::Command::kDownload, HandleDownload},
    {.body = v1::Command::kPlaceholder, .define = HandlePlaceholder},
    {v1::Command::kFree, HandleFree},
    {.body = v1::Command::kCompile, .define = HandleCompile},
    {v1::Command::kProgramChunk, HandleProgramChunk, Refusal::kIgnored},
    {.body = v1::Command::kExecute, .define = HandleExecute},
    {v1::Command::kStepMark, HandleStepMark, Refusal::kIgnored},
    {v1::Command::kDefineOrigin, HandleDefineOrigin, Refusal::kIgnored},
    {v1::Command::kPing, HandlePing},
    {v1::Command::kGoodbye, HandleGoodbye, Refusal::kIgnored},
    {v1::Command::kStats, HandleStats},
};

}  // namespace

absl::Status HandleCommand(Session& session, const v1::Command& command, const absl::Status& refused) {
  // A program's chunks follow its Compile without anything between: the one piece of state a command can
  // depend on.
  if (session.assembly.has_value() != (command.body_case() == v1::Command::kProgramChunk)) {
    return MakeError(ErrorKind::kViolation, session.assembly.has_value()
                                                ? "Another command came where a ProgramChunk was due."
                                                : "A ProgramChunk came without a Compile that announced it.");
  }
  for (const Row& row : kCommands) {
    if (row.body != command.body_case()) continue;
    if (row.define != nullptr) return row.define(session, command, refused);
    if (refused.ok() || row.refusal == Refusal::kIgnored) return row.handle(session, command);
    session.Settle(command.id(), refused);
    return absl::OkStatus();
  }
  return MakeError(
      ErrorKind::kViolation,
      absl::StrFormat("Command %d is none that this version of the protocol has.", command.id()));
}

absl::StatusOr<hlo::Shape> ShapeOf(const hlod::xla::ShapeProto& proto) {
  absl::StatusOr<hlo::Shape> shape = hlo::FromProto(proto);
  if (shape.ok()) {
    if (const absl::Status valid = hlo::ValidateShape(*shape); !valid.ok()) shape = valid;
  }
  if (!shape.ok()) {
    Error error = ErrorOf(shape.status());
    if (error.kind == ErrorKind::kNone) error.kind = ErrorKind::kArgument;
    return ToStatus(std::move(error));
  }
  shape->layout.reset();
  return shape;
}

}  // namespace hlod::session
