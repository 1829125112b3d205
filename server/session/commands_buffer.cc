// Placeholders, copies, and the end of handles.
#include "server/session/commands.h"

namespace hlod::session {

device::Violation HandlePlaceholder(Session& session, const v1::Command& command,
                                    const absl::Status& refused) {
  const v1::Placeholder& message = command.placeholder();
  device::PlaceholderRequest request;
  request.command = RefOf(session, command);
  request.handle = message.handle();
  request.device = message.device();
  request.refused = refused;
  request.shape = ShapeOf(message.shape(), request.refused);
  return session.session_device().DefinePlaceholder(request, session.Settler(command.id()));
}

device::Violation HandleCopy(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Copy& message = command.copy();
  return session.session_device().Copy({.command = RefOf(session, command),
                                        .source = message.source(),
                                        .handle = message.handle(),
                                        .device = message.device(),
                                        .refused = refused},
                                       session.Settler(command.id()));
}

device::Violation HandleFree(Session& session, const v1::Command& command) {
  return session.session_device().Free(RefOf(session, command),
                                       {command.free().handles().begin(), command.free().handles().end()},
                                       session.Settler(command.id()));
}

}  // namespace hlod::session
