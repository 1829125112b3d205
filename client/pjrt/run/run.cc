// Reads a call: its devices, arguments, callbacks, and places for results.
#include "client/pjrt/run/run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/run/execute_context.h"

namespace hlod::pjrt {

namespace {

std::string Place(const Run& run, size_t participant) {
  const auto partitions = static_cast<size_t>(run.program->options().partitions);
  return absl::StrFormat("replica %d, partition %d", participant / partitions, participant % partitions);
}

// Finds a buffer that is given twice and is to be consumed. The texts are those that frameworks' users know.
class DonationCheck {
 public:
  absl::Status Add(const Run& run, Buffer* buffer, bool donated, size_t participant, size_t argument) {
    const auto [first, is_new] = uses_.try_emplace(buffer, Use{donated, argument});
    if (is_new || !(donated || first->second.donated)) return absl::OkStatus();
    const bool twice = donated && first->second.donated;
    return InvalidArgument(
        "Attempt to %s (flattened argument %d, %s, first use: %d). Toy example for this bug: `%s`.",
        twice     ? "donate the same buffer twice in Execute()"
        : donated ? "donate a buffer which is also used by the same call to Execute()"
                  : "use a buffer that was previously donated in the same call to Execute()",
        argument, Place(run, participant), first->second.argument,
        twice     ? "f(donate(a), donate(a))"
        : donated ? "f(a, donate(a))"
                  : "f(donate(a), a)");
  }

