// Running compiled programs.
#include "hlod/runtime/executable.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod {
namespace internal {
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

// Returns an error unless `devices` has one device per participant.
absl::Status CheckDevices(const ExecutableState& executable, const std::vector<int>& devices,
                          bool is_abstract, const Caller& caller) {
  const hlo::Participants& participants = executable.participants;
  const auto refused = [&](const std::string& what) {
    return ArgumentError(
        caller,
        absl::StrFormat("%s needs %d devices (num_replicas %d x num_partitions %d), but %s.", executable.name,
                        participants.count(), participants.replicas, participants.partitions, what));
  };
  if (static_cast<int64_t>(devices.size()) != participants.count())
    return refused(absl::StrFormat("%d are given", devices.size()));
  if (participants.count() == 1) return absl::OkStatus();
  const auto count = static_cast<int>(executable.session->devices().size());
  if (participants.count() > count) return refused(absl::StrFormat("the daemon has %d", count));
  if (!is_abstract) return absl::OkStatus();
  return MakeError(
      ErrorKind::kUnimplemented,
      absl::StrFormat("%s needs %d devices (num_replicas %d x num_partitions %d), but an abstract "
                      "execute runs on one.",
                      executable.name, participants.count(), participants.replicas, participants.partitions));
}

// Returns an error about the first wrong argument that the client knows of.
absl::Status CheckArguments(ExecutableState& executable, absl::Span<const Argument> arguments,
                            const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices,
                            const Caller& caller) {
  RETURN_IF_ERROR(executable.session->status());
  // Converted to text only for an error.
  const auto at = [&caller] { return " at " + hlod::ToString(OriginOf(caller)); };
  RETURN_IF_ERROR(CheckDevices(executable, devices, is_abstract, caller));
  const std::string of_each =
      devices.size() == 1 ? "" : absl::StrFormat(" for each of %d participants", devices.size());
  if (arguments.size() != devices.size() * executable.arguments.size()) {
    return ArgumentError(caller,
                         absl::StrFormat("%s takes %d arguments%s; %d were given%s.", executable.name,
                                         executable.arguments.size(), of_each, arguments.size(), at()));
  }
  int64_t inline_bytes = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t leaf = i % executable.arguments.size();
    const int device = devices[i / executable.arguments.size()];
    const Use use(executable, leaf);
    const Buffer* const buffer = arguments[i].buffer();
    if (buffer != nullptr && !buffer->valid())
      return ArgumentError(caller, "The buffer given as " + use.ToString() + at() + " names nothing.");
    const Shape& shape = buffer != nullptr ? buffer->shape() : arguments[i].literal()->shape();
    if (buffer != nullptr) {
      BufferState& state = *buffer->internal_state();
      if (state.session != executable.session) {
        return MakeError(ErrorKind::kUnknownHandle,
                         "The buffer given as " + use.ToString() + at() + " belongs to another session.");
      }
      RETURN_IF_ERROR(is_abstract ? CheckAlive(state, use) : CheckReadable(state, use, caller));
      if (state.device != device) {
        return ArgumentError(
            caller,
            absl::StrFormat("%s, given as %s%s: it is on device %d; the program runs on device %d.",
                            Describe(state), use.ToString(), at(), state.device, device),
            &state);
      }
    } else {
      inline_bytes += static_cast<int64_t>(arguments[i].literal()->bytes().size());
    }
    if (!hlo::Compatible(shape, executable.arguments[leaf])) {
      BufferState* const state = buffer == nullptr ? nullptr : buffer->internal_state().get();
      return ArgumentError(
          caller,
          absl::StrFormat("%s, given as %s%s: the program takes %s.",
                          state == nullptr ? "A literal " + hlo::ToStringNoLayout(shape) : Describe(*state),
                          use.ToString(), at(), hlo::ToStringNoLayout(executable.arguments[leaf])),
          state);
    }
  }
  if (inline_bytes > executable.session->limits().inline_bytes_max) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("The literal arguments of %s have %d bytes together; limit inline_bytes_max is "
                        "%d. Upload the larger ones.",
                        executable.name, inline_bytes, executable.session->limits().inline_bytes_max));
  }
  for (const int index : options.donate) {
    if (index < 0 || index >= static_cast<int>(arguments.size()) ||
        arguments[static_cast<size_t>(index)].buffer() == nullptr) {
      return ArgumentError(
          caller, absl::StrFormat("Argument %d of %s cannot be donated%s: it is not a buffer argument.",
                                  index, executable.name, at()));
    }
  }
  for (const auto& [index, placeholder] : options.fill) {
    const size_t results = devices.size() * executable.results.size();
    if (index < 0 || index >= static_cast<int>(results) || !placeholder.valid()) {
      return ArgumentError(
          caller,
          absl::StrFormat("Result %d of %s cannot fill a placeholder%s: the program has %d results, and "
                          "the buffer given must be valid.",
                          index, executable.name, at(), results));
    }
    if (placeholder.internal_state()->session != executable.session) {
      return MakeError(ErrorKind::kUnknownHandle,
                       absl::StrFormat("%s, to be filled with result %d of %s, belongs to another session.",
                                       placeholder.ToString(), index, executable.name));
    }
    RETURN_IF_ERROR(CheckAlive(*placeholder.internal_state(), "a fill"));
    const Shape& shape = executable.results[static_cast<size_t>(index) % executable.results.size()];
    if (!placeholder.is_placeholder() || !hlo::Compatible(placeholder.shape(), shape)) {
      return ArgumentError(
          caller,
          absl::StrFormat("Result %d (%s) of %s cannot fill %s%s.", index, hlo::ToStringNoLayout(shape),
                          executable.name, placeholder.ToString(), at()),
          placeholder.internal_state().get());
    }
  }
  return absl::OkStatus();
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

}  // namespace

}  // namespace internal

