// Values that running programs receive and send.
#include <utility>

#include "server/session/commands.h"

namespace hlod::session {

device::Violation HandleInfeed(Session& session, const v1::Command& command) {
  const v1::Infeed& message = command.infeed();
  device::InfeedRequest request;
  request.command = RefOf(session, command);
  request.channel.device = message.device();
  if (message.has_channel()) request.channel.id = message.channel();
  request.channel.execution = message.execute();
  request.arguments.assign(message.arguments().begin(), message.arguments().end());
  return session.session_device().Infeed(std::move(request), session.Settler(command.id()));
}

device::Violation HandleOutfeed(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Outfeed& message = command.outfeed();
  device::OutfeedRequest request;
  request.command = RefOf(session, command);
  request.channel.device = message.device();
  if (message.has_channel()) request.channel.id = message.channel();
  request.channel.execution = message.execute();
  request.results.assign(message.results().begin(), message.results().end());
  request.refused = refused;
  for (const hlod::xla::ShapeProto& shape : message.shapes())
    request.shapes.push_back(ShapeOf(shape, request.refused));
  return session.session_device().Outfeed(std::move(request), session.Settler(command.id()));
}

}  // namespace hlod::session
