// Programs: receives, compiles and executes them.
#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/system/cpu_limit.h"
#include "common/base/text/printable.h"
#include "common/base/text/utf8.h"
#include "common/hlo/proto/codec.h"
#include "server/session/commands.h"

namespace hlod::session {
namespace {

constexpr size_t kReasonTextMax = 1024;  // The limit on bytes.

absl::Status Limit(std::string text) { return MakeError(ErrorKind::kLimit, std::move(text)); }

v1::CompileResult Describe(const device::ExecutableCache::Compiled& compiled) {
  const engine::Plan& plan = compiled.executable->plan();
  v1::CompileResult result;
  const Digest& digest = compiled.executable->digest();
  result.set_digest(std::string(digest.begin(), digest.end()));
  result.set_cached(compiled.cached || compiled.persistent);
  result.set_persistent(compiled.persistent);
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
  for (const std::string& step : plan.stats().slow_steps) result.add_slow_steps(step);
  return result;
}

// Returns the callback that answers a compile. `bytes` were reserved for the program.
device::SessionDevice::CompileDone Answerer(Session& session, uint64_t command, bool describe,
                                            int64_t bytes = 0) {
  return [self = session.shared_from_this(), command, describe,
          bytes](const absl::StatusOr<device::ExecutableCache::Compiled>& compiled) {
    self->budgets().staging.Release(bytes);
    // The client prints slow steps even if it did not request a description.
    if (!compiled.ok() || (!describe && compiled->executable->plan().stats().slow_steps.empty()))
      return self->answers().Settle(command, compiled.status());
    v1::Reply reply;
    reply.set_command(command);
    *reply.mutable_compile() = Describe(*compiled);
    const absl::Status kept =
        self->budgets().replies.Check(static_cast<int64_t>(reply.SpaceUsedLong()), "A reply");
    if (!kept.ok()) return self->answers().Settle(command, describe ? kept : absl::OkStatus());
    self->answers().Answer(std::move(reply));
  };
}

// Compiles a program that has arrived completely. It is charged to the session until it is compiled: few
// threads compile, and programs of many sessions may wait. A refused program is empty, and not charged.
device::Violation Compile(Session& session, device::CompileRequest request, bool describe) {
  const uint64_t command = request.command.id;
  const auto bytes = static_cast<int64_t>(request.program.size());
  return session.session_device().Compile(std::move(request), Answerer(session, command, describe, bytes));
}

void AddSteps(const engine::RunProfile& profile, v1::ExecuteProfile& proto) {
  for (const engine::StepProfile& step : profile.steps) {
    v1::StepProfile& row = *proto.add_steps();
    row.set_index(step.index);
    row.set_kind(step.kind);
    row.set_text(step.text);
    row.set_type(step.type);
    for (const std::string& line : step.lines) row.add_lines(line);
    row.set_runs(step.runs);
    row.set_ns(step.ns);
    row.set_bytes(step.bytes);
    row.set_flops(step.flops);
  }
  proto.set_other_steps(profile.other_steps);
  proto.set_other_ns(profile.other_ns);
  proto.set_run_ns(profile.ns);
}

// Returns the callback that answers an execute with its profile.
device::Done ProfileAnswerer(Session& session, uint64_t command,
                             std::shared_ptr<const device::RunReport> report) {
  return
      [self = session.shared_from_this(), command, report = std::move(report)](const absl::Status& status) {
        if (!status.ok()) return self->answers().Settle(command, status);
        v1::Reply reply;
        reply.set_command(command);
        v1::ExecuteProfile& profile = *reply.mutable_profile();
        AddSteps(report->profile, profile);
        if (report->machine.f32_flops > 0) {
          v1::MachineSpeed& machine = *profile.mutable_machine();
          machine.set_threads(report->machine.threads);
          machine.set_f32_flops(report->machine.f32_flops);
          machine.set_cpu_level(std::string(Name(BestCpuLevel())));
          for (const engine::CopySpeed& copy : report->machine.copies) {
            v1::CopySpeed& row = *machine.add_copies();
            row.set_bytes(copy.bytes);
            row.set_bytes_per_second(copy.bytes_per_second);
          }
        }
        const absl::Status kept =
            self->budgets().replies.Check(static_cast<int64_t>(reply.SpaceUsedLong()), "A profile");
        if (!kept.ok()) return self->answers().Settle(command, kept);
        self->answers().Answer(std::move(reply));
      };
}

}  // namespace

device::Violation HandleCompile(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Compile& message = command.compile();
  const Limits& limits = session.limits();
  device::CompileRequest request;
  request.command = RefOf(session, command);
  request.handle = message.executable();
  request.refused = refused;
  request.reason = CompileReasonFromNumber(message.reason());
  request.reason_text = std::string(ClipUtf8(message.reason_text(), kReasonTextMax));
  switch (message.program_case()) {
    case v1::Compile::kModule: {
      const auto bytes = static_cast<int64_t>(message.module().size());
      if (bytes > std::min(limits.chunk_bytes_max, limits.program_bytes_max)) {
        request.refused.Update(Limit(absl::StrFormat(
            "A module of %d bytes inside a Compile; the limit chunk_bytes_max is %d, program_bytes_max %d.",
            bytes, limits.chunk_bytes_max, limits.program_bytes_max)));
      }
      if (request.refused.ok()) request.refused = session.budgets().staging.Reserve(bytes, "A program");
      if (request.refused.ok()) request.program = message.module();
      break;
    }
    case v1::Compile::kModuleBytes: {
      ProgramAssembly assembly;
      assembly.bytes = message.module_bytes();
      assembly.describe = message.describe();
      if (assembly.bytes > static_cast<uint64_t>(limits.program_bytes_max)) {
        request.refused.Update(
            Limit(absl::StrFormat("A module of %d bytes; the limit program_bytes_max is %d.", assembly.bytes,
                                  limits.program_bytes_max)));
      }
      if (assembly.bytes == 0) break;
      assembly.request = std::move(request);
      session.assembly = std::move(assembly);
      return device::Violation();  // The last chunk starts the compile.
    }
    case v1::Compile::kDigest: {
      Digest& digest = request.digest.emplace();
      if (message.digest().size() == digest.size()) {
        std::copy(message.digest().begin(), message.digest().end(), digest.begin());
      } else {
        request.refused.Update(
            MakeError(ErrorKind::kArgument,
                      absl::StrFormat("A digest of %d bytes; SHA-256 has 32.", message.digest().size())));
      }
      break;
    }
    case v1::Compile::PROGRAM_NOT_SET:
      request.refused.Update(InvalidArgument("A Compile without a program."));
  }
  return Compile(session, std::move(request), message.describe());
}

device::Violation HandleProgramChunk(Session& session, const v1::Command& command) {
  ProgramAssembly& assembly = *session.assembly;
  const std::string& data = command.program_chunk().data();
  absl::Status& refused = assembly.request.refused;
  if (!InRange(assembly.received, data.size(), assembly.bytes) || data.empty()) {
    return device::Violation(absl::StrFormat("A ProgramChunk of %d bytes after %d of %d.", data.size(),
                                             assembly.received, assembly.bytes));
  }
  absl::Status answer;
  if (static_cast<int64_t>(data.size()) > session.limits().chunk_bytes_max) {
    answer = Limit(absl::StrFormat("A ProgramChunk of %d bytes; the limit chunk_bytes_max is %d.",
                                   data.size(), session.limits().chunk_bytes_max));
    refused.Update(answer);
  }
  assembly.received += data.size();
  if (refused.ok()) {
    const auto bytes = static_cast<int64_t>(data.size());
    refused = session.budgets().staging.Reserve(bytes, "A ProgramChunk");
    if (refused.ok()) assembly.reserved_bytes += bytes;
  }
  if (refused.ok()) {
    // Grows with the bytes that arrived, instead of being allocated for the announced size.
    assembly.request.program += data;
  } else {
    assembly.request.program = std::string();
    session.budgets().staging.Release(std::exchange(assembly.reserved_bytes, 0));
  }
  session.answers().Settle(command.id(), answer);
  if (assembly.received < assembly.bytes) return device::Violation();
  ProgramAssembly whole = *std::exchange(session.assembly, std::nullopt);
  return Compile(session, std::move(whole.request), whole.describe);
}

namespace {

// Adds the arguments of an execute to its request.
void AddArguments(Session& session, const v1::Execute& message, device::ExecuteRequest& request) {
  request.arguments.reserve(message.arguments_size());
  int64_t literal_bytes = 0;
  int next_literal = 0;
  for (const uint64_t handle : message.arguments()) {
    device::ExecuteRequest::Argument& argument = request.arguments.emplace_back();
    argument.handle = handle;
    if (handle != 0 || !request.refused.ok()) continue;
    if (next_literal == message.literals_size()) {
      request.refused = MakeError(ErrorKind::kArgument,
                                  absl::StrFormat("Argument %d takes the next literal; there are only %d.",
                                                  request.arguments.size() - 1, next_literal));
      continue;
    }
    const v1::InlineLiteral& literal = message.literals(next_literal++);
    const absl::StatusOr<hlo::Shape> shape = ShapeOf(literal.shape());
    literal_bytes += static_cast<int64_t>(literal.data().size());
    if (!shape.ok()) {
      request.refused = shape.status();
    } else if (literal_bytes > session.limits().inline_bytes_max) {
      request.refused =
          Limit(absl::StrFormat("%d bytes of literals in one execute; the limit inline_bytes_max is %d.",
                                literal_bytes, session.limits().inline_bytes_max));
    } else if ((!shape->IsArray() && !shape->IsToken()) ||
               ByteSize(*shape) != static_cast<int64_t>(literal.data().size())) {
      request.refused =
          MakeError(ErrorKind::kArgument, absl::StrFormat("A literal of shape %s comes with %d bytes.",
                                                          ToStringNoLayout(*shape), literal.data().size()));
    } else {
      argument.literal = std::make_unique<hlo::Literal>(*shape);
      std::copy(literal.data().begin(), literal.data().end(),
                reinterpret_cast<char*>(argument.literal->bytes().data()));
    }
  }
}

// Returns the error of all parts of a launch that the client refuses. The other processes read it, too.
absl::Status RefusalOf(const v1::Launch& launch) {
  return MakeError(ErrorKind::kArgument, absl::StrCat("The process does not run its part of the launch: ",
                                                      Printable(ClipUtf8(launch.refused(), kReasonTextMax))));
}

}  // namespace

device::Violation HandleExecute(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Execute& message = command.execute();
  device::ExecuteRequest request;
  request.command = RefOf(session, command);
  request.executable = message.executable();
  request.device = message.device();
  request.devices.assign(message.devices().begin(), message.devices().end());
  request.results.assign(message.results().begin(), message.results().end());
  request.fills.assign(message.fills().begin(), message.fills().end());
  request.donated.assign(message.donated().begin(), message.donated().end());
  request.result_origins.assign(message.result_origins().begin(), message.result_origins().end());
  request.abstract = message.abstract();
  request.absent.assign(message.absent().begin(), message.absent().end());
  request.deadline_us = static_cast<int64_t>(std::min<uint64_t>(message.deadline_us(), INT64_MAX));
  request.line = message.line();
  request.refused = refused;
  if (message.has_launch()) {
    request.launch = std::make_shared<device::LaunchRequest>();
    request.launch->group = message.launch().group();
    request.launch->sequence = message.launch().sequence();
    request.launch->separate = session.identity().launches.separate;
    request.launch->ranks.assign(message.launch().ranks().begin(), message.launch().ranks().end());
    request.launch->devices.assign(message.launch().devices().begin(), message.launch().devices().end());
  }
  if (!message.launch().refused().empty()) request.refused.Update(RefusalOf(message.launch()));
  AddArguments(session, message, request);
  device::Done done;
  if (message.profile()) {
    request.report = std::make_shared<device::RunReport>();
    request.report->measure_machine = message.measure_machine();
    done = ProfileAnswerer(session, command.id(), request.report);
  } else {
    done = session.Settler(command.id());
  }
  return session.session_device().Execute(std::move(request), std::move(done));
}

}  // namespace hlod::session
