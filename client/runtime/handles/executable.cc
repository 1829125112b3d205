// Running compiled programs.
#include "hlod/runtime/executable.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/handles/execute_checks.h"
#include "client/runtime/handles/step_profile_proto.h"
#include "client/runtime/mesh/divided_program.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/proto/codec.h"

namespace hlod {
namespace runtime {
namespace {

// Returns, per result of an abstract execute, true when it becomes a placeholder: because it depends on one
// or, in an abstract session, because it takes large arrays.
std::vector<bool> AbstractResults(ExecutableState& executable,
                                  const std::vector<bool>& placeholder_arguments) {
  std::vector<bool> abstract = executable.large_results;
  abstract.resize(executable.results.size(), false);
  if (std::none_of(placeholder_arguments.begin(), placeholder_arguments.end(), [](bool b) { return b; }))
    return abstract;
  const hlo::Dependences* const dependences = executable.Dependences();
  if (dependences == nullptr) return abstract;
  const std::vector<bool> computable = dependences->Computable(placeholder_arguments);
  for (size_t o = 0; o < abstract.size() && o < computable.size(); ++o)
    abstract[o] = abstract[o] || !computable[o];
  return abstract;
}

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

// Returns those of the devices that this process may use: all of them, except in a group.
std::vector<int> OwnOf(const Session& session, const std::vector<int>& devices) {
  std::vector<int> own = devices;
  if (const Daemons* const daemons = session.place().daemons.get(); daemons != nullptr)
    std::erase_if(own, [&](int device) { return !daemons->MayUse(device); });
  return own;
}

// One execute, from the message to the handles of its results.
class ExecuteCall {
 public:
  ExecuteCall(std::shared_ptr<ExecutableState> executable, absl::Span<const Argument> arguments,
              const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices)
      : executable_(std::move(executable)),
        arguments_(arguments),
        options_(options),
        is_abstract_(is_abstract),
        devices_(devices),
        donated_(options.donate),
        handles_(devices.size() * executable_->results.size()),
        filled_(handles_.size()) {
    std::sort(donated_.begin(), donated_.end());
    for (const auto& [index, placeholder] : options.fill) {
      if (index >= 0 && static_cast<size_t>(index) < filled_.size()) {
        filled_[static_cast<size_t>(index)] = placeholder;
      } else {
        unknown_.push_back(index);
      }
    }
  }

  // Asks for the profile of the run.
  void RequestProfile(bool measure_machine) {
    profile_ = true;
    measure_machine_ = measure_machine;
  }

  // Makes it a part of a program that runs on several daemons.
  void SetLaunch(v1::Launch launch) { launch_ = std::move(launch); }

  absl::Status Send(const Caller& caller) {
    ASSIGN_OR_RETURN(const Compilation compilation, executable_->Current(caller));
    v1::Command command;
    v1::Execute& execute = *command.mutable_execute();
    execute.set_executable(compilation.handle);
    AddOptions(execute);
    if (launch_.has_value()) *execute.mutable_launch() = *launch_;
    AddArguments(execute);
    return executable_->session->Transact(caller, [&](Session::Sender& sender) {
      for (const Caller& line : options_.result_callers) execute.add_result_origins(sender.OriginOf(line));
      AddResults(sender, execute);
      sent_ = sender.Add(std::move(command));
      ReadAhead(sender);
    });
  }

  bool sent() const { return sent_ != nullptr; }
  // Asks the daemon to stop what was sent, if anything was.
  void Cancel() const {
    if (sent_ != nullptr) executable_->session->Cancel(sent_->id);
  }

  // Returns the handles, and notes what the execute did to its arguments. REQUIRES: Send() succeeded.
  Execution Finish(const Caller& caller) const {
    Execution execution;
    execution.executable = executable_;
    execution.command = sent_->id;
    execution.sent = sent_;
    execution.done = FutureOf(executable_->session, sent_);
    execution.results = Results();
    NoteDonations();
    if (AbstractSession* const log = executable_->session->options().abstract.get()) {
      RecordExecute(*log, execution.results, caller);
    }
    return execution;
  }

