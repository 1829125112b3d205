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

Violation Workspace::Compile(CompileRequest request, CompileDone done) {
  std::shared_ptr<Program> program;
  absl::Status refused;
  bool sent = false;
  {
    DeferringLock lock(&mu_);
    if (closed_) return Violation();
    RETURN_IF_VIOLATION(table_.Claim(request.handle));
    absl::StatusOr<std::shared_ptr<Program>> defined = DefineProgram(request);
    if (!defined.ok()) {
      lock.Call([done = std::move(done), status = defined.status()] { done(status); });
      return Violation();
    }
    program = *std::move(defined);
    sent = request.refused.ok() && request.digest.has_value() && digests_.Use(*request.digest);
  }
  const std::string what = DescribeCompile(hlo::codec::ModuleName(request.program));
  if (!request.refused.ok()) {
    SettleProgram(program, what, request.refused, done);
  } else if (request.digest.has_value()) {
    // Knowing a digest is not having the program: only what this session has sent itself may be named.
    std::shared_ptr<Executable> executable = sent ? devices_.executables().Find(*request.digest) : nullptr;
    absl::StatusOr<ExecutableCache::Compiled> found = ExecutableCache::Compiled{executable, true};
    if (executable == nullptr) {
      found = NotFound(
          "No program with the digest %s of this session is cached: its bytes have to be sent again.",
          ToHex(*request.digest));
    }
    SettleProgram(program, what, std::move(found), done);
  } else {
    ledger_.Count(&Counters::program_bytes, static_cast<int64_t>(request.program.size()));
    devices_.executables().Compile(session_, std::move(request.program),
                                   [self = shared_from_this(), program, what, done = std::move(done)](
                                       absl::StatusOr<ExecutableCache::Compiled> compiled) {
                                     self->SettleProgram(program, what, std::move(compiled), done);
                                   });
  }
  return Violation();
}

// The handle names a program that is not settled, or remembers why there is no room for one.
absl::StatusOr<std::shared_ptr<Program>> Workspace::DefineProgram(const CompileRequest& request) {
  absl::Status refused = CheckHandles(1);
  if (refused.ok() && executables_ >= limits_.executables_per_session_max) {
    refused = MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("This session has %d live executables: the limit executables_per_session_max is %d.",
                        executables_, limits_.executables_per_session_max));
  }
  if (!refused.ok()) {
    const Error error = errors_.Root("compile", refused, request.command);
    table_.RecordDeath(request.handle, {error.kind, request.command, std::make_shared<const Error>(error)});
    return ToStatus(error);
  }
  auto program = std::make_shared<Program>();
  program->handle = request.handle;
  program->made_by = request.command;
  program->producer = std::make_shared<Task>();
  ++executables_;
  table_.Put(request.handle, {nullptr, program});
  return program;
}

void Workspace::SettleProgram(const std::shared_ptr<Program>& program, std::string_view what,
                              absl::StatusOr<ExecutableCache::Compiled> compiled, const CompileDone& done) {
  DeferringLock lock(&mu_);
  if (closed_) return;
  if (compiled.ok()) {
    program->executable = compiled->executable;
    ++program->executable->holders;
    digests_.Insert(compiled->executable->digest());
    ledger_.Count(compiled->cached ? &Counters::compile_cache_hits : &Counters::compiles);
    if (!compiled->cached)
      ledger_.Count(&Counters::compile_us, compiled->executable->plan().stats().compile_us);
  } else {
    program->error = errors_.Root(what, compiled.status(), program->made_by);
    compiled = ToStatus(*program->error);
  }
  Finish(*program->producer, lock.ready_tasks());
  program->producer = nullptr;
  lock.Call([&done, compiled = std::move(compiled)] { done(compiled); });
}

}  // namespace hlod::device
