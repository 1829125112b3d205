// Placeholders and the end of handles.
#include "server/session/commands.h"

namespace hlod::session {

absl::Status HandlePlaceholder(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Placeholder& request = command.placeholder();
  absl::StatusOr<hlo::Shape> shape = ShapeOf(request.shape());
  if (!refused.ok()) shape = refused;
  return session.workspace().DefinePlaceholder(RefOf(session, command), request.handle(), request.device(),
                                               shape, session.Settler(command.id()));
}

absl::Status HandleFree(Session& session, const v1::Command& command) {
  return session.workspace().Free(RefOf(session, command),
                                  {command.free().handles().begin(), command.free().handles().end()},
                                  session.Settler(command.id()));
}

}  // namespace hlod::session