 private:
  // Writes the first participant's execute into the preflight log; the others hold and run the same.
  void RecordExecute(AbstractSession& log, const std::vector<Buffer>& results, const Caller& caller) const {
    const size_t takes = arguments_.size() / devices_.size(), gives = results.size() / devices_.size();
    std::vector<uint64_t> handles;
    for (const Argument& argument : arguments_.subspan(0, takes)) handles.push_back(HandleOf(argument));
    std::vector<int> donated;
    for (const int index : donated_) {
      if (index >= 0 && static_cast<size_t>(index) < takes) donated.push_back(index);
    }
    const std::vector<Buffer> own(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(gives));
    log.Executed(executable_->digest, devices_[0], handles, own, donated, options_.result_callers, caller);
  }

  // Returns the argument's handle: 0 for a literal, and for a buffer without a handle.
  static uint64_t HandleOf(const Argument& argument) {
    const Buffer* const buffer = argument.buffer();
    return buffer != nullptr && buffer->valid() ? buffer->handle() : 0;
  }

  void AddOptions(v1::Execute& execute) const {
    const Session& session = *executable_->session;
    if (devices_.size() == 1) {
      execute.set_device(session.place().OrdinalOf(devices_[0]));
    } else {
      for (const int device : devices_) execute.add_devices(session.place().OrdinalOf(device));
    }
    for (const int index : donated_) execute.add_donated(static_cast<uint32_t>(index));
    execute.set_abstract(is_abstract_);
    execute.set_line(options_.line);
    execute.set_profile(profile_);
    execute.set_measure_machine(measure_machine_);
    if (options_.deadline > absl::ZeroDuration()) {
      execute.set_deadline_us(
          static_cast<uint64_t>(std::max<int64_t>(1, absl::ToInt64Microseconds(options_.deadline))));
    }
    for (size_t i = 0; i < executable_->large_results.size(); ++i) {
      if (executable_->large_results[i]) execute.add_absent(static_cast<uint32_t>(i));
    }
  }

  // Adds the arguments, and finds the results that will be placeholders.
  void AddArguments(v1::Execute& execute) {
    // By argument of the program, true when it is a placeholder for any participant: participants exchange
    // values, so that a result that depends on it has no value for any of them.
    std::vector<bool> placeholders(executable_->arguments.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      execute.add_arguments(HandleOf(argument));
      const Buffer* const buffer = argument.buffer();
      if (is_abstract_ && buffer != nullptr && buffer->valid() && buffer->is_placeholder() &&
          !placeholders.empty()) {
        placeholders[i % placeholders.size()] = true;
      }
      if (buffer != nullptr) continue;
      const Literal& literal = *argument.literal();
      v1::InlineLiteral& value = *execute.add_literals();
      *value.mutable_shape() = hlo::ToProto(literal.shape());
      value.set_data(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
    }
    const std::vector<bool> abstract = AbstractResults(*executable_, placeholders);
    for (size_t i = 0; i < handles_.size(); ++i) abstract_.push_back(abstract[i % abstract.size()]);
  }

  // Gives each result a new handle, or that of the placeholder that it fills.
  void AddResults(Session::Sender& sender, v1::Execute& execute) {
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (filled_[i].valid()) execute.add_fills(static_cast<uint32_t>(i));
      handles_[i] = filled_[i].valid() ? filled_[i].handle() : sender.NewHandle();
      execute.add_results(handles_[i]);
    }
    for (const int index : unknown_) execute.add_fills(static_cast<uint32_t>(index));
  }

  // Asks for the small results that are expected to be read, in the message of the execute.
  void ReadAhead(Session::Sender& sender) {
    const auto& patterns = executable_->read_patterns;
    if (patterns == nullptr || is_abstract_ || devices_.size() > 1) return;
    const Limits& limits = executable_->session->daemon().limits;
    int64_t room = std::min(limits.prefetch_bytes_max, limits.inline_bytes_max);
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (!(*patterns)[i].Expected() || filled_[i].valid()) continue;
      const int64_t bytes = hlo::StoredByteSize(executable_->results[i]).value_or(INT64_MAX);
      if (bytes > room) continue;
      room -= bytes;
      prefetches_.resize(handles_.size());
      v1::Command command = MakeDownload(handles_[i], Cause::kPrefetch);
      command.mutable_download()->set_inline_(true);
      prefetches_[i] = sender.Add(std::move(command));
    }
  }

