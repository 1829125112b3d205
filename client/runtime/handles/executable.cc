// Running compiled programs.
#include "hlod/runtime/executable.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/cluster/launch.h"
#include "client/runtime/handles/execute_call.h"
#include "client/runtime/handles/execute_checks.h"
#include "client/runtime/handles/step_profile_proto.h"
#include "client/runtime/mesh/divided_program.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"

namespace hlod {
namespace runtime {
namespace {

std::vector<int> DevicesOf(const ExecutableState& executable, absl::Span<const Argument> arguments,
                           const ExecuteOptions& options) {
  if (!options.devices.empty()) return options.devices;
  if (executable.participants.count() > 1) {
    std::vector<int> devices(static_cast<size_t>(executable.participants.count()));
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }
  if (options.device.has_value()) return {*options.device};
  for (const Argument& argument : arguments) {
    if (argument.buffer() != nullptr && argument.buffer()->valid()) return {argument.buffer()->device()};
  }
  return {0};
}

// Returns those of the devices that this process of a group may use; nullopt for all of them.
std::optional<std::vector<int>> OwnOf(const Session& session, const std::vector<int>& devices) {
  const Daemons* const daemons = session.place().daemons.get();
  if (daemons == nullptr || !daemons->is_group()) return std::nullopt;
  std::vector<int> own = devices;
  std::erase_if(own, [&](int device) { return !daemons->MayUse(device); });
  if (own.size() == devices.size()) return std::nullopt;
  return own;
}

// Checks an execute and sends it. `prepare` may change the call before it is sent.
absl::StatusOr<Execution> StartExecute(const std::shared_ptr<ExecutableState>& state,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  ExecutableState& executable = *state;
  const bool is_abstract = options.abstract || executable.session->options().abstract != nullptr;
  const std::vector<int> devices = DevicesOf(executable, arguments, options);
  const std::optional<std::vector<int>> own = OwnOf(*executable.session, devices);
  RETURN_IF_ERROR(executable.session->status());
  if (!executable.session->options().skip_local_checks) {
    const absl::Status checked = CheckExecute(executable, arguments, options, is_abstract, devices,
                                              own.has_value() ? *own : devices, caller);
    const bool all_placed = static_cast<int64_t>(devices.size()) == executable.participants.count();
    if (!checked.ok() && own.has_value() && all_placed) RefuseOwnPart(state, devices, *own, checked, caller);
    RETURN_IF_ERROR(checked);
  }
  if (own.has_value()) return StartOwnPart(state, arguments, options, devices, *own, prepare, caller);
  ASSIGN_OR_RETURN(std::vector<LaunchedPart> parts, PartsOf(executable, devices));
  if (parts.size() > 1) {
    return StartLaunch(state, arguments, options, is_abstract, devices, std::move(parts), prepare, caller);
  }
  std::shared_ptr<ExecutableState> there = state;
  if (parts[0].session != state->session) {
    ASSIGN_OR_RETURN(there, state->On(parts[0].session, caller));
  }
  ExecuteCall call(there, arguments, options, is_abstract, devices);
  prepare(call);
  RETURN_IF_ERROR(call.Send(caller));
  return call.Finish(caller);
}

}  // namespace

absl::StatusOr<Execution> StartParticipants(const std::shared_ptr<ExecutableState>& executable,
                                            absl::Span<const Argument> arguments,
                                            const ExecuteOptions& options, const Caller& caller) {
  return StartExecute(
      executable, arguments, options, /*prepare=*/[](ExecuteCall&) {}, caller);
}

}  // namespace runtime

const std::string& Executable::name() const { return state_->name; }
int Executable::replica_count() const { return static_cast<int>(state_->participants.replicas); }
int Executable::partition_count() const { return static_cast<int>(state_->participants.partitions); }

const std::vector<Shape>& Executable::argument_shapes() const {
  return state_->divided != nullptr ? state_->divided->takes : state_->arguments;
}

const std::vector<Shape>& Executable::result_shapes() const {
  return state_->divided != nullptr ? state_->divided->gives : state_->results;
}

const Mesh* Executable::mesh() const { return state_->divided == nullptr ? nullptr : &state_->divided->mesh; }

std::vector<std::string> Executable::argument_shardings() const {
  if (state_->divided == nullptr) return {};
  return runtime::ShardingTexts(state_->divided->arguments);
}

std::vector<std::string> Executable::result_shardings() const {
  if (state_->divided == nullptr) return {};
  return runtime::ShardingTexts(state_->divided->results);
}

absl::StatusOr<std::vector<Buffer>> Executable::Execute(absl::Span<const Argument> arguments,
                                                        const ExecuteOptions& options, Caller caller) const {
  ASSIGN_OR_RETURN(Execution execution, Start(arguments, options, caller));
  return std::move(execution.results);
}

absl::StatusOr<std::vector<std::vector<Buffer>>> Executable::ExecuteParticipants(
    absl::Span<const std::vector<Argument>> arguments, const ExecuteOptions& options, Caller caller) const {
  ExecuteOptions placed = options;
  if (mesh() != nullptr && placed.devices.empty()) placed.devices = mesh()->devices();
  const std::vector<int> devices = runtime::DevicesOf(*state_, {}, placed);
  // Other processes of a group have the arguments of the participants that they run.
  const std::optional<std::vector<int>> own = runtime::OwnOf(*state_->session, devices);
  const size_t elsewhere = own.has_value() ? devices.size() - own->size() : 0;
  const auto all_participants = static_cast<size_t>(participant_count());
  const size_t participants = all_participants - std::min(elsewhere, all_participants);
  const size_t takes = argument_shapes().size(), gives = result_shapes().size();
  if (arguments.size() != participants) {
    return runtime::ArgumentError(
        caller, absl::StrFormat("%s has %d participants%s, but arguments of %d are given.", name(),
                                participants, elsewhere > 0 ? " in this process" : "", arguments.size()));
  }
  std::vector<Argument> all;
  for (size_t m = 0; m < participants; ++m) {
    if (arguments[m].size() != takes) {
      return runtime::ArgumentError(
          caller, absl::StrFormat("%s takes %d arguments; participant %d was given %d.", name(), takes, m,
                                  arguments[m].size()));
    }
    all.insert(all.end(), arguments[m].begin(), arguments[m].end());
  }
  ASSIGN_OR_RETURN(const Execution execution, runtime::StartParticipants(state_, all, placed, caller));
  const std::vector<Buffer>& results = execution.results;
  std::vector<std::vector<Buffer>> by_participant(participants);
  for (size_t m = 0; m < participants; ++m) {
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(m * gives);
    by_participant[m].assign(begin, begin + static_cast<std::ptrdiff_t>(gives));
  }
  return by_participant;
}

absl::StatusOr<Execution> Executable::Start(absl::Span<const Argument> arguments,
                                            const ExecuteOptions& options, Caller caller) const {
  return state_->divided != nullptr ? runtime::StartDivided(state_, arguments, options, caller)
                                    : runtime::StartParticipants(state_, arguments, options, caller);
}

absl::StatusOr<ExecuteProfile> Executable::Profile(absl::Span<const Argument> arguments,
                                                   const ExecuteOptions& options, bool measure_machine,
                                                   Caller caller) const {
  if (state_->divided != nullptr)
    return MakeError(ErrorKind::kUnimplemented, "A program that is divided among devices has no profile.");
  const auto prepare = [&](runtime::ExecuteCall& call) { call.RequestProfile(measure_machine); };
  ASSIGN_OR_RETURN(const Execution execution,
                   runtime::StartExecute(state_, arguments, options, prepare, caller));
  RETURN_IF_ERROR(execution.executable->session->Wait(*execution.sent));
  if (!execution.sent->reply.has_profile())
    return MakeError(ErrorKind::kUnimplemented, "This daemon does not profile: it is older than profiles.");
  return runtime::FromProto(execution.sent->reply.profile());
}

void Execution::Cancel() const {
  executable->session->Cancel(command);
  if (sent == nullptr || sent->other_parts == nullptr) return;
  // The other parts of a launch would learn of it from their daemons only once their arguments are there.
  for (const auto& [part, id] : *sent->other_parts) {
    if (const std::shared_ptr<runtime::Session> session = part.lock(); session != nullptr)
      session->Cancel(id);
  }
}

}  // namespace hlod
