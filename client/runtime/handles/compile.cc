// Compiles programs. The bytes of a program are sent once, and from then on its digest.
#include <algorithm>
#include <utility>

#include "client/runtime/observe/call_path.h"
#include "client/runtime/observe/warnings.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/large_results.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/base/text/strings.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/proto/codec.h"

namespace hlod {
namespace runtime {
namespace {

// The size above which a program is analysed at once, so that its bytes need not be kept for the analysis.
constexpr size_t kProgramKeptMax = 16 << 20;

// A line is reported at this number of recompiles. Batches or lengths of a few sizes have all been compiled
// by then, so the line probably compiles at every step.
constexpr int kRecompilesToldAt = 8;

void WarnOfRecompiles(ProgramHistory& programs, const CompileCause& verdict, const Caller& caller) {
  if (verdict.recompiles != kRecompilesToldAt || !programs.TellOnce(OriginOf(caller))) return;
  Warn(absl::StrCat(ToString(OriginOf(caller)), " has compiled again ", verdict.recompiles,
                    " times in this session on the same path of calls (each program of this line and name "
                    "counts that differs from its first), the last time for this: ",
                    verdict.text, ". ", ToAbsl(Remedy(verdict.reason))));
}

// Appends the shape of one leaf. A handle names an array, or a token, which is a buffer of no bytes.
absl::Status AppendLeaf(const hlo::FlatSignature::Leaf& leaf, const std::string& of,
                        std::vector<Shape>& leaves) {
  if (!leaf.shape.IsArray() && !leaf.shape.IsToken()) {
    return MakeError(
        ErrorKind::kUnimplemented,
        absl::StrFormat("The program's %s is or holds a %s; programs take and give arrays and tokens only.",
                        of, hlo::ToStringNoLayout(leaf.shape)));
  }
  leaves.push_back(leaf.shape);
  return absl::OkStatus();
}

absl::Status ReadSignature(const Module& module, ExecutableState& state) {
  state.name = module.name();
  if (const absl::Status counts = hlo::CheckParticipants(module); !counts.ok())
    return MakeError(ErrorKind::kInvalidProgram, std::string(FromAbsl(counts.message())));
  state.participants = hlo::ParticipantsOf(module);
  const hlo::Computation& entry = module.entry();
  const hlo::FlatSignature signature(entry);
  for (const hlo::FlatSignature::Leaf& leaf : signature.arguments) {
    const size_t parameter = static_cast<size_t>(leaf.parameter);
    const std::string given = entry[entry.parameters()[parameter]].name();
    const std::string name = "parameter " + (given.empty() ? std::to_string(parameter) : given);
    RETURN_IF_ERROR(AppendLeaf(leaf, name, state.arguments));
    state.argument_names.push_back(leaf.index.empty() ? name
                                                      : absl::StrFormat("%s, leaf %d", name, leaf.number));
  }
  for (const hlo::FlatSignature::Leaf& leaf : signature.results)
    RETURN_IF_ERROR(AppendLeaf(leaf, "result", state.results));
  return absl::OkStatus();
}

// The size of the largest program that is sent in one message, and of the first piece of a larger one: it
// fits the room that a daemon has for a connection before it has received a large message.
constexpr int64_t kFirstPieceBytes = 256 << 10;

void AddProgram(Session::Sender& sender, const Limits& limits, const std::string& bytes,
                v1::Command&& command, Command& sent) {
  v1::Compile& compile = *command.mutable_compile();
  const auto first = static_cast<size_t>(std::min(kFirstPieceBytes, limits.chunk_bytes_max));
  if (bytes.size() <= first) {
    compile.set_module(bytes);
    sent = sender.Add(std::move(command));
    return;
  }
  compile.set_module_bytes(bytes.size());
  sent = sender.Add(std::move(command));
  for (size_t offset = 0, size = first; offset < bytes.size(); offset += size) {
    if (offset > 0) size = static_cast<size_t>(limits.chunk_bytes_max);
    v1::Command next;
    next.mutable_program_chunk()->set_data(bytes.substr(offset, size));
    sender.Add(std::move(next));
  }
}

}  // namespace

ExecutableState::~ExecutableState() {
  if (current_.handle != 0) session->Drop(current_.handle, Session::kDroppedBytesMax);
}

absl::Status ExecutableState::Send(bool by_digest, bool describe, const Caller& caller) {
  Compilation sent{.by_digest = by_digest};
  RETURN_IF_ERROR(session->Transact(caller, [&](Session::Sender& sender) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    sent.handle = sender.NewHandle();
    v1::Command command;
    v1::Compile& compile = *command.mutable_compile();
    compile.set_executable(sent.handle);
    compile.set_describe(describe);
    compile.set_reason(static_cast<int>(verdict.reason));
    compile.set_reason_text(verdict.text);
    if (by_digest) {
      compile.set_digest(std::string(digest.begin(), digest.end()));
      sent.command = sender.Add(std::move(command));
    } else {
      AddProgram(sender, session->daemon().limits, program_, std::move(command), sent.command);
    }
  }));
  if (!by_digest) session->sent_programs.Remember(digest, sent.command);
  current_ = std::move(sent);
  return absl::OkStatus();
}

absl::Status ExecutableState::Compile(bool describe, const Caller& caller) {
  RETURN_IF_ERROR(session->owner().Check());
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(Send(session->sent_programs.Knows(digest), describe, caller));
  ReleaseProgram();
  return absl::OkStatus();
}

absl::StatusOr<Compilation> ExecutableState::Current(const Caller& caller) {
  RETURN_IF_ERROR(session->owner().Check());
  absl::MutexLock lock(&mu_);
  if (!current_.by_digest || !current_.command->done.load(std::memory_order_acquire)) return current_;
  if (absl::IsNotFound(current_.command->status)) {
    const uint64_t unknown = current_.handle;
    RETURN_IF_ERROR(Send(/*by_digest=*/false, /*describe=*/false, caller));
    session->Drop(unknown, Session::kDroppedBytesMax);
  }
  current_.by_digest = false;
  ReleaseProgram();
  return current_;
}

absl::StatusOr<std::shared_ptr<ExecutableState>> ExecutableState::On(const std::shared_ptr<Session>& owner,
                                                                     const Caller& caller) {
  absl::MutexLock lock(&mu_);
  std::erase_if(elsewhere_, [](const auto& state) { return !state->session->status().ok(); });
  for (const std::shared_ptr<ExecutableState>& state : elsewhere_) {
    if (state->session == owner) return state;
  }
  const auto state = std::make_shared<ExecutableState>(owner, program_, digest);
  state->name = name;
  state->participants = participants;
  state->arguments = arguments;
  state->results = results;
  state->argument_names = argument_names;
  if (read_patterns != nullptr)
    state->read_patterns = std::make_shared<std::vector<ReadPattern>>(results.size());
  state->verdict = verdict;
  RETURN_IF_ERROR(state->Compile(/*describe=*/false, caller));
  elsewhere_.push_back(state);
  return state;
}

void ExecutableState::ReleaseProgram() {
  if (current_.by_digest || program_.size() <= kProgramKeptMax) return;
  if (session->place().daemons != nullptr) return;  // Other daemons may need the bytes.
  DependencesLocked();
  program_ = std::string();
}

const hlo::Dependences* ExecutableState::Dependences() {
  absl::MutexLock lock(&mu_);
  return DependencesLocked();
}

const hlo::Dependences* ExecutableState::DependencesLocked() {
  if (!dependences_.has_value()) {
    const absl::StatusOr<std::unique_ptr<Module>> module = hlo::FromSerialized(program_);
    dependences_.emplace();
    if (module.ok()) dependences_->emplace(**module);
  }
  return dependences_->has_value() ? &**dependences_ : nullptr;
}

absl::StatusOr<Executable> CompileBytes(const std::shared_ptr<Session>& session, const Module* module,
                                        std::string bytes, bool describe, const Caller& caller) {
  const DeliverEventsAtExit events;
  RETURN_IF_ERROR(session->status());
  const bool checked = !session->options().skip_local_checks;
  const int64_t max = session->daemon().limits.program_bytes_max;
  if (static_cast<int64_t>(bytes.size()) > max && checked) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("The program has %d bytes; limit program_bytes_max is %d.", bytes.size(), max));
  }
  const Digest digest = Sha256(bytes);
  const auto size = static_cast<int64_t>(bytes.size());
  CompileCause verdict;
  const bool hidden = session->options().hidden;
  if (module != nullptr && !hidden) {
    verdict =
        session->programs.Add(*module, bytes, digest, OriginOf(caller), ArgumentLines::Current(), CallPath());
  }
  const auto state = std::make_shared<ExecutableState>(session, std::move(bytes), digest);
  state->verdict = std::move(verdict);
  if (module != nullptr) {
    const absl::Status read = ReadSignature(*module, *state);
    if (!read.ok() && checked) return Annotate(read, absl::StrFormat("compiling %s", state->name));
  }
  AbstractSession* const abstract = session->options().abstract.get();
  const int64_t ahead = session->daemon().limits.prefetch_bytes_max;
  const bool small = std::any_of(state->results.begin(), state->results.end(), [&](const Shape& shape) {
    return hlo::StoredByteSize(shape).value_or(INT64_MAX) <= ahead;
  });
  if (small && abstract == nullptr && ahead > 0)
    state->read_patterns = std::make_shared<std::vector<ReadPattern>>(state->results.size());
  if (abstract != nullptr) {
    if (module != nullptr) state->large_results = LargeResults(*module, abstract->options().real_bytes_max);
    abstract->Compiled(digest, state->program(), state->verdict.nearest.empty() ? "" : state->verdict.text,
                       caller);
  }
  if (abstract == nullptr && !hidden) WarnOfRecompiles(session->programs, state->verdict, caller);
  RETURN_IF_ERROR(state->Compile(describe, caller));
  if (Observed() && !hidden) {
    Emit(CompileEvent{session->id(), session->step, OriginOf(caller), ToHex(digest), state->name,
                      module == nullptr ? 0 : module->instruction_count(), size, state->verdict.reason,
                      state->verdict.text, state->verdict.nearest});
  }
  return Executable(state);
}

}  // namespace runtime