  // Connects the buffer with the pattern of result `i`, which counts its first read, or its end without a
  // read.
  void Watch(size_t i, BufferState& buffer) const {
    const auto& patterns = executable_->read_patterns;
    if (patterns == nullptr || is_abstract_ || devices_.size() > 1) return;
    absl::MutexLock lock(&buffer.mu);
    buffer.pattern = std::shared_ptr<ReadPattern>(patterns, &(*patterns)[i]);
    if (!prefetches_.empty()) buffer.prefetch = prefetches_[i];
  }

  std::vector<Buffer> Results() const {
    std::vector<Buffer> results;
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (filled_[i].valid()) {
        BufferState& state = *filled_[i].internal_state();
        absl::MutexLock lock(&state.mu);
        state.producer = sent_;
        state.placeholder = abstract_[i];
        results.push_back(filled_[i]);
      } else {
        const size_t leaf = i % executable_->results.size(), participant = i / executable_->results.size();
        const auto state =
            std::make_shared<BufferState>(executable_->session, handles_[i], executable_->results[leaf],
                                          devices_[participant], sent_, abstract_[i]);
        Watch(i, *state);
        results.push_back(Buffer(state));
      }
    }
    return results;
  }

  void NoteDonations() const {
    for (const int index : donated_) {
      if (index < 0 || static_cast<size_t>(index) >= arguments_.size()) continue;  // The daemon refuses it.
      const Buffer* const buffer = arguments_[static_cast<size_t>(index)].buffer();
      if (buffer == nullptr || !buffer->valid()) continue;
      BufferState& state = *buffer->internal_state();
      absl::MutexLock lock(&state.mu);
      state.death = Death{ErrorKind::kDonated, sent_};
    }
  }

