// Programs: how they come, and how they run.
#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/status.h"
#include "common/hlo/proto/codec.h"
#include "server/session/commands.h"

namespace hlod::session {
namespace {

absl::Status Limit(std::string text) { return MakeError(ErrorKind::kLimit, std::move(text)); }

v1::CompileResult Describe(const device::ExecutableCache::Compiled& compiled) {
  const engine::Plan& plan = compiled.executable->plan();
  v1::CompileResult result;
  const Digest& digest = compiled.executable->digest();
  result.set_digest(std::string(digest.begin(), digest.end()));
  result.set_cached(compiled.cached);
  result.set_compile_us(compiled.cached ? 0 : plan.stats().compile_us);
  for (const hlo::Shape& shape : plan.arguments()) *result.add_arguments() = hlo::ToProto(shape);
  for (const hlo::Shape& shape : plan.results()) *result.add_results() = hlo::ToProto(shape);
  result.set_argument_bytes(plan.memory().argument_bytes);
  result.set_output_bytes(plan.memory().output_bytes);
  result.set_alias_bytes(plan.memory().alias_bytes);
  result.set_temporary_bytes(plan.memory().temporary_bytes);
  result.set_steps(plan.stats().steps);
  result.set_reference_steps(plan.stats().reference_steps);
  for (const std::string& opcode : plan.stats().reference_opcodes) result.add_reference_opcodes(opcode);
  return result;
}

// `bytes` were reserved for the program.
device::Workspace::CompileDone Answerer(Session& session, uint64_t command, bool describe,
                                        int64_t bytes = 0) {
  return [self = session.shared_from_this(), command, describe,
          bytes](const absl::StatusOr<device::ExecutableCache::Compiled>& compiled) {
    self->ReleaseStaging(bytes);
    if (!compiled.ok() || !describe) return self->Settle(command, compiled.status());
    v1::Reply reply;
    reply.set_command(command);
    *reply.mutable_compile() = Describe(*compiled);
    const absl::Status kept = self->CheckKept(reply.SpaceUsedLong());
    if (!kept.ok()) return self->Settle(command, kept);
    self->Answer(std::move(reply));
  };
}

// Compiles what has come as a whole. The bytes are the session's until then: few threads compile, and
// programs of many sessions may wait.
absl::Status Compile(Session& session, const device::CommandRef& command, device::Handle handle,
                     bool describe, absl::StatusOr<std::string> program) {
  int64_t bytes = program.ok() ? static_cast<int64_t>(program->size()) : 0;
  if (const absl::Status reserved = session.ReserveStaging("A program", bytes); !reserved.ok()) {
    program = reserved;
    bytes = 0;
  }
  return session.workspace().Compile(command, handle, std::move(program),
                                     Answerer(session, command.id, describe, bytes));
}

}  // namespace

absl::Status HandleCompile(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Compile& request = command.compile();
  const device::CommandRef ref = RefOf(session, command);
  const auto done = Answerer(session, command.id(), request.describe());
  const Limits& limits = session.limits();
  switch (request.program_case()) {
    case v1::Compile::kModule: {
      absl::StatusOr<std::string> program = request.module();
      if (static_cast<int64_t>(request.module().size()) >
          std::min(limits.chunk_bytes_max, limits.program_bytes_max)) {
        program = Limit(absl::StrFormat(
            "A module of %d bytes inside a Compile; the limit chunk_bytes_max is %d, program_bytes_max %d.",
            request.module().size(), limits.chunk_bytes_max, limits.program_bytes_max));
      }
      if (!refused.ok()) program = refused;
      return Compile(session, ref, request.executable(), request.describe(), std::move(program));
    }
    case v1::Compile::kModuleBytes: {
      session.assembly.emplace();
      ProgramAssembly& assembly = *session.assembly;
      assembly.command = ref;
      assembly.handle = request.executable();
      assembly.describe = request.describe();
      assembly.bytes = request.module_bytes();
      if (assembly.bytes > static_cast<uint64_t>(limits.program_bytes_max)) {
        assembly.refused = Limit(absl::StrFormat("A module of %d bytes; the limit program_bytes_max is %d.",
                                                 assembly.bytes, limits.program_bytes_max));
      }
      if (!refused.ok()) assembly.refused = refused;
      if (assembly.bytes > 0) return absl::OkStatus();  // The last chunk settles it.
      session.assembly.reset();
      if (!refused.ok()) return session.workspace().Compile(ref, request.executable(), refused, done);
      return session.workspace().Compile(ref, request.executable(), std::string(), done);
    }
    case v1::Compile::kDigest: {
      absl::StatusOr<Digest> digest = Digest{};
      if (request.digest().size() == digest->size()) {
        std::copy(request.digest().begin(), request.digest().end(), digest->begin());
      } else {
        digest = MakeError(ErrorKind::kArgument,
                           absl::StrFormat("A digest of %d bytes; SHA-256 has 32.", request.digest().size()));
      }
      if (!refused.ok()) digest = refused;
      return session.workspace().CompileByDigest(ref, request.executable(), digest, done);
    }
    case v1::Compile::PROGRAM_NOT_SET: break;
  }
  return session.workspace().Compile(ref, request.executable(),
                                     refused.ok() ? InvalidArgument("A Compile without a program.") : refused,
                                     done);
}

absl::Status HandleProgramChunk(Session& session, const v1::Command& command) {
  ProgramAssembly& assembly = *session.assembly;
  const std::string& data = command.program_chunk().data();
  if (!InRange(assembly.received, data.size(), assembly.bytes) || data.empty()) {
    return MakeError(ErrorKind::kViolation, absl::StrFormat("A ProgramChunk of %d bytes after %d of %d.",
                                                            data.size(), assembly.received, assembly.bytes));
  }
  absl::Status answer;
  if (static_cast<int64_t>(data.size()) > session.limits().chunk_bytes_max) {
    answer = Limit(absl::StrFormat("A ProgramChunk of %d bytes; the limit chunk_bytes_max is %d.",
                                   data.size(), session.limits().chunk_bytes_max));
    assembly.refused.Update(answer);
  }
  assembly.received += data.size();
  if (assembly.refused.ok()) {
    assembly.data += data;  // Grows with what came, not with what was announced.
  } else {
    assembly.data = std::string();
  }
  session.Settle(command.id(), answer);
  if (assembly.received < assembly.bytes) return absl::OkStatus();
  ProgramAssembly whole = *std::exchange(session.assembly, std::nullopt);
  absl::StatusOr<std::string> program = std::move(whole.data);
  if (!whole.refused.ok()) program = whole.refused;
  return Compile(session, whole.command, whole.handle, whole.describe, std::move(program));
}

absl::Status HandleExecute(Session& session, const v1::Command& command, const absl::Status& refused_before) {
  const v1::Execute& request = command.execute();
  device::ExecuteRequest execute;
  execute.command = RefOf(session, command);
  execute.executable = request.executable();
  execute.device = request.device();
  execute.results.assign(request.results().begin(), request.results().end());
  execute.fills.assign(request.fills().begin(), request.fills().end());
  execute.donated.assign(request.donated().begin(), request.donated().end());
  execute.abstract = request.abstract();
  execute.deadline_us = static_cast<int64_t>(std::min<uint64_t>(request.deadline_us(), INT64_MAX));
  execute.arguments.reserve(request.arguments_size());

  absl::Status refused = refused_before;
  int64_t literal_bytes = 0;
  int next_literal = 0;
  for (const uint64_t handle : request.arguments()) {
    device::ExecuteRequest::Argument& argument = execute.arguments.emplace_back();
    argument.handle = handle;
    if (handle != 0 || !refused.ok()) continue;
    if (next_literal == request.literals_size()) {
      refused = MakeError(ErrorKind::kArgument,
                          absl::StrFormat("Argument %d takes the next literal; there are only %d.",
                                          execute.arguments.size() - 1, next_literal));
      continue;
    }
    const v1::InlineLiteral& literal = request.literals(next_literal++);
    const absl::StatusOr<hlo::Shape> shape = ShapeOf(literal.shape());
    literal_bytes += static_cast<int64_t>(literal.data().size());
    if (!shape.ok()) {
      refused = shape.status();
    } else if (literal_bytes > session.limits().inline_bytes_max) {
      refused =
          Limit(absl::StrFormat("%d bytes of literals in one execute; the limit inline_bytes_max is %d.",
                                literal_bytes, session.limits().inline_bytes_max));
    } else if (!shape->IsArray() || ByteSize(*shape) != static_cast<int64_t>(literal.data().size())) {
      refused =
          MakeError(ErrorKind::kArgument, absl::StrFormat("A literal of shape %s comes with %d bytes.",
                                                          ToStringNoLayout(*shape), literal.data().size()));
    } else {
      argument.literal = std::make_unique<hlo::Literal>(*shape);
      std::copy(literal.data().begin(), literal.data().end(),
                reinterpret_cast<char*>(argument.literal->bytes().data()));
    }
  }
  execute.refused = std::move(refused);
  return session.workspace().Execute(std::move(execute), session.Settler(command.id()));
}

}  // namespace hlod::session
