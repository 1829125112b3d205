// The table of commands.
#include "server/session/commands.h"

#include <utility>

#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod::session {
namespace {

// The treatment of a refused command: answered without being handled, or handled nevertheless.
enum class Refusal { kAnswered, kIgnored };

struct Row {
  v1::Command::BodyCase body;
  device::Violation (*handle)(Session&, const v1::Command&) = nullptr;
  Refusal refusal = Refusal::kAnswered;
  // Used instead of `handle` for commands that define handles, when they are refused: it defines the handles
  // with the error.
  device::Violation (*define)(Session&, const v1::Command&, const absl::Status& refused) = nullptr;
};
constexpr Row kCommands[] = {
    {.body = v1::Command::kUpload, .define = HandleUpload},
    {v1::Command::kUploadPiece, HandleUploadPiece},
    {v1::Command::kDownload, HandleDownload},
    {v1::Command::kReadPrefetched, HandleReadPrefetched},
    {.body = v1::Command::kPlaceholder, .define = HandlePlaceholder},
    {.body = v1::Command::kCopy, .define = HandleCopy},
    {v1::Command::kFree, HandleFree},
    {.body = v1::Command::kCompile, .define = HandleCompile},
    {v1::Command::kProgramChunk, HandleProgramChunk, Refusal::kIgnored},
    {.body = v1::Command::kExecute, .define = HandleExecute},
    {v1::Command::kInfeed, HandleInfeed},
    {.body = v1::Command::kOutfeed, .define = HandleOutfeed},
    {v1::Command::kStepMark, HandleStepMark, Refusal::kIgnored},
    {v1::Command::kDefineOrigin, HandleDefineOrigin, Refusal::kIgnored},
    {v1::Command::kPing, HandlePing},
    {v1::Command::kGoodbye, HandleGoodbye, Refusal::kIgnored},
    {v1::Command::kStats, HandleStats},
};

}  // namespace

device::Violation HandleCommand(Session& session, const v1::Command& command, const absl::Status& refused) {
  // The chunks of a program directly follow its Compile; this is the only state that a command can depend on.
  if (session.assembly.has_value() != (command.body_case() == v1::Command::kProgramChunk)) {
    return device::Violation(session.assembly.has_value()
                                 ? "Another command came where a ProgramChunk was due."
                                 : "A ProgramChunk came without a Compile that announced it.");
  }
  for (const Row& row : kCommands) {
    if (row.body != command.body_case()) continue;
    if (row.define != nullptr) return row.define(session, command, refused);
    if (refused.ok() || row.refusal == Refusal::kIgnored) return row.handle(session, command);
    session.answers().Settle(command.id(), refused);
    return device::Violation();
  }
  return device::Violation(
      absl::StrFormat("Command %d is not one that this version of the protocol has.", command.id()));
}

absl::StatusOr<hlo::Shape> ShapeOf(const hlod::xla::ShapeProto& proto) {
  absl::StatusOr<hlo::Shape> shape = hlo::FromProto(proto);
  if (shape.ok()) {
    if (const absl::Status valid = hlo::ValidateShape(*shape); !valid.ok()) shape = valid;
  }
  if (!shape.ok()) {
    ErrorDetails error = ErrorOf(shape.status());
    if (error.kind == ErrorKind::kNone) error.kind = ErrorKind::kArgument;
    return ToStatus(std::move(error));
  }
  shape->layout.reset();
  return shape;
}

hlo::Shape ShapeOf(const hlod::xla::ShapeProto& proto, absl::Status& refused) {
  absl::StatusOr<hlo::Shape> shape = ShapeOf(proto);
  refused.Update(shape.status());
  return shape.ok() ? *std::move(shape) : hlo::Shape();
}

}  // namespace hlod::session
