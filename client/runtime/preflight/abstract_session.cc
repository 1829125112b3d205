// Abstract sessions: their record, the stand-ins for placeholders, and the end of the process.
#include "client/runtime/preflight/abstract_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/wire.h"

namespace hlod::runtime {
namespace {

constexpr uint32_t kRecordVersion = 1;
constexpr int64_t kStandInBytesMax = 64 << 20;
constinit std::atomic<bool> any_was_opened = false;
constexpr absl::Duration kEndTimeout = absl::Seconds(60);  // The time limit for commands in flight.

v1::Origin OriginProto(const Caller& caller) { return rpc::ToProto(OriginOf(caller)); }

std::string DigestBytes(const Digest& digest) { return std::string(digest.begin(), digest.end()); }

}  // namespace

absl::StatusOr<std::shared_ptr<AbstractSession>> AbstractSession::Open(const AbstractOptions& options,
                                                                       const std::string& name) {
  if (options.real_bytes_max < 0 || options.steps < 0) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("An abstract session takes real_bytes_max (%d) and steps (%d) that are "
                                     "not negative.",
                                     options.real_bytes_max, options.steps));
  }
  std::shared_ptr<AbstractSession> session(new AbstractSession(options));
  any_was_opened = true;
  if (options.log.empty()) return session;
  RETURN_IF_ERROR(session->log_.Open(options.log));
  v1::PreflightEvent event;
  v1::PreflightBegin& begin = *event.mutable_begin();
  begin.set_version(kRecordVersion);
  begin.set_program(name);
  begin.set_real_bytes_max(options.real_bytes_max);
  session->log_.Write(event);
  return session;
}

AbstractSession::~AbstractSession() {
  if (ended_.exchange(true)) return;
  v1::PreflightEvent event;
  event.mutable_end()->set_reason("closed");
  log_.Write(event);
}

void AbstractSession::Compiled(const Digest& digest, const std::string& program, std::string_view reason,
                               const Caller& caller) {
  v1::PreflightEvent event;
  v1::PreflightProgram& recorded = *event.mutable_program();
  recorded.set_digest(DigestBytes(digest));
  recorded.set_module(program);
  recorded.set_reason(std::string(reason));
  *recorded.mutable_origin() = OriginProto(caller);
  log_.Write(event);
}

void AbstractSession::Divided(const Digest& digest, const std::string& mesh, const Module* annotated) {
  if (!log_.is_open()) return;
  v1::PreflightEvent event;
  v1::PreflightDivided& divided = *event.mutable_divided();
  divided.set_digest(DigestBytes(digest));
  divided.set_mesh(mesh);
  if (annotated != nullptr) divided.set_annotated(hlo::Serialize(*annotated));
  log_.Write(event);
}

void AbstractSession::OfAFramework() {
  v1::PreflightEvent event;
  event.mutable_framework();
  log_.Write(event);
}

void AbstractSession::Made(const Buffer& buffer, std::optional<Cause> cause, const Caller& caller) {
  if (!log_.is_open()) return;
  v1::PreflightEvent event;
  v1::PreflightBuffer& made = *event.mutable_buffer();
  made.set_handle(buffer.handle());
  *made.mutable_shape() = hlo::ToProto(buffer.shape());
  made.set_bytes(buffer.byte_size());
  made.set_absent(buffer.is_placeholder());
  made.set_device(static_cast<uint32_t>(std::max(0, buffer.device())));
  if (cause.has_value()) made.set_cause(static_cast<int>(*cause));
  *made.mutable_origin() = OriginProto(caller);
  log_.Write(event);
}

void AbstractSession::Executed(const Digest& digest, int device, const std::vector<uint64_t>& arguments,
                               const std::vector<Buffer>& results, const std::vector<int>& donated,
                               const std::vector<Caller>& result_callers, const Caller& caller) {
  ran_ = true;
  if (!log_.is_open()) return;
  v1::PreflightEvent event;
  v1::PreflightExecute& execute = *event.mutable_execute();
  execute.set_digest(DigestBytes(digest));
  execute.set_device(static_cast<uint32_t>(device));
  for (const uint64_t argument : arguments) execute.add_arguments(argument);
  for (const Buffer& result : results) {
    execute.add_results(result.handle());
    execute.add_absent(result.is_placeholder());
  }
  for (const int index : donated) execute.add_donated(static_cast<uint32_t>(index));
  for (const Caller& line : result_callers) *execute.add_result_origins() = OriginProto(line);
  *execute.mutable_origin() = OriginProto(caller);
  execute.set_stand_in(stood_in_);
  log_.Write(event);
}

