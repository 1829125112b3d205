// StepMark, DefineOrigin, Ping, Stats, Goodbye.
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"
#include "server/session/commands.h"

namespace hlod::session {

device::Violation HandleStepMark(Session& session, const v1::Command& command) {
  session.step = command.step_mark().step();
  session.answers().Settle(command.id(), absl::OkStatus());
  return device::Violation();
}

device::Violation HandleDefineOrigin(Session& session, const v1::Command& command) {
  const v1::DefineOrigin& request = command.define_origin();
  return session.session_device().DefineOrigin(request.id(), rpc::FromProto(request.origin()),
                                               session.Settler(command.id()), request.origin().name());
}

device::Violation HandlePing(Session& session, const v1::Command& command) {
  const auto answer = [self = session.shared_from_this(), id = command.id()] {
    v1::Reply reply;
    reply.set_command(id);
    reply.mutable_pong();
    self->answers().Answer(std::move(reply));
  };
  if (command.ping().at_once()) {
    answer();
  } else {
    session.answers().WhenAllBefore(command.id(), answer);
  }
  return device::Violation();
}

namespace {

void AnswerStats(Session& session, uint64_t command) {
  v1::Reply reply;
  reply.set_command(command);
  *reply.mutable_stats() = session.Stats(/*with_rows=*/true);
  const absl::Status kept =
      session.budgets().replies.Check(static_cast<int64_t>(reply.SpaceUsedLong()), "A reply");
  if (!kept.ok()) return session.answers().Settle(command, kept);
  session.answers().Answer(std::move(reply));
}

}  // namespace

device::Violation HandleStats(Session& session, const v1::Command& command) {
  // Thousands of rows take a while. They are made on the transfer thread, in the session's turn, so that the
  // other sessions on this thread do not wait.
  session.answers().WhenAllBefore(command.id(), [self = session.shared_from_this(), id = command.id()] {
    self->session_device().devices().transfers().Submit(self->identity().id, 0, [self, id] {
      try {
        AnswerStats(*self, id);
      } catch (const std::exception& e) {
        self->answers().Settle(id, ExceptionError("The statistics could not be made", e));
      }
    });
  });
  return device::Violation();
}

device::Violation HandleGoodbye(Session& session, const v1::Command& command) {
  session.answers().Settle(command.id(), absl::OkStatus());
  session.Goodbye();
  return device::Violation();
}

}  // namespace hlod::session