using runtime::Command;
using runtime::Session;

Future<void> Executable::ready() const {
  const absl::StatusOr<runtime::Compilation> compilation = state_->Current({});
  if (!compilation.ok()) return runtime::FailedFuture<void>(compilation.status());
  return runtime::FutureOf(state_->session, compilation->command);
}

absl::StatusOr<CompileResult> Executable::Describe(Caller caller) const {
  runtime::ExecutableState& state = *state_;
  ASSIGN_OR_RETURN(runtime::Compilation compilation, state.Current(caller));
  absl::Status compiled = state.session->Wait(*compilation.command);
  if (compilation.by_digest && absl::IsNotFound(compiled)) {
    ASSIGN_OR_RETURN(compilation, state.Current(caller));
    compiled = state.session->Wait(*compilation.command);
  }
  RETURN_IF_ERROR(compiled);
  Command answered = compilation.command;
  if (!answered->reply.has_compile()) {
    // Only a Compile is answered with a description. So the same program is compiled a second time, which the
    // daemon finds in its cache.
    const Digest& digest = state.digest;
    uint64_t handle = 0;
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
  result.persistent = proto.persistent();
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
  result.slow_steps.assign(proto.slow_steps().begin(), proto.slow_steps().end());
  return result;
}

}  // namespace hlod