void AbstractSession::Labelled(uint64_t handle, std::string_view role, const std::string& name,
                               const std::string& sharding) {
  v1::PreflightEvent event;
  v1::PreflightLabel& label = *event.mutable_label();
  label.set_handle(handle);
  label.set_role(std::string(role));
  label.set_name(name);
  label.set_sharding(sharding);
  log_.Write(event);
}

void AbstractSession::Dropped(uint64_t handle) {
  v1::PreflightEvent event;
  event.mutable_free()->add_handles(handle);
  log_.Write(event);
}

void AbstractSession::Elsewhere(absl::Span<const Buffer> buffers) {
  if (buffers.empty()) return;
  v1::PreflightEvent event;
  for (const Buffer& buffer : buffers) event.mutable_elsewhere()->add_handles(buffer.handle());
  log_.Write(event);
}

void AbstractSession::ReadValue(int64_t bytes, Cause cause, bool absent, const Caller& caller, bool refused) {
  v1::PreflightEvent event;
  v1::PreflightRead& read = *event.mutable_read();
  read.set_bytes(bytes);
  read.set_cause(static_cast<int>(cause));
  read.set_absent(absent);
  read.set_refused(refused);
  *read.mutable_origin() = OriginProto(caller);
  log_.Write(event);
}

void AbstractSession::Closed(std::string_view cause, const Caller& caller) {
  v1::PreflightEvent event;
  event.mutable_close()->set_cause(std::string(cause));
  *event.mutable_close()->mutable_origin() = OriginProto(caller);
  log_.Write(event);
}

void AbstractSession::Failed(const v1::Error& error) {
  v1::PreflightEvent event;
  *event.mutable_failure()->mutable_error() = error;
  log_.Write(event);
}

absl::StatusOr<Literal> AbstractSession::Ask(BufferState& placeholder, Cause cause, const Caller& caller) {
  const bool stands_in = options_.stand_in != StandIn::kNone && placeholder.bytes <= kStandInBytesMax;
  ReadValue(placeholder.bytes, cause, /*absent=*/true, caller,
            /*refused=*/!stands_in && !options_.end_process);
  if (stands_in) {
    stood_in_ = true;
    return MakeStandIn(placeholder.shape);
  }
  std::string text =
      absl::StrFormat("the value of %s is asked for, and it is a placeholder", Describe(placeholder));
  if (options_.stand_in != StandIn::kNone) {
    absl::StrAppend(&text, "; no stand-in has more than ", kStandInBytesMax, " bytes");
  }
  if (options_.end_process) EndProcess(*placeholder.session, "stopped", caller, text);
  absl::Status refused = CheckReadable(placeholder, "a read", caller);
  return refused.ok() ? MakeError(ErrorKind::kPlaceholder, std::move(text)) : refused;
}