  const std::shared_ptr<ExecutableState> executable_;
  const absl::Span<const Argument> arguments_;
  const ExecuteOptions& options_;
  const bool is_abstract_;
  const std::vector<int>& devices_;
  std::vector<int> donated_;       // Ascending.
  std::vector<uint64_t> handles_;  // The results' handles.
  std::vector<Buffer> filled_;     // The placeholder that each result fills; most are not valid.
  std::vector<int> unknown_;       // Results named in `fill` that do not exist: the daemon refuses them.
  std::vector<bool> abstract_;     // True for each result that will be a placeholder.
  bool profile_ = false, measure_machine_ = false;
  std::optional<v1::Launch> launch_;
  Command sent_;
  std::vector<Command> prefetches_;  // The Download that reads each result ahead; empty if there is none.
};

// The participants of a program that are on one daemon.
struct LaunchedPart {
  std::shared_ptr<Session> session;
  std::vector<size_t> participants;  // Ascending.
  std::vector<int> devices = {};
  std::vector<Argument> arguments = {};
  ExecuteOptions options = {};
  std::unique_ptr<ExecuteCall> call = nullptr;
};

// Returns the parts by daemon; the first one has participant 0.
absl::StatusOr<std::vector<LaunchedPart>> PartsOf(const ExecutableState& state,
                                                  const std::vector<int>& devices) {
  std::vector<LaunchedPart> parts;
  for (size_t m = 0; m < devices.size(); ++m) {
    ASSIGN_OR_RETURN(std::shared_ptr<Session> owner, SessionWith(state.session, devices[m]));
    auto part = std::ranges::find(parts, owner, &LaunchedPart::session);
    if (part == parts.end())
      part = parts.insert(part, LaunchedPart{.session = std::move(owner), .participants = {}});
    part->participants.push_back(m);
    part->devices.push_back(devices[m]);
  }
  return parts;
}

// Gives each part its arguments and options. Indices that do not exist go to the first part as they are, and
// its daemon refuses them.
void DivideParts(const ExecutableState& state, absl::Span<const Argument> arguments,
                 const ExecuteOptions& options, std::vector<LaunchedPart>& parts, size_t participants) {
  const size_t takes = arguments.size() / participants, gives = state.results.size();
  std::vector<std::pair<LaunchedPart*, int>> places(
      participants);  // By participant, its part and its place there.
  for (LaunchedPart& part : parts) {
    part.options = options;
    part.options.devices = part.devices;
    part.options.device.reset();
    part.options.donate.clear();
    part.options.fill.clear();
    part.options.result_callers.clear();
    for (size_t i = 0; i < part.participants.size(); ++i) {
      const size_t m = part.participants[i];
      places[m] = {&part, static_cast<int>(i)};
      const auto own = arguments.subspan(m * takes, takes);
      part.arguments.insert(part.arguments.end(), own.begin(), own.end());
      for (size_t r = 0; r < gives; ++r) {
        const size_t result = m * gives + r;  // The list may end early.
        if (result < options.result_callers.size())
          part.options.result_callers.push_back(options.result_callers[result]);
      }
    }
  }
  const auto place = [&](int index, size_t each) -> std::pair<LaunchedPart*, int> {
    const auto i = static_cast<size_t>(index);
    if (index < 0 || each == 0 || i / each >= participants) return {&parts[0], -1};
    const auto& [part, at] = places[i / each];
    return {part, at * static_cast<int>(each) + static_cast<int>(i % each)};
  };
  for (const int index : options.donate) {
    const auto [part, own] = place(index, takes);
    part->options.donate.push_back(own);
  }
  for (const auto& [index, placeholder] : options.fill) {
    const auto [part, own] = place(index, gives);
    part->options.fill.emplace_back(own, placeholder);
  }
}

// Done when all parts are, with the error of the first part that has one.
class AllDone final : public Awaitable<void> {
 public:
  explicit AllDone(std::vector<Future<void>> parts) : parts_(std::move(parts)) {}
  bool Ready() override {
    return std::ranges::all_of(parts_, [](const Future<void>& part) { return part.Ready(); });
  }
  absl::Status Await(absl::Time deadline) override {
    absl::Status status;
    for (const Future<void>& part : parts_) {
      status.Update(
          part.Await(deadline == absl::InfiniteFuture() ? absl::InfiniteDuration() : deadline - absl::Now()));
    }
    return status;
  }

