// Connecting, compiling, and asking the daemon about the session.
#include "hlod/client.h"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connector.h"
#include "client/runtime/process.h"
#include "client/runtime/state.h"
#include "common/base/status.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace internal {
namespace {

// Larger programs are looked through at once instead of being kept for it.
constexpr size_t kProgramKeptMax = 16 << 20;

// The flat leaves of a shape, without layouts. Tokens have no value that a handle could name: a program that
// takes or gives one is refused.
absl::Status AppendLeaves(const Shape& shape, std::vector<Shape>& leaves, const std::string& name,
                          std::vector<std::string>* names) {
  const std::vector<hlo::ShapeLeaf> found = hlo::Leaves(shape);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].shape->IsArray()) {
      return MakeError(
          ErrorKind::kUnimplemented,
          absl::StrFormat("The program's %s is or holds a %s; programs take and give arrays only.",
                          name.empty() ? "result" : name, hlo::ToStringNoLayout(*found[i].shape)));
    }
    leaves.push_back(*found[i].shape);
    leaves.back().layout.reset();
    if (names != nullptr)
      names->push_back(found.size() == 1 ? name : absl::StrFormat("%s, leaf %d", name, i));
  }
  return absl::OkStatus();
}

absl::Status ReadSignature(const Module& module, ExecutableState& state) {
  state.name = module.name();
  const hlo::ProgramShape signature = module.entry().program_shape();
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const std::string name = i < signature.parameter_names.size() && !signature.parameter_names[i].empty()
                                 ? "parameter " + signature.parameter_names[i]
                                 : "parameter " + std::to_string(i);
    RETURN_IF_ERROR(AppendLeaves(signature.parameters[i], state.arguments, name, &state.argument_names));
  }
  return AppendLeaves(signature.result, state.results, "", nullptr);
}

void AddProgram(Session::Sender& sender, const Limits& limits, const std::string& bytes,
                v1::Command&& command, Command& sent) {
  v1::Compile& compile = *command.mutable_compile();
  const size_t chunk = static_cast<size_t>(limits.chunk_bytes_max);
  if (bytes.size() <= chunk) {
    compile.set_module(bytes);
    sent = sender.Add(std::move(command));
    return;
  }
  compile.set_module_bytes(bytes.size());
  sent = sender.Add(std::move(command));
  for (size_t offset = 0; offset < bytes.size(); offset += chunk) {
    v1::Command next;
    next.mutable_program_chunk()->set_data(bytes.substr(offset, chunk));
    sender.Add(std::move(next));
  }
}

absl::StatusOr<Executable> CompileBytes(const std::shared_ptr<Session>& session, const Module* module,
                                        std::string bytes, const CompileOptions& options,
                                        const Caller& caller) {
  RETURN_IF_ERROR(session->status());
  const Limits& limits = session->limits();
  if (static_cast<int64_t>(bytes.size()) > limits.program_bytes_max &&
      !session->options().skip_local_checks) {
    return MakeError(ErrorKind::kLimit,
                     absl::StrFormat("The program has %d bytes; limit program_bytes_max is %d.", bytes.size(),
                                     limits.program_bytes_max));
  }
  const std::shared_ptr<ExecutableState> state = std::make_shared<ExecutableState>();
  state->name = "program";
  if (module != nullptr) {
    const absl::Status read = ReadSignature(*module, *state);
    if (!read.ok() && !session->options().skip_local_checks)
      return Annotate(read, absl::StrFormat("compiling %s", state->name));
  }
  const Digest digest = Sha256(bytes);
  const bool known = session->Knows(digest);
  uint64_t handle = 0;
  RETURN_IF_ERROR(session->Transact(caller, [&](Session::Sender& sender) {
    handle = sender.NewHandle();
    v1::Command command;
    v1::Compile& compile = *command.mutable_compile();
    compile.set_executable(handle);
    compile.set_describe(options.describe);
    if (known) {
      compile.set_digest(std::string(digest.begin(), digest.end()));
      state->compile = sender.Add(std::move(command));
    } else {
      AddProgram(sender, limits, bytes, std::move(command), state->compile);
    }
  }));
  state->session = session;
  state->handle = handle;
  if (!known) session->Remember(digest, state->compile);
  state->program = std::move(bytes);
  if (state->program.size() > kProgramKeptMax) {
    state->Dependences();
    state->program.clear();
  }
  return Executable(state);
}

}  // namespace
}  // namespace internal

using internal::Command;
using internal::Session;

absl::StatusOr<Client> Client::Connect(const ConnectOptions& options) {
  RETURN_IF_ERROR(internal::CheckGrpc());
  ASSIGN_OR_RETURN(std::unique_ptr<internal::Connector> connector, internal::FindDaemon(options));
  internal::SessionOptions session_options;
  session_options.name = options.name.empty()
                             ? absl::StrFormat("%s pid %d", program_invocation_short_name, getpid())
                             : options.name;
  session_options.timeout = options.timeout;
  session_options.shared_memory = options.shared_memory;
  session_options.skip_local_checks = options.skip_local_checks;
  const std::string address = connector->address();
  absl::StatusOr<std::shared_ptr<Session>> session = Session::Open(std::move(connector), session_options);
  if (!session.ok()) return internal::ExplainDropped(session.status(), address, options.tls);
  return Client(*std::move(session));
}

