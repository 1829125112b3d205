// Checks that an execute fits its program, once everything it needs is settled.
#include <utility>

#include "common/base/errors/status.h"
#include "server/device/buffers/buffer_rules.h"
#include "server/device/execution/execution.h"

namespace hlod::device {
namespace {

// Checks one argument: a value of the right shape or, in an abstract execute, a placeholder of it.
absl::Status CheckArgument(const Execution& execution, size_t i, SessionState& state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) {
  const ExecuteRequest& request = execution.request;
  const Executable& executable = *execution.executable->compiled;
  const Buffer* buffer = execution.arguments[i].get();
  const size_t leaf = i % executable.plan().arguments().size();
  const hlo::Shape& expected = executable.plan().arguments()[leaf];
  if (buffer != nullptr) RETURN_IF_ERROR(state.CheckUsable(*buffer));
  const hlo::Shape& given = buffer != nullptr ? buffer->shape : request.arguments[i].literal->shape();
  if (!Compatible(given, expected)) {
    ErrorDetails error;
    error.kind = ErrorKind::kArgument;
    error.handle = request.arguments[i].handle;
    error.shape = ToStringNoLayout(given);
    if (buffer != nullptr) error.origin = state.errors.OriginOf(buffer->made_by.origin);
    error.text = absl::StrFormat(
        "Argument %d (%s) of \"%s\" is a %s; given is %s, a %s.", i, executable.DescribeArgument(leaf),
        executable.name(), ToStringNoLayout(expected),
        buffer != nullptr ? absl::StrCat("handle ", buffer->handle) : "a literal", error.shape);
    return ToStatus(std::move(error));
  }
  if (buffer == nullptr) return absl::OkStatus();
  const uint32_t device = request.DeviceAt(i, request.arguments.size());
  if (buffer->device != device) {
    return ArgumentError(absl::StrFormat(
        "Argument %d (%s) of \"%s\", handle %d, is on device %d; the execute is on device %d.", i,
        executable.DescribeArgument(leaf), executable.name(), buffer->handle, buffer->device, device));
  }
  if (buffer->state == BufferState::kPlaceholder && !request.abstract) {
    state.ledger.Count(&Counters::refused_reads);
    return state.errors.PlaceholderRead(
        *buffer, absl::StrFormat("Argument %d (%s) of \"%s\"", i, executable.DescribeArgument(leaf),
                                 executable.name()));
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const Execution& execution, const Limits& limits) {
  const Executable& executable = *execution.executable->compiled;
  const absl::Span<const hlo::Shape> shapes = executable.plan().results();
  for (size_t r = 0; r < execution.results.size(); ++r) {
    const Buffer* buffer = execution.results[r].get();
    const size_t i = r % shapes.size();
    if (buffer != nullptr && buffer->shape.type != hlo::kInvalid && !Compatible(buffer->shape, shapes[i])) {
      return ArgumentError(absl::StrFormat(
          "Result %d of \"%s\" is a %s; it cannot fill placeholder %d, a %s.", i, executable.name(),
          ToStringNoLayout(shapes[i]), buffer->handle, ToStringNoLayout(buffer->shape)));
    }
    if (const absl::Status fits = CheckBytes(shapes[i], limits).status(); !fits.ok())
      return Annotate(fits, absl::StrFormat("checking result %d", i));
  }
  return absl::OkStatus();
}

std::string OfEach(size_t participants) {
  return participants == 1 ? "" : absl::StrFormat(" for each of %d participants", participants);
}

// Checks that the execute has one device per participant.
absl::Status CheckParticipants(const ExecuteRequest& request, const Executable& executable) {
  const hlo::Participants& participants = executable.plan().stats().participants;
  const size_t given = request.launch != nullptr ? request.launch->ranks.size() : request.participants();
  if (static_cast<int64_t>(given) != participants.count()) {
    return ArgumentError(absl::StrFormat(
        "\"%s\" needs %d devices (num_replicas %d x num_partitions %d), but %d are given.", executable.name(),
        participants.count(), participants.replicas, participants.partitions, given));
  }
  return absl::OkStatus();
}

// Refuses what does not run over several daemons.
absl::Status CheckLaunched(const Executable& executable, const ExecuteRequest& request, bool absent) {
  const char* what = nullptr;
  if (absent || !request.absent.empty()) {
    what = "runs over placeholders";
  } else if (executable.plan().stats().transfers) {
    what = "takes or gives values while it runs";
  }
  if (what == nullptr) return absl::OkStatus();
  return MakeError(ErrorKind::kUnimplemented,
                   absl::StrFormat("\"%s\" %s: its participants must be on devices of one daemon.",
                                   executable.name(), what));
}

// Checks `absent`: the execute is abstract, and these results exist.
absl::Status CheckAbsent(const ExecuteRequest& request) {
  if (request.absent.empty()) return absl::OkStatus();
  if (!request.abstract) return ArgumentError("absent names results, and the execute is not abstract.");
  if (request.absent.size() > request.results.size()) {
    return ArgumentError(
        absl::StrFormat("absent names %d results of %d.", request.absent.size(), request.results.size()));
  }
  for (const uint32_t i : request.absent) {
    if (i >= request.results.size())
      return ArgumentError(absl::StrFormat("absent names result %d of %d.", i, request.results.size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckArguments(Execution& execution, SessionState& state) {
  const ExecuteRequest& request = execution.request;
  if (execution.executable->error != nullptr) return ToStatus(*execution.executable->error);
  const Executable& executable = *execution.executable->compiled;
  const engine::Plan& plan = executable.plan();
  RETURN_IF_ERROR(CheckParticipants(request, executable));
  const size_t participants = request.participants();
  if (request.arguments.size() != participants * plan.arguments().size()) {
    return ArgumentError(absl::StrFormat("\"%s\" takes %d arguments%s; %d are given.", executable.name(),
                                         plan.arguments().size(), OfEach(participants),
                                         request.arguments.size()));
  }
  if (request.results.size() != participants * plan.results().size()) {
    return ArgumentError(absl::StrFormat("\"%s\" gives %d results%s; %d are named.", executable.name(),
                                         plan.results().size(), OfEach(participants),
                                         request.results.size()));
  }
  std::vector<bool> absent;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    RETURN_IF_ERROR(CheckArgument(execution, i, state));
    const Buffer* buffer = execution.arguments[i].get();
    if (buffer == nullptr || buffer->state != BufferState::kPlaceholder) continue;
    absent.resize(request.arguments.size());
    absent[i] = true;
  }
  if (request.launch != nullptr) RETURN_IF_ERROR(CheckLaunched(executable, request, !absent.empty()));
  RETURN_IF_ERROR(CheckResults(execution, state.limits));
  RETURN_IF_ERROR(CheckAbsent(request));
  if (!request.absent.empty()) absent.resize(request.arguments.size());
  execution.abstract = !request.absent.empty() || !absent.empty();
  if (execution.abstract && plan.stats().transfers) {
    return MakeError(ErrorKind::kUnimplemented,
                     absl::StrFormat("\"%s\" takes or gives values while it runs; abstract executes do not.",
                                     executable.name()));
  }
  execution.absent = std::move(absent);
  return absl::OkStatus();
}

}  // namespace hlod::device
