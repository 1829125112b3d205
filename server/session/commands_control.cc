// StepMark, DefineOrigin, Ping, Stats, Goodbye.
#include "common/rpc/wire.h"
#include "server/session/commands.h"

namespace hlod::session {

device::Violation HandleStepMark(Session& session, const v1::Command& command) {
  session.step = command.step_mark().step();
  session.Settle(command.id(), absl::OkStatus());
  return device::Violation();
}

device::Violation HandleDefineOrigin(Session& session, const v1::Command& command) {
  const v1::DefineOrigin& request = command.define_origin();
  return session.workspace().DefineOrigin(request.id(), rpc::FromProto(request.origin()),
                                          session.Settler(command.id()));
}

device::Violation HandlePing(Session& session, const v1::Command& command) {
  const auto answer = [self = session.shared_from_this(), id = command.id()] {
    v1::Reply reply;
    reply.set_command(id);
    reply.mutable_pong();
    self->Answer(std::move(reply));
  };
  if (command.ping().at_once()) {
    answer();
  } else {
    session.WhenAllBefore(command.id(), answer);
  }
  return device::Violation();
}

device::Violation HandleStats(Session& session, const v1::Command& command) {
  session.WhenAllBefore(command.id(), [self = session.shared_from_this(), id = command.id()] {
    v1::Reply reply;
    reply.set_command(id);
    *reply.mutable_stats() = self->Stats(/*with_rows=*/true);
    const absl::Status kept = self->CheckKept(reply.SpaceUsedLong());
    if (!kept.ok()) return self->Settle(id, kept);
    self->Answer(std::move(reply));
  });
  return device::Violation();
}

device::Violation HandleGoodbye(Session& session, const v1::Command& command) {
  session.Settle(command.id(), absl::OkStatus());
  session.Goodbye();
  return device::Violation();
}

}  // namespace hlod::session