absl::StatusOr<Client> Client::Connect(std::string_view address) {
  ConnectOptions options;
  options.address = std::string(address);
  return Connect(options);
}

int Client::device_count() const { return static_cast<int>(session_->devices().size()); }
const std::vector<DeviceInfo>& Client::devices() const { return session_->devices(); }

absl::StatusOr<Executable> Client::Compile(const Module& module, const CompileOptions& options,
                                           Caller caller) const {
  return internal::CompileBytes(session_, &module, hlo::Serialize(module), options, caller);
}

absl::StatusOr<Executable> Client::CompileSerialized(std::string_view bytes, const CompileOptions& options,
                                                     Caller caller) const {
  const absl::StatusOr<std::unique_ptr<Module>> module = hlo::FromSerialized(bytes);
  if (!module.ok() && !session_->options().skip_local_checks) return module.status();
  return internal::CompileBytes(session_, module.ok() ? module->get() : nullptr, std::string(bytes), options,
                                caller);
}

absl::StatusOr<Executable> Client::CompileText(std::string_view text, const CompileOptions& options,
                                               Caller caller) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, hlo::ParseModule(text));
  return Compile(*module, options, caller);
}

absl::StatusOr<CompileResult> Executable::Describe(Caller caller) const {
  internal::ExecutableState& state = *state_;
  RETURN_IF_ERROR(state.session->CheckProcess());
  RETURN_IF_ERROR(state.session->Wait(*state.compile));
  Command answered = state.compile;
  Command again;
  uint64_t handle = 0;
  if (!answered->reply.has_compile()) {
    // Asked of a second executable of the same program, which the daemon has in its cache.
    const Digest digest = Sha256(state.program);
    RETURN_IF_ERROR(state.session->Transact(caller, [&](Session::Sender& sender) {
      handle = sender.NewHandle();
      v1::Command command;
      command.mutable_compile()->set_executable(handle);
      command.mutable_compile()->set_digest(std::string(digest.begin(), digest.end()));
      command.mutable_compile()->set_describe(true);
      answered = sender.Add(std::move(command));
      v1::Command free;
      free.mutable_free()->add_handles(handle);
      sender.Add(std::move(free));
    }));
    RETURN_IF_ERROR(state.session->Wait(*answered));
  }
  const v1::CompileResult& proto = answered->reply.compile();
  CompileResult result;
  Digest digest = {};
  std::copy_n(proto.digest().begin(), std::min(proto.digest().size(), digest.size()), digest.begin());
  result.digest = ToHex(digest);
  result.cached = proto.cached();
  result.compile_us = proto.compile_us();
  result.arguments = state.arguments;
  result.results = state.results;
  result.argument_bytes = proto.argument_bytes();
  result.output_bytes = proto.output_bytes();
  result.alias_bytes = proto.alias_bytes();
  result.temporary_bytes = proto.temporary_bytes();
  result.steps = proto.steps();
  result.reference_steps = proto.reference_steps();
  result.reference_opcodes.assign(proto.reference_opcodes().begin(), proto.reference_opcodes().end());
  return result;
}

absl::Status Client::StepMark(uint64_t step, Caller caller) const {
  v1::Command command;
  command.mutable_step_mark()->set_step(step);
  return session_->Send(caller, std::move(command)).status();
}

absl::Status Client::Sync(Caller caller) const {
  v1::Command command;
  command.mutable_ping();
  ASSIGN_OR_RETURN(const Command sent, session_->Send(caller, std::move(command)));
  return session_->Wait(*sent);
}

absl::StatusOr<absl::Duration> Client::Ping(Caller caller) const {
  v1::Command command;
  command.mutable_ping()->set_at_once(true);
  const absl::Time start = absl::Now();
  ASSIGN_OR_RETURN(const Command sent, session_->Send(caller, std::move(command)));
  RETURN_IF_ERROR(session_->Wait(*sent));
  return absl::Now() - start;
}

absl::StatusOr<SessionStats> Client::Stats(Caller caller) const {
  v1::Command command;
  command.mutable_stats();
  ASSIGN_OR_RETURN(const Command sent, session_->Send(caller, std::move(command)));
  RETURN_IF_ERROR(session_->Wait(*sent));
  SessionStats stats = internal::StatsFromProto(sent->reply.stats());
  stats.refused_before_sending = session_->refused_before_sending;
  return stats;
}

absl::Status Client::Close(absl::Duration timeout) const { return session_->Close(absl::Now() + timeout); }
absl::Status Client::status() const { return session_->status(); }
const Limits& Client::limits() const { return session_->limits(); }
const std::string& Client::address() const { return session_->address(); }
const std::string& Client::daemon() const { return session_->daemon(); }
uint64_t Client::epoch() const { return session_->epoch(); }
uint64_t Client::session_id() const { return session_->id(); }
bool Client::has_shared_memory() const { return session_->arena() != nullptr; }

}  // namespace hlod
