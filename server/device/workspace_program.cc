// Programs of a session: handles that become executables.
#include <utility>

#include "common/base/status.h"
#include "common/hlo/proto/serialized.h"
#include "server/device/workspace.h"

namespace hlod::device {
namespace {

// "compile of \"jit_step\"", as far as the name can be found out: a module that does not parse has none.
std::string DescribeCompile(std::string_view name) {
  return name.empty() ? "compile" : absl::StrFormat("compile of \"%s\"", name);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Program>> Workspace::DefineProgram(const CommandRef& command, Handle handle,
                                                                  absl::Status& violation) {
  violation = table_.Claim(handle);
  RETURN_IF_ERROR(violation);
  auto program = std::make_shared<Program>();
  program->handle = handle;
  program->made_by = command;
  absl::Status refused = CheckHandles(1);
  if (refused.ok() && executables_ >= limits_.executables_per_session_max) {
    refused = MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("This session has %d live executables: the limit executables_per_session_max "
                        "is %d.",
                        executables_, limits_.executables_per_session_max));
  }
  if (!refused.ok()) {
    const Error error = Root("compile", refused, command);
    table_.RecordDeath(handle, {error.kind, command, std::make_shared<const Error>(error)});
    return ToStatus(error);
  }
  program->producer = std::make_shared<Task>();
  ++executables_;
  table_.Put(handle, {nullptr, program});
  return program;
}

void Workspace::SettleProgram(const std::shared_ptr<Program>& program,
                              const absl::StatusOr<ExecutableCache::Compiled>& compiled,
                              const CompileDone& done) {
  ReadyTasks ready_tasks;
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    if (compiled.ok()) {
      program->executable = compiled->executable;
      ++program->executable->holders;
      digests_.Insert(compiled->executable->digest());
    } else {
      program->error = ErrorOf(compiled.status());
    }
    Finish(*program->producer, ready_tasks);
    program->producer = nullptr;
  }
  if (compiled.ok()) {
    ledger_.Count(compiled->cached ? &Counters::compile_cache_hits : &Counters::compiles);
    if (!compiled->cached)
      ledger_.Count(&Counters::compile_us, compiled->executable->plan().stats().compile_us);
  }
  done(compiled);
  Run(ready_tasks);
}

absl::Status Workspace::Compile(const CommandRef& command, Handle handle, absl::StatusOr<std::string> program,
                                CompileDone done) {
  absl::Status violation;
  absl::StatusOr<std::shared_ptr<Program>> defined = absl::InternalError("not defined");
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    defined = DefineProgram(command, handle, violation);
  }
  if (!violation.ok()) return violation;
  if (!defined.ok()) {
    done(defined.status());
    return absl::OkStatus();
  }
  const std::string name = program.ok() ? hlo::codec::ModuleName(*program) : "";
  const auto settle = [self = shared_from_this(), command, name, defined = *defined,
                       done = std::move(done)](absl::StatusOr<ExecutableCache::Compiled> compiled) {
    if (!compiled.ok()) {
      MutexLock lock(&self->mu_);
      compiled = ToStatus(self->Root(DescribeCompile(name), compiled.status(), command));
    }
    self->SettleProgram(defined, compiled, done);
  };
  if (!program.ok()) {
    settle(program.status());
    return absl::OkStatus();
  }
  ledger_.Count(&Counters::program_bytes, static_cast<int64_t>(program->size()));
  devices_.executables().Compile(session_, *std::move(program), settle);
  return absl::OkStatus();
}

absl::Status Workspace::CompileByDigest(const CommandRef& command, Handle handle,
                                        const absl::StatusOr<Digest>& digest, CompileDone done) {
  absl::Status violation;
  absl::StatusOr<std::shared_ptr<Program>> defined = absl::InternalError("not defined");
  bool sent = false;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    defined = DefineProgram(command, handle, violation);
    sent = digest.ok() && digests_.Use(*digest);
  }
  if (!violation.ok()) return violation;
  if (!defined.ok()) {
    done(defined.status());
    return absl::OkStatus();
  }
  absl::StatusOr<ExecutableCache::Compiled> compiled = absl::InternalError("not looked up");
  if (!digest.ok()) {
    compiled = digest.status();
  } else {
    // Knowing a digest is not having the program: only what this session has sent itself may be named.
    std::shared_ptr<Executable> executable = sent ? devices_.executables().Find(*digest) : nullptr;
    if (executable != nullptr) {
      compiled = ExecutableCache::Compiled{std::move(executable), true};
    } else {
      compiled = NotFound(
          "No program with the digest %s of this session is cached: its bytes have to be sent again.",
          ToHex(*digest));
    }
  }
  if (!compiled.ok()) {
    MutexLock lock(&mu_);
    compiled = ToStatus(Root("compile", compiled.status(), command));
  }
  SettleProgram(*defined, compiled, done);
  return absl::OkStatus();
}

}  // namespace hlod::device