 private:
  const std::vector<Future<void>> parts_;
};

// Sends each daemon its part. All of them start, or none does.
absl::Status SendParts(Daemons& daemons, const std::vector<int>& devices, std::vector<LaunchedPart>& parts,
                       const Caller& caller) {
  v1::Launch launch;
  launch.set_group(daemons.group());
  launch.set_separate(daemons.is_group());
  for (const int device : devices) {
    launch.add_ranks(daemons.RankOf(device));
    launch.add_devices(static_cast<uint32_t>(daemons.OrdinalOf(device)));
  }
  absl::MutexLock lock(&daemons.launching());
  launch.set_sequence(daemons.NextLaunch(devices));
  for (LaunchedPart& part : parts) {
    part.call->SetLaunch(launch);
    if (const absl::Status sent = part.call->Send(caller); !sent.ok()) {
      for (const LaunchedPart& other : parts) other.call->Cancel();
      return sent;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Execution> StartLaunch(const std::shared_ptr<ExecutableState>& state,
                                      absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                      bool is_abstract, const std::vector<int>& devices,
                                      std::vector<LaunchedPart> parts,
                                      absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  if (is_abstract) {
    return MakeError(
        ErrorKind::kUnimplemented,
        absl::StrFormat("%s is to run on devices %d and %d, which are of different daemons; over "
                        "placeholders it must run on devices of one daemon.",
                        state->name, parts[0].devices[0], parts[1].devices[0]));
  }
  DivideParts(*state, arguments, options, parts, devices.size());
  for (LaunchedPart& part : parts) {
    std::shared_ptr<ExecutableState> there = state;
    if (part.session != state->session) {
      ASSIGN_OR_RETURN(there, state->On(part.session, caller));
    }
    part.call = std::make_unique<ExecuteCall>(there, part.arguments, part.options, /*is_abstract=*/false,
                                              part.devices);
  }
  prepare(*parts[0].call);
  RETURN_IF_ERROR(SendParts(*state->session->place().daemons, devices, parts, caller));
  const size_t gives = state->results.size();
  std::vector<Buffer> results(devices.size() * gives);
  std::vector<Future<void>> ends;
  Execution whole;
  auto others = std::make_unique<std::vector<std::pair<std::weak_ptr<Session>, uint64_t>>>();
  for (const LaunchedPart& part : parts) {
    Execution execution = part.call->Finish(caller);
    for (size_t i = 0; i < execution.results.size(); ++i)
      results[part.participants[i / gives] * gives + i % gives] = std::move(execution.results[i]);
    ends.push_back(execution.done);
    if (ends.size() == 1) {
      whole = std::move(execution);
    } else {
      others->emplace_back(part.session, execution.command);
    }
  }
  whole.sent->other_parts = std::move(others);
  whole.results = std::move(results);
  whole.done = Future<void>(std::make_shared<AllDone>(std::move(ends)));
  return whole;
}

// Starts this process's part of a program whose other participants other processes of the group run.
absl::StatusOr<Execution> StartOwnPart(const std::shared_ptr<ExecutableState>& state,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const std::vector<int>& devices, const std::vector<int>& own,
                                       absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  if (own.empty()) {
    return ArgumentError(caller,
                         absl::StrFormat("%s has no participant on this process's devices.", state->name));
  }
  std::vector<LaunchedPart> parts(1);
  parts[0].call = std::make_unique<ExecuteCall>(state, arguments, options, /*is_abstract=*/false, own);
  prepare(*parts[0].call);
  Daemons& daemons = *state->session->place().daemons;
  RETURN_IF_ERROR(SendParts(daemons, devices, parts, caller));
  Execution execution = parts[0].call->Finish(caller);
  RETURN_IF_ERROR(daemons.LimitAhead(*state->session, execution.sent));
  return execution;
}

// Tells the other processes of a group that this one's part of their launch will not come. It sends the part
// without arguments, which the daemon refuses: so the launch is counted here, too, and fails there at once.
void RefuseOwnPart(const std::shared_ptr<ExecutableState>& state, const std::vector<int>& devices,
                   const std::vector<int>& own, const Caller& caller) {
  if (own.empty() || state->arguments.empty()) return;
  std::vector<LaunchedPart> parts(1);
  const ExecuteOptions options;
  parts[0].call = std::make_unique<ExecuteCall>(state, absl::Span<const Argument>(), options,
                                                /*is_abstract=*/false, own);
  // If it cannot be sent, the session is lost, and they learn that.
  SendParts(*state->session->place().daemons, devices, parts, caller).IgnoreError();
  // Makes handles of the results, which are dropped, and so freed.
  if (parts[0].call->sent()) parts[0].call->Finish(caller);
}

// Checks an execute and sends it. `prepare` may change the call before it is sent.
absl::StatusOr<Execution> StartExecute(const std::shared_ptr<ExecutableState>& state,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller) {
  ExecutableState& executable = *state;
  const bool is_abstract = options.abstract || executable.session->options().abstract != nullptr;
  const std::vector<int> devices = DevicesOf(executable, arguments, options);
  const std::vector<int> own = OwnOf(*executable.session, devices);
  RETURN_IF_ERROR(executable.session->status());
  if (!executable.session->options().skip_local_checks) {
    const absl::Status checked =
        CheckExecute(executable, arguments, options, is_abstract, devices, own, caller);
    const bool has_others = own.size() < devices.size() &&
                            static_cast<int64_t>(devices.size()) == executable.participants.count();
    if (!checked.ok() && has_others) RefuseOwnPart(state, devices, own, caller);
    RETURN_IF_ERROR(checked);
  }
  if (own.size() < devices.size())
    return StartOwnPart(state, arguments, options, devices, own, prepare, caller);
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
  const size_t elsewhere = devices.size() - runtime::OwnOf(*state_->session, devices).size();
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
