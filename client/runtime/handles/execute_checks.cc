// One function per rule. The daemon checks the same again when everything that the execute needs is settled
// (server/device/execution/execution_checks.cc).
#include "client/runtime/handles/execute_checks.h"

#include <string>

#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

// An execute to check, with what the texts of its errors name.
class ExecuteCheck {
 public:
  ExecuteCheck(ExecutableState& executable, absl::Span<const Argument> arguments, bool is_abstract,
               const std::vector<int>& own, const Caller& caller)
      : executable_(executable),
        arguments_(arguments),
        is_abstract_(is_abstract),
        devices_(own),
        caller_(caller) {}

  // Returns an error unless there is one device per participant.
  absl::Status CheckDevices(const std::vector<int>& devices) const {
    const hlo::Participants& participants = executable_.participants;
    if (static_cast<int64_t>(devices.size()) != participants.count())
      return ArgumentError(caller_, Needs() + absl::StrFormat("%d are given.", devices.size()));
    if (participants.count() == 1) return absl::OkStatus();
    const auto count = static_cast<int>(executable_.session->daemon().devices.size());
    if (participants.count() > count)
      return ArgumentError(caller_, Needs() + absl::StrFormat("the daemon has %d.", count));
    return absl::OkStatus();
  }

  absl::Status CheckArgumentCount() const {
    if (arguments_.size() == devices_.size() * executable_.arguments.size()) return absl::OkStatus();
    const std::string of_each =
        devices_.size() == 1 ? "" : absl::StrFormat(" for each of %d participants", devices_.size());
    return ArgumentError(caller_,
                         absl::StrFormat("%s takes %d arguments%s; %d were given%s.", executable_.name,
                                         executable_.arguments.size(), of_each, arguments_.size(), At()));
  }

  absl::Status CheckArgument(size_t i) const {
    const size_t leaf = i % executable_.arguments.size();
    const Use use(executable_, leaf);
    const Buffer* const buffer = arguments_[i].buffer();
    if (buffer != nullptr)
      RETURN_IF_ERROR(CheckBuffer(*buffer, use, devices_[i / executable_.arguments.size()]));
    const Shape& shape = buffer != nullptr ? buffer->shape() : arguments_[i].literal()->shape();
    if (hlo::Compatible(shape, executable_.arguments[leaf])) return absl::OkStatus();
    BufferState* const state = buffer == nullptr ? nullptr : buffer->internal_state().get();
    return ArgumentError(
        caller_,
        absl::StrFormat("%s, given as %s%s: the program takes %s.",
                        state == nullptr ? "A literal " + hlo::ToStringNoLayout(shape) : Describe(*state),
                        use.ToString(), At(), hlo::ToStringNoLayout(executable_.arguments[leaf])),
        state);
  }

