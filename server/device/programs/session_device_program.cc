// Compiles of a session: handles that become executables.
#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/hlo/proto/serialized.h"
#include "server/device/session_device.h"

namespace hlod::device {
namespace {

// Returns "compile of \"jit_step\"", or "compile" for a module without a readable name.
std::string DescribeCompile(std::string_view name) {
  return name.empty() ? "compile" : absl::StrFormat("compile of \"%s\"", name);
}

// Returns the account's row for a compile that succeeded. Moves the reason out of `executable`.
CompileRow RowOf(SessionExecutable& executable, const ExecutableCache::Compiled& compiled, int64_t at_us) {
  const Executable& program = *compiled.executable;
  const engine::Plan& plan = program.plan();
  CompileRow row;
  row.digest = program.digest();
  row.program = program.name();
  row.origin = executable.made_by.origin;
  row.step = executable.made_by.step;
  row.reason = executable.reason;
  row.reason_text = std::exchange(executable.reason_text, "");
  row.outcome = compiled.cached       ? CompileOutcome::kCached
                : compiled.persistent ? CompileOutcome::kPersistent
                                      : CompileOutcome::kCompiled;
  row.at_us = at_us;
  row.compile_us = compiled.cached ? 0 : plan.stats().compile_us;
  row.instructions = plan.stats().instructions;
  row.program_bytes = program.program_bytes();
  row.code_bytes = program.held_bytes();
  row.argument_bytes = plan.memory().argument_bytes;
  row.output_bytes = plan.memory().output_bytes;
  row.alias_bytes = plan.memory().alias_bytes;
  row.temporary_bytes = plan.memory().temporary_bytes;
  const std::vector<std::string>& slow = plan.stats().slow_steps;
  row.slow_steps.assign(
      slow.begin(), slow.begin() + static_cast<ptrdiff_t>(std::min(slow.size(), CompileRow::kSlowStepsKept)));
  return row;
}

}  // namespace

Violation SessionDevice::Compile(CompileRequest request, CompileDone done) {
  std::shared_ptr<SessionExecutable> executable;
  absl::Status refused;
  bool sent = false;
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    if (state_.closed) return Violation();
    RETURN_IF_VIOLATION(state_.table.Claim(request.handle));
    absl::StatusOr<std::shared_ptr<SessionExecutable>> defined = DefineExecutable(request);
    if (!defined.ok()) {
      lock.Call([done = std::move(done), status = defined.status()] { done(status); });
      return Violation();
    }
    executable = *std::move(defined);
    sent = request.refused.ok() && request.digest.has_value() && digests_.Use(*request.digest);
  }
  const std::string what = DescribeCompile(hlo::codec::ModuleName(request.program));
  if (!request.refused.ok()) {
    SettleExecutable(executable, what, request.refused, done);
  } else if (request.digest.has_value()) {
    // Knowing a digest does not prove that the client has the program, so a session may only name one that it
    // has sent itself.
    std::shared_ptr<Executable> cached = sent ? state_.devices.executables().Find(*request.digest) : nullptr;
    absl::StatusOr<ExecutableCache::Compiled> found = ExecutableCache::Compiled{cached, true};
    if (cached == nullptr) {
      found = NotFound(
          "No program with the digest %s of this session is cached: its bytes have to be sent again.",
          ToHex(*request.digest));
    }
    SettleExecutable(executable, what, std::move(found), done);
  } else {
    state_.ledger.Count(&Counters::program_bytes, static_cast<int64_t>(request.program.size()));
    const std::shared_ptr<ExecutableCache::Request> asked = state_.devices.executables().Compile(
        state_.session, std::move(request.program),
        [self = shared_from_this(), executable, what,
         done](absl::StatusOr<ExecutableCache::Compiled> compiled) {
          self->SettleExecutable(executable, what, std::move(compiled), done);
        },
        state_.share, state_.assembly);
    if (asked == nullptr) return Violation();
    bool closed;
    {
      MutexLock lock(&state_.mu);
      closed = state_.closed;
      if (!closed && executable->producer != nullptr)
        compiles_[request.command.id] = {asked, executable, what, std::move(done)};
    }
    if (closed) state_.devices.executables().Cancel(asked);
  }
  return Violation();
}

// Defines the handle as an executable that is not settled. If there is no room for one more, the handle is
// dead instead.
absl::StatusOr<std::shared_ptr<SessionExecutable>> SessionDevice::DefineExecutable(
    const CompileRequest& request) {
  absl::Status refused = state_.CheckHandles(1);
  if (refused.ok() && executables_ >= state_.limits.executables_per_session_max) {
    refused = MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("This session has %d live executables: the limit executables_per_session_max is %d.",
                        executables_, state_.limits.executables_per_session_max));
  }
  if (!refused.ok()) {
    const ErrorDetails error = state_.errors.Root("compile", refused, request.command);
    state_.table.RecordDeath(request.handle, {error.kind, request.command, state_.errors.Keep(error)});
    return ToStatus(error);
  }
  auto executable = std::make_shared<SessionExecutable>();
  executable->handle = request.handle;
  executable->made_by = request.command;
  executable->reason = request.reason;
  executable->reason_text = request.reason_text;
  executable->producer = std::make_shared<Task>();
  ++executables_;
  state_.table.Put(request.handle, {nullptr, executable});
  return executable;
}

void SessionDevice::SettleExecutable(const std::shared_ptr<SessionExecutable>& executable,
                                     std::string_view what,
                                     absl::StatusOr<ExecutableCache::Compiled> compiled,
                                     const CompileDone& done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  // The session has ended, or the compile was cancelled and answered.
  if (state_.closed || executable->producer == nullptr) return;
  if (const auto asked = compiles_.find(executable->made_by.id); asked != compiles_.end()) {
    lock.Discard(std::move(asked->second));
    compiles_.erase(asked);
  }
  if (compiled.ok()) {
    absl::StatusOr<std::shared_ptr<const ByteCharge>> charge = programs_.Charge(*compiled->executable);
    if (charge.ok()) {
      executable->charge = *std::move(charge);
    } else {
      lock.Discard(std::move(compiled->executable));
      compiled = charge.status();
    }
  }
  if (compiled.ok()) {
    executable->compiled = compiled->executable;
    ++executable->compiled->holders;
    digests_.Insert(compiled->executable->digest());
    state_.ledger.RecordCompile(RowOf(*executable, *compiled, state_.devices.uptime_us()));
  } else {
    const ErrorDetails root = state_.errors.Root(what, compiled.status(), executable->made_by);
    executable->error = state_.errors.Keep(root);
    compiled = ToStatus(root);
  }
  Finish(*executable->producer, lock.ready_tasks());
  executable->producer = nullptr;
  lock.Call([&done, compiled = std::move(compiled)] { done(compiled); });
}

}  // namespace hlod::device