using internal::BufferState;
using internal::Command;
using internal::ExecutableState;
using internal::Session;

const std::string& Executable::name() const { return state_->name; }
int Executable::replica_count() const { return static_cast<int>(state_->participants.replicas); }
int Executable::partition_count() const { return static_cast<int>(state_->participants.partitions); }
const std::vector<Shape>& Executable::argument_shapes() const { return state_->arguments; }
const std::vector<Shape>& Executable::result_shapes() const { return state_->results; }

absl::StatusOr<std::vector<Buffer>> Executable::Execute(absl::Span<const Argument> arguments,
                                                        const ExecuteOptions& options, Caller caller) const {
  ASSIGN_OR_RETURN(Execution execution, Start(arguments, options, caller));
  return std::move(execution.results);
}

absl::StatusOr<std::vector<std::vector<Buffer>>> Executable::ExecuteParticipants(
    absl::Span<const std::vector<Argument>> arguments, const ExecuteOptions& options, Caller caller) const {
  const auto participants = static_cast<size_t>(participant_count());
  const size_t takes = argument_shapes().size(), gives = result_shapes().size();
  if (arguments.size() != participants) {
    return internal::ArgumentError(
        caller, absl::StrFormat("%s has %d participants, but arguments of %d are given.", name(),
                                participants, arguments.size()));
  }
  std::vector<Argument> all;
  for (size_t m = 0; m < participants; ++m) {
    if (arguments[m].size() != takes) {
      return internal::ArgumentError(
          caller, absl::StrFormat("%s takes %d arguments; participant %d was given %d.", name(), takes, m,
                                  arguments[m].size()));
    }
    all.insert(all.end(), arguments[m].begin(), arguments[m].end());
  }
  ASSIGN_OR_RETURN(const std::vector<Buffer> results, Execute(all, options, caller));
  std::vector<std::vector<Buffer>> by_participant(participants);
  for (size_t m = 0; m < participants; ++m) {
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(m * gives);
    by_participant[m].assign(begin, begin + static_cast<std::ptrdiff_t>(gives));
  }
  return by_participant;
}