  // Checks the bytes of all literal arguments together.
  absl::Status CheckInlineBytes() const {
    int64_t bytes = 0;
    for (const Argument& argument : arguments_) {
      if (argument.buffer() == nullptr) bytes += static_cast<int64_t>(argument.literal()->bytes().size());
    }
    const int64_t max = executable_.session->daemon().limits.inline_bytes_max;
    if (bytes <= max) return absl::OkStatus();
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("The literal arguments of %s have %d bytes together; limit inline_bytes_max is "
                        "%d. Upload the larger ones.",
                        executable_.name, bytes, max));
  }

  // Checks that result `index` can fill `placeholder`.
  absl::Status CheckFill(int index, const Buffer& placeholder) const {
    const size_t results = devices_.size() * executable_.results.size();
    if (index < 0 || index >= static_cast<int>(results) || !placeholder.valid()) {
      return ArgumentError(
          caller_,
          absl::StrFormat("Result %d of %s cannot fill a placeholder%s: the program has %d results, and "
                          "the buffer given must be valid.",
                          index, executable_.name, At(), results));
    }
    if (!AreOfOneClient(*placeholder.internal_state()->session, *executable_.session)) {
      return MakeError(ErrorKind::kUnknownHandle,
                       absl::StrFormat("%s, to be filled with result %d of %s, belongs to another session.",
                                       placeholder.ToString(), index, executable_.name));
    }
    RETURN_IF_ERROR(CheckAlive(*placeholder.internal_state(), "a fill"));
    if (!placeholder.shards().empty()) {
      return ArgumentError(
          caller_,
          absl::StrFormat("Result %d of %s cannot fill %s%s: it is divided among %d devices, and the program "
                          "is not compiled for a mesh.",
                          index, executable_.name, placeholder.ToString(), At(), placeholder.shards().size()),
          placeholder.internal_state().get());
    }
    const Shape& shape = executable_.results[static_cast<size_t>(index) % executable_.results.size()];
    if (placeholder.is_placeholder() && hlo::Compatible(placeholder.shape(), shape)) return absl::OkStatus();
    return ArgumentError(
        caller_,
        absl::StrFormat("Result %d (%s) of %s cannot fill %s%s.", index, hlo::ToStringNoLayout(shape),
                        executable_.name, placeholder.ToString(), At()),
        placeholder.internal_state().get());
  }

 private:
  // Checks that a buffer is one of this session, has a value or will have one, and is on the device.
  absl::Status CheckBuffer(const Buffer& buffer, const Use& use, int device) const {
    if (!buffer.valid())
      return ArgumentError(caller_, "The buffer given as " + use.ToString() + At() + " names nothing.");
    BufferState& state = *buffer.internal_state();
    if (!AreOfOneClient(*state.session, *executable_.session)) {
      return MakeError(ErrorKind::kUnknownHandle,
                       "The buffer given as " + use.ToString() + At() + " belongs to another session.");
    }
    if (state.shards != nullptr) {
      return ArgumentError(
          caller_,
          absl::StrFormat("%s, given as %s%s, is divided among %d devices: compile the program for "
                          "a mesh, or gather it with CopyTo().",
                          Describe(state), use.ToString(), At(), buffer.shards().size()),
          &state);
    }
    RETURN_IF_ERROR(is_abstract_ ? CheckAlive(state, use) : CheckReadable(state, use, caller_));
    if (state.device == device) return absl::OkStatus();
    return ArgumentError(
        caller_,
        absl::StrFormat("%s, given as %s%s: it is on device %d; the program runs on device %d.",
                        Describe(state), use.ToString(), At(), state.device, device),
        &state);
  }

  // Return parts of an error's text, and are called only when there is an error.
  std::string Needs() const {
    const hlo::Participants& participants = executable_.participants;
    return absl::StrFormat("%s needs %d devices (num_replicas %d x num_partitions %d), but ",
                           executable_.name, participants.count(), participants.replicas,
                           participants.partitions);
  }
  std::string At() const { return " at " + hlod::ToString(OriginOf(caller_)); }

  ExecutableState& executable_;
  const absl::Span<const Argument> arguments_;
  const bool is_abstract_;
  const std::vector<int>& devices_;  // The devices of the participants to which the arguments belong.
  const Caller& caller_;
};

}  // namespace

absl::Status CheckDonation(const ExecutableState& executable, absl::Span<const Argument> arguments, int index,
                           const Caller& caller) {
  const bool names_a_buffer = index >= 0 && index < static_cast<int>(arguments.size()) &&
                              arguments[static_cast<size_t>(index)].buffer() != nullptr;
  if (names_a_buffer) return absl::OkStatus();
  return ArgumentError(
      caller, absl::StrFormat("Argument %d of %s cannot be donated at %s: it is not a buffer argument.",
                              index, executable.name, hlod::ToString(OriginOf(caller))));
}

absl::Status CheckExecute(ExecutableState& executable, absl::Span<const Argument> arguments,
                          const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices,
                          const std::vector<int>& own, const Caller& caller) {
  RETURN_IF_ERROR(executable.session->status());
  const ExecuteCheck check(executable, arguments, is_abstract, own, caller);
  RETURN_IF_ERROR(check.CheckDevices(devices));
  RETURN_IF_ERROR(check.CheckArgumentCount());
  for (size_t i = 0; i < arguments.size(); ++i) RETURN_IF_ERROR(check.CheckArgument(i));
  RETURN_IF_ERROR(check.CheckInlineBytes());
  for (const int index : options.donate) RETURN_IF_ERROR(CheckDonation(executable, arguments, index, caller));
  for (const auto& [index, placeholder] : options.fill) RETURN_IF_ERROR(check.CheckFill(index, placeholder));
  return absl::OkStatus();
}

}  // namespace hlod::runtime