 private:
  struct Use {
    bool donated;
    size_t argument;
  };
  std::map<Buffer*, Use> uses_;
};

absl::Status ChooseDevices(const LoadedExecutable& executable, const abi::LoadedExecutable_Execute_Args& args,
                           Run& run) {
  if (args.execute_device != nullptr && (executable.devices().empty() || args.num_devices == 1)) {
    run.devices = {args.execute_device};
  } else {
    run.devices = executable.devices();
  }
  const std::vector<int>& all = run.program->options().devices;
  if (executable.devices().empty() && !all.empty()) {
    return InvalidArgument("%s has no participant on this process's devices.", run.program->module().name());
  }
  if (run.devices.empty()) return InvalidArgument("A portable program is run without an execute_device.");
  if (run.devices.size() != args.num_devices) {
    return InvalidArgument("%s runs on %d devices; arguments of %d are given.", run.program->module().name(),
                           run.devices.size(), args.num_devices);
  }
  run.runtime = run.program->runtime();
  if (run.devices.size() < executable.devices().size()) {
    run.is_part = run.program->needs_all();
    if (!run.is_part) {
      ASSIGN_OR_RETURN(run.runtime, run.program->alone());
    }
  }
  for (const Device* const device : run.devices) {
    RETURN_IF_ERROR(run.program->client().CheckOwn(*device));
    run.options.devices.push_back(device->ordinal());
  }
  if (all.size() == executable.devices().size()) return absl::OkStatus();
  // A replica that meets no other one does not wait for those of other processes, which may not run it.
  if (run.devices.size() == 1 && run.program->options().partitions == 1 && !run.program->needs_all()) {
    ASSIGN_OR_RETURN(run.runtime, run.program->alone());
    return absl::OkStatus();
  }
  // The daemons bring this process's participants and those of others together.
  if (run.devices.size() < executable.devices().size()) {
    return Unimplemented(
        "%s has participants in several processes; those of one process are run by one call. With torchrun, "
        "give each process one device (HLOD_DEVICES=1), or use torch_xla.runtime.use_spmd().",
        run.program->module().name());
  }
  if (!executable.devices().empty()) run.options.devices = all;
  return absl::OkStatus();
}

// `donations` is null when nothing is donated.
absl::Status AddArgument(Run& run, DonationCheck* donations, Buffer* buffer, bool donate, size_t participant,
                         size_t argument) {
  if (buffer == nullptr)
    return InvalidArgument("Argument %d of participant %d is null.", argument, participant);
  if (&buffer->client() != &run.program->client()) {
    return InvalidArgument("Argument %d of participant %d is a buffer of another client.", argument,
                           participant);
  }
  if (buffer->promised() != nullptr && !buffer->IsDeleted() && !buffer->promised()->IsGiven()) {
    if (donations != nullptr) RETURN_IF_ERROR(donations->Add(run, buffer, donate, participant, argument));
    if (donate) run.consumed.push_back(buffer);
    run.awaited.push_back({run.arguments.size(), PromisedValue::Use(buffer->promised()), donate});
    run.arguments.emplace_back(hlod::Buffer());
    return absl::OkStatus();
  }
  const hlo::Shape& wanted = run.program->runtime().argument_shapes()[argument];
  absl::StatusOr<hlod::Buffer> value = buffer->value();
  if (!value.ok() && !buffer->IsDeleted()) {
    run.poison.Update(value.status());
    run.arguments.emplace_back(hlod::Buffer());
    return absl::OkStatus();
  }
  if (!value.ok()) {
    return absl::Status(
        value.status().code(),
        absl::StrFormat("Invalid buffer passed to Execute() as argument %d to replica %d: %s", argument,
                        participant, value.status().ToString(absl::StatusToStringMode::kWithNoExtraData)));
  }
  if (donations != nullptr) RETURN_IF_ERROR(donations->Add(run, buffer, donate, participant, argument));
  if (wanted.IsToken() && !buffer->shape().IsToken()) {
    // A framework that has no token yet passes some other buffer in its place.
    ASSIGN_OR_RETURN(value,
                     run.devices[participant]->runtime().Upload({}, wanted, Cause::kUpload, CurrentLine()));
  } else if (donate) {
    run.consumed.push_back(buffer);
    if (buffer->IsSoleUser(*value)) run.options.donate.push_back(static_cast<int>(run.arguments.size()));
  }
  run.arguments.emplace_back(*std::move(value));
  return absl::OkStatus();
}

absl::Status AddArguments(Run& run, const abi::LoadedExecutable_Execute_Args& args,
                          const abi::ExecuteOptions& options) {
  std::vector<bool> donate = run.program->signature().donated;
  if (args.num_args != donate.size()) {
    return InvalidArgument("%s takes %d arguments; %d were given.", run.program->module().name(),
                           donate.size(), args.num_args);
  }
  if (options.num_non_donatable_input_indices > 0)
    RETURN_IF_ERROR(Given(options.non_donatable_input_indices, "non_donatable_input_indices"));
  for (size_t i = 0; i < options.num_non_donatable_input_indices; ++i) {
    const int64_t index = options.non_donatable_input_indices[i];
    if (index >= 0 && index < static_cast<int64_t>(donate.size())) donate[static_cast<size_t>(index)] = false;
  }
  if (args.num_args > 0) RETURN_IF_ERROR(Given(args.argument_lists, "argument_lists"));
  run.arguments.reserve(args.num_args * run.devices.size());
  DonationCheck check;
  const bool any_donated = std::find(donate.begin(), donate.end(), true) != donate.end();
  DonationCheck* const donations = any_donated ? &check : nullptr;
  for (size_t participant = 0; participant < run.devices.size(); ++participant) {
    if (args.num_args > 0) RETURN_IF_ERROR(Given(args.argument_lists[participant], "argument_lists[i]"));
    for (size_t i = 0; i < args.num_args; ++i) {
      RETURN_IF_ERROR(
          AddArgument(run, donations, args.argument_lists[participant][i], donate[i], participant, i));
    }
  }
  return absl::OkStatus();
}

// Returns the caller's callbacks, which it keeps for the time of the call alone.
absl::StatusOr<std::vector<ParticipantCallbacks>> CallbacksOf(const Run& run,
                                                              const abi::ExecuteOptions& options) {
  std::vector<ParticipantCallbacks> participants;
  for (size_t i = 0; i < run.devices.size(); ++i) {
    ParticipantCallbacks& callbacks = participants.emplace_back();
    callbacks.device = run.devices[i];
    if (options.num_send_ops > 0 && options.send_callbacks != nullptr) {
      RETURN_IF_ERROR(Given(options.send_callbacks[i], "send_callbacks[i]"));
      callbacks.sends.assign(options.send_callbacks[i], options.send_callbacks[i] + options.num_send_ops);
    }
    if (options.num_recv_ops > 0 && options.recv_callbacks != nullptr) {
      RETURN_IF_ERROR(Given(options.recv_callbacks[i], "recv_callbacks[i]"));
      callbacks.receives.assign(options.recv_callbacks[i], options.recv_callbacks[i] + options.num_recv_ops);
    }
    if (!run.program->foreign_calls().empty()) {
      const ffi::UserData data = options.context == nullptr ? ffi::UserData() : options.context->data();
      ServeForeignCalls(run.program->foreign_calls(), data, callbacks);
    }
  }
  return participants;
}

// Returns INVALID_ARGUMENT unless each participant has a place for its results, and callbacks that can be
// called.
absl::Status CheckPlaces(const Run& run, const abi::LoadedExecutable_Execute_Args& args) {
  for (size_t i = 0; i < run.devices.size(); ++i) {
    if (!run.program->signature().output_types.empty())
      RETURN_IF_ERROR(Given(args.output_lists[i], "output_lists[i]"));
    for (const abi::SendCallbackInfo& send : run.callbacks[i].sends) {
      if (send.send_callback == nullptr)
        return InvalidArgument("The send_callback of channel %d is null.", send.channel_id);
    }
    for (const abi::RecvCallbackInfo& receive : run.callbacks[i].receives) {
      if (receive.recv_callback == nullptr)
        return InvalidArgument("The recv_callback of channel %d is null.", receive.channel_id);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Run> ReadRun(const LoadedExecutable& executable,
                            const abi::LoadedExecutable_Execute_Args& args,
                            const abi::ExecuteOptions& options) {
  Run run = {.program = executable.program()};
  if (!run.program->signature().output_types.empty())
    RETURN_IF_ERROR(Given(args.output_lists, "output_lists"));
  RETURN_IF_ERROR(ChooseDevices(executable, args, run));
  ASSIGN_OR_RETURN(run.callbacks, CallbacksOf(run, options));
  RETURN_IF_ERROR(CheckPlaces(run, args));
  RETURN_IF_ERROR(AddArguments(run, args, options));
  if (!run.program->channels().empty()) run.options.line = LineOfThisThread();
  return run;
}

}  // namespace hlod::pjrt