absl::StatusOr<Execution> Executable::Start(absl::Span<const Argument> arguments,
                                            const ExecuteOptions& options, Caller caller) const {
  ExecutableState& executable = *state_;
  Session& session = *executable.session;
  internal::AbstractSession* const record = session.options().abstract.get();
  const bool is_abstract = options.abstract || record != nullptr;
  const std::vector<int> devices = internal::DevicesOf(executable, arguments, options);
  RETURN_IF_ERROR(session.status());
  if (!session.options().skip_local_checks) {
    RETURN_IF_ERROR(internal::CheckArguments(executable, arguments, options, is_abstract, devices, caller));
  }

  ASSIGN_OR_RETURN(const internal::Compilation compilation, executable.Current(caller));
  v1::Command command;
  v1::Execute& execute = *command.mutable_execute();
  execute.set_executable(compilation.handle);
  if (devices.size() == 1) {
    execute.set_device(static_cast<uint32_t>(devices[0]));
  } else {
    for (const int device : devices) execute.add_devices(static_cast<uint32_t>(device));
  }
  std::vector<bool> placeholders;
  for (const Argument& argument : arguments) {
    if (const Buffer* const buffer = argument.buffer()) {
      execute.add_arguments(buffer->valid() ? buffer->handle() : 0);
      placeholders.push_back(is_abstract && buffer->valid() && buffer->is_placeholder());
    } else {
      const Literal& literal = *argument.literal();
      execute.add_arguments(0);
      placeholders.push_back(false);
      v1::InlineLiteral& value = *execute.add_literals();
      *value.mutable_shape() = hlo::ToProto(literal.shape());
      value.set_data(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
    }
  }
  std::vector<int> donated = options.donate;
  std::sort(donated.begin(), donated.end());
  for (const int index : donated) execute.add_donated(static_cast<uint32_t>(index));
  execute.set_abstract(is_abstract);
  if (options.deadline > absl::ZeroDuration()) {
    execute.set_deadline_us(
        static_cast<uint64_t>(std::max<int64_t>(1, absl::ToInt64Microseconds(options.deadline))));
  }
  std::vector<bool> abstract = internal::AbstractResults(executable, placeholders);
  abstract.resize(devices.size() * executable.results.size(), false);
  for (size_t i = 0; i < executable.large_results.size(); ++i) {
    if (executable.large_results[i]) execute.add_absent(static_cast<uint32_t>(i));
  }

  std::vector<uint64_t> results(abstract.size());
  std::vector<Buffer> filled(abstract.size());
  std::vector<int> unknown;  // Results named in `fill` that do not exist, which the daemon refuses.
  for (const auto& [index, placeholder] : options.fill) {
    if (index >= 0 && static_cast<size_t>(index) < filled.size()) {
      filled[static_cast<size_t>(index)] = placeholder;
    } else {
      unknown.push_back(index);
    }
  }
  Command sent;
  RETURN_IF_ERROR(session.Transact(caller, [&](Session::Sender& sender) {
    for (const Caller& line : options.result_callers) execute.add_result_origins(sender.OriginOf(line));
    for (size_t i = 0; i < results.size(); ++i) {
      if (filled[i].valid()) {
        execute.add_fills(static_cast<uint32_t>(i));
        results[i] = filled[i].handle();
      } else {
        results[i] = sender.NewHandle();
      }
      execute.add_results(results[i]);
    }
    for (const int index : unknown) execute.add_fills(static_cast<uint32_t>(index));
    sent = sender.Add(std::move(command));
  }));

  Execution execution;
  execution.executable = state_;
  execution.command = sent->id;
  execution.sent = sent;
  execution.done = internal::FutureOf(executable.session, sent);
  for (size_t i = 0; i < results.size(); ++i) {
    if (filled[i].valid()) {
      BufferState& state = *filled[i].internal_state();
      absl::MutexLock lock(&state.mu);
      state.producer = sent;
      state.placeholder = abstract[i];
      execution.results.push_back(filled[i]);
    } else {
      execution.results.push_back(Buffer(std::make_shared<BufferState>(
          executable.session, results[i], executable.results[i % executable.results.size()],
          devices[i / executable.results.size()], sent, abstract[i])));
    }
  }
  for (const int index : donated) {
    if (index < 0 || static_cast<size_t>(index) >= arguments.size()) continue;  // The daemon refuses it.
    const Buffer* const buffer = arguments[static_cast<size_t>(index)].buffer();
    if (buffer == nullptr || !buffer->valid()) continue;
    BufferState& state = *buffer->internal_state();
    absl::MutexLock lock(&state.mu);
    state.death = internal::Death{ErrorKind::kDonated, sent};
  }
  if (record != nullptr) {
    std::vector<uint64_t> handles;
    for (const Argument& argument : arguments) {
      const Buffer* const buffer = argument.buffer();
      handles.push_back(buffer != nullptr && buffer->valid() ? buffer->handle() : 0);
    }
    record->Executed(executable.digest, handles, execution.results, donated, options.result_callers, caller);
  }
  return execution;
}

void Execution::Cancel() const { executable->session->Cancel(command); }

}  // namespace hlod