absl::StatusOr<Literal> AbstractSession::MakeStandIn(const Shape& shape) {
  Literal values(Shape::Array(hlo::kF64, shape.dims));
  for (double& value : values.data<double>()) {
    switch (options_.stand_in) {
      case StandIn::kNone:
      case StandIn::kZeros: value = 0; break;
      case StandIn::kOnes: value = 1; break;
      case StandIn::kRandom: {
        // SplitMix64, so that each run gets the same numbers.
        uint64_t z = random_.fetch_add(0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        value = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
        break;
      }
    }
  }
  return hlo::Convert(values, shape.type);
}

void AbstractSession::EndStep(Session& session, bool marked, const Caller& caller) {
  if (!ran_.exchange(false) && marked) return;
  v1::PreflightEvent event;
  *event.mutable_step()->mutable_origin() = OriginProto(caller);
  log_.Write(event);
  if (++steps_ == options_.steps && options_.end_process) EndAfterSteps(session, caller);
}

void AbstractSession::EndAfterSteps(Session& session, const Caller& caller) {
  EndProcess(session, "steps", caller, "");
}

void AbstractSession::End(Session& session, std::string_view reason, const Caller& caller,
                          const std::string& text) {
  if (!log_.is_open() || !session.owner().IsThisOne() || ended_.exchange(true)) return;
  // The answer comes after those of all earlier commands, so that their errors are in the preflight log.
  v1::Command command;
  command.mutable_stats();
  const absl::StatusOr<Command> sent = session.Send(caller, std::move(command));
  const bool answered = sent.ok() && session.Wait(**sent, absl::Now() + kEndTimeout).ok();
  v1::PreflightEvent event;
  v1::PreflightEnd& end = *event.mutable_end();
  end.set_reason(std::string(reason));
  *end.mutable_origin() = OriginProto(caller);
  end.set_text(text);
  if (answered) end.set_simulated_peak_bytes((*sent)->reply.stats().simulated_peak_bytes());
  log_.Write(event);
}

void AbstractSession::EndProcess(Session& session, std::string_view reason, const Caller& caller,
                                 const std::string& text) {
  End(session, reason, caller, text);
  // The program's destructors are not run, because they may wait for threads that use this session.
  std::cout.flush();
  std::fflush(nullptr);
  _exit(0);
}

namespace {

// The abstract sessions of this process that have a preflight log.
struct Open {
  absl::Mutex mu;
  std::vector<std::weak_ptr<Session>> sessions ABSL_GUARDED_BY(mu);
};
Open& OpenSessions() {
  static auto* const open = new Open;
  return *open;
}

}  // namespace

void EndAtExit(const std::shared_ptr<Session>& session) {
  static const int registered = std::atexit([] {
    std::vector<std::weak_ptr<Session>> sessions;
    {
      const absl::MutexLock lock(&OpenSessions().mu);
      sessions.swap(OpenSessions().sessions);
    }
    for (const std::weak_ptr<Session>& weak : sessions) {
      const std::shared_ptr<Session> open = weak.lock();
      if (open != nullptr) open->options().abstract->End(*open, "exit", {}, "");
    }
  });
  static_cast<void>(registered);
  const absl::MutexLock lock(&OpenSessions().mu);
  std::erase_if(OpenSessions().sessions, [](const std::weak_ptr<Session>& weak) { return weak.expired(); });
  OpenSessions().sessions.push_back(session);
}

bool MayBeAbstract() {
  static const bool all = [] {
    const absl::StatusOr<std::optional<AbstractRun>> run = AbstractRunOfEnvironment();
    return run.ok() && run->has_value();
  }();
  return all || any_was_opened.load(std::memory_order_relaxed);
}

absl::StatusOr<std::optional<AbstractRun>> ParseAbstractRun(std::string_view text) {
  if (text.empty()) return std::nullopt;
  static constexpr std::pair<std::string_view, StandIn> kStandIns[] = {
      {"0", StandIn::kZeros}, {"1", StandIn::kOnes}, {"random", StandIn::kRandom}};
  AbstractRun run;
  run.options.end_process = true;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::pair<std::string, std::string> field = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto& [key, value] = field;
    bool known = true;
    if (key == "address") run.address = value;
    else if (key == "log") run.options.log = value;
    else if (key == "steps") known = absl::SimpleAtoi(value, &run.options.steps) && run.options.steps >= 0;
    else if (key == "real_bytes_max") known = absl::SimpleAtoi(value, &run.options.real_bytes_max);
    else if (key == "stand_in") {
      known = false;
      for (const auto& [name, stand_in] : kStandIns) {
        if (value != name) continue;
        run.options.stand_in = stand_in;
        known = true;
      }
    } else {
      known = false;
    }
    if (known) continue;
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("HLOD_ABSTRACT: \"%s\" is not known; it takes address, log, steps, "
                                     "real_bytes_max, and stand_in of 0, 1 or random.",
                                     FromAbsl(part)));
  }
  return run;
}

}  // namespace hlod::runtime

namespace hlod {

bool IsAbstract(const Client& client) { return client.internal_session()->options().abstract != nullptr; }

}  // namespace hlod
