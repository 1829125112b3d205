// Binds an execute to the buffers that its handles name: determines what it waits for and defines its
// results.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/collective.h"
#include "server/device/buffers/buffer_rules.h"
#include "server/device/execution/execution.h"

namespace hlod::device {
namespace {

// Returns the host memory that an execute occupies while it waits: its literals, and the memory per handle,
// which is more than on the wire. Buffers are not included, because they have charges of their own.
int64_t HeldBytes(const ExecuteRequest& request) {
  // The places in the lists of its buffer's readers and of its producer's dependents, which are up to half
  // empty.
  constexpr size_t kOrder = 4 * sizeof(std::shared_ptr<Task>);
  constexpr size_t kOfArgument = sizeof(ExecuteRequest::Argument) + sizeof(std::shared_ptr<Buffer>) + kOrder;
  constexpr size_t kOfResult = sizeof(Handle) + sizeof(std::shared_ptr<Buffer>);
  size_t bytes = request.arguments.size() * kOfArgument + request.results.size() * kOfResult +
                 (request.fills.size() + request.donated.size() + request.absent.size() +
                  request.devices.size() + request.result_origins.size()) *
                     sizeof(uint32_t);
  // Also the copies of the launch's parts that wait in the group machine, here and at the leader.
  if (request.launch != nullptr) {
    constexpr size_t kCopies = 3;
    bytes += sizeof(LaunchRequest) +
             request.launch->ranks.size() * (2 * kCopies * sizeof(uint32_t) + sizeof(size_t));
  }
  for (const ExecuteRequest::Argument& argument : request.arguments) {
    if (argument.literal != nullptr) bytes += sizeof(hlo::Literal) + argument.literal->bytes().size();
  }
  return static_cast<int64_t>(bytes);
}

// Returns an error unless the launch is later than those before it that are counted with it.
absl::Status CountLaunch(uint64_t sequence, SessionState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) {
  const auto count = static_cast<uint32_t>(sequence >> 32);
  if (state.last_launches.size() == SessionState::kLaunchCountsMax && !state.last_launches.contains(count)) {
    return MakeError(ErrorKind::kLimit,
                     absl::StrFormat("The session's launches are counted for %d sets of daemons; more there "
                                     "cannot be.",
                                     SessionState::kLaunchCountsMax));
  }
  uint64_t& last = state.last_launches[count];
  if (sequence <= last) {
    return ArgumentError(
        absl::StrFormat("Launch %d of the group comes after launch %d in this session: the "
                        "numbers of launches increase.",
                        sequence, last));
  }
  last = sequence;
  return absl::OkStatus();
}

// Checks that the launch is the session's own, and that the devices are those that the launch gives to this
// daemon, and finds its participants.
absl::Status CheckLaunch(const ExecuteRequest& request, SessionState& state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu) {
  LaunchRequest& launch = *request.launch;
  Devices& devices = state.devices;
  if (devices.launches() == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     "A launch names several daemons, and this one is in no cluster: it was started without "
                     "--cluster.");
  }
  // Before the other daemons can learn of it.
  if (launch.group != state.client.group) {
    return MakeError(
        ErrorKind::kAuth,
        absl::StrFormat("Launch %d is of group %016x, and this session's group is %016x: it is a "
                        "part of another session's launch.",
                        launch.sequence, launch.group, state.client.group));
  }
  launch.user = state.client.user;
  if (launch.group == 0 || launch.ranks.size() != launch.devices.size() ||
      launch.ranks.size() > static_cast<size_t>(hlo::kParticipantsMax)) {
    return ArgumentError(absl::StrFormat("A launch of group %d has %d ranks and %d devices.", launch.group,
                                         launch.ranks.size(), launch.devices.size()));
  }
  // The messages of other daemons about an earlier launch must not be taken for this one's.
  RETURN_IF_ERROR(CountLaunch(launch.sequence, state));
  ASSIGN_OR_RETURN(launch.rank, devices.launches()->FindRank(launch.ranks));
  for (size_t i = 0; i < launch.ranks.size(); ++i) {
    if (launch.ranks[i] != launch.rank) continue;
    const size_t m = launch.own.size();
    launch.own.push_back(i);
    if (m < request.participants() && request.DeviceOf(m) == launch.devices[i]) continue;
    return ArgumentError(absl::StrFormat(
        "The launch has participant %d on device %d of this daemon (rank %d), and its execute "
        "has not.",
        i, launch.devices[i], launch.rank));
  }
  if (launch.own.size() == request.participants()) return absl::OkStatus();
  return ArgumentError(
      absl::StrFormat("The launch has %d participants on this daemon (rank %d), and its execute has %d.",
                      launch.own.size(), launch.rank, request.participants()));
}

// Binds one execute, step by step. The first error is the answer, and the steps after it are skipped: a
// command may hold millions of indices, and making an error's text takes longer than checking an index.
struct Binding {
  void CheckParticipants() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void Reserve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void FindFilled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void FindExecutable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void FindArguments() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void MarkDonated() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void Order() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  void DefineResults() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);

  SessionState& state;
  ByteBudget& waiting_arguments;
  Execution& execution;
  const std::vector<bool> fills;  // By result, true when it is to fill a placeholder.
  const ExecuteRequest& request = execution.request;
  absl::Status status = request.refused;
  bool fits = true;  // True when there is room for the handles of the results.
  // By result, the valid placeholder that it fills, or null.
  std::vector<std::shared_ptr<Buffer>> filled = {};
};

// Checks that there is one device per participant, and that all have equally many arguments and results.
void Binding::CheckParticipants() {
  // First, because then the other daemons can be told of any other error.
  if (request.launch != nullptr) status.Update(CheckLaunch(request, state));
  if (!status.ok()) return;
  const size_t participants = request.participants();
  absl::flat_hash_set<uint32_t> seen;
  for (size_t m = 0; m < participants && status.ok(); ++m) {
    if (m >= state.devices.count()) {
      status = ArgumentError(
          absl::StrFormat("devices names %d; the daemon has %d.", participants, state.devices.count()));
    } else if (participants > 1 && !seen.insert(request.DeviceOf(m)).second) {
      status = ArgumentError(absl::StrFormat("devices names device %d twice.", request.DeviceOf(m)));
    } else {
      status = CheckDevice(request.DeviceOf(m), state.devices.count());
    }
  }
  if (!status.ok() ||
      (request.arguments.size() % participants == 0 && request.results.size() % participants == 0))
    return;
  status = ArgumentError(absl::StrFormat("%d arguments and %d results do not divide among %d devices.",
                                         request.arguments.size(), request.results.size(), participants));
}

// Reserves handles for the results, and host memory for the time of waiting.
void Binding::Reserve() {
  int64_t defined = 0;
  for (size_t i = 0; i < request.results.size(); ++i) defined += request.results[i] != 0 && !fills[i];
  const absl::Status room = defined > 0 ? state.CheckHandles(defined) : absl::OkStatus();
  fits = room.ok();
  status.Update(room);
  if (!status.ok()) return;
  const int64_t bytes = HeldBytes(request);
  status = waiting_arguments.Reserve(bytes, "An execute with arguments");
  if (status.ok()) execution.held_bytes = bytes;
}

void Binding::FindFilled() {
  filled.resize(request.results.size());
  if (status.ok() && request.fills.size() > request.results.size()) {
    status = ArgumentError(
        absl::StrFormat("fills names %d results of %d.", request.fills.size(), request.results.size()));
  }
  absl::flat_hash_set<Handle> seen;
  for (const uint32_t i : request.fills) {
    if (!status.ok()) break;
    if (i >= request.results.size()) {
      status = ArgumentError(absl::StrFormat("fills names result %d of %d.", i, request.results.size()));
      continue;
    }
    const Handle handle = request.results[i];
    absl::StatusOr<std::shared_ptr<Buffer>> old = state.FindPlaceholder(handle);
    if (!old.ok()) {
      status = old.status();
    } else if (!seen.insert(handle).second) {
      status = ArgumentError(absl::StrFormat("Placeholder %d is filled twice.", handle));
    } else if (const uint32_t device = request.DeviceAt(i, request.results.size());
               (*old)->device != device) {
      status = ArgumentError(
          absl::StrFormat("Placeholder %d is on device %d; an execute on device %d cannot fill it.", handle,
                          (*old)->device, device));
    } else {
      filled[i] = *std::move(old);
    }
  }
}

void Binding::FindExecutable() {
  const absl::StatusOr<std::shared_ptr<SessionExecutable>> executable =
      state.FindExecutable(request.executable);
  status.Update(executable.status());
  if (!executable.ok()) return;
  execution.executable = *executable;
  DependOn(execution.task, (*executable)->producer);
}

void Binding::FindArguments() {
  execution.arguments.resize(request.arguments.size());
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const ExecuteRequest::Argument& argument = request.arguments[i];
    if (argument.literal != nullptr) {
      state.ledger.Count(&Counters::inline_argument_bytes,
                         static_cast<int64_t>(argument.literal->bytes().size()));
      continue;
    }
    if (!status.ok()) continue;
    absl::StatusOr<std::shared_ptr<Buffer>> buffer = state.FindBuffer(argument.handle);
    if (buffer.ok()) {
      execution.arguments[i] = *std::move(buffer);
    } else {
      status = Annotate(buffer.status(), absl::StrFormat("binding argument %d", i));
    }
  }
}

void Binding::MarkDonated() {
  execution.donated.resize(request.arguments.size());
  if (status.ok() && request.donated.size() > request.arguments.size()) {
    status = ArgumentError(absl::StrFormat("donated names %d arguments of %d.", request.donated.size(),
                                           request.arguments.size()));
  }
  absl::flat_hash_map<const Buffer*, uint32_t> donations;
  for (const uint32_t i : request.donated) {
    if (!status.ok()) return;
    if (i >= request.arguments.size()) {
      status =
          ArgumentError(absl::StrFormat("donated names argument %d of %d.", i, request.arguments.size()));
      return;
    }
    if (execution.arguments[i] == nullptr) continue;  // A literal cannot be donated.
    const uint32_t j = donations.emplace(execution.arguments[i].get(), i).first->second;
    if (j != i) {
      status = ArgumentError(absl::StrFormat("Handle %d is donated twice, as arguments %d and %d.",
                                             request.arguments[i].handle, std::min(i, j), std::max(i, j)));
    }
    execution.donated[i] = true;
  }
}

// Makes the execute wait for the tasks that make its buffers. For a donated buffer it also waits for earlier
// readers; for any other buffer it waits for an earlier execute that may consume it.
void Binding::Order() {
  if (!status.ok()) return;
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (execution.arguments[i] == nullptr) continue;
    DependOn(execution.task, execution.arguments[i]->producer);
    if (!execution.donated[i]) AddReader(*execution.arguments[i], execution.task);
  }
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (!execution.donated[i]) continue;
    AddConsumer(*execution.arguments[i], execution.task);
    if (request.abstract) execution.arguments[i]->abstract_donor = request.command;
  }
}

// Defines the results as pending. If there is no room for their handles, they are dead, with that error as
// the reason.
void Binding::DefineResults() {
  execution.results.resize(request.results.size());
  std::shared_ptr<const ErrorDetails> error;  // The error of all results without room.
  if (!fits) {
    error = state.errors.Keep(state.errors.Root(DescribeExecute(execution), status, request.command));
  }
  for (size_t i = 0; i < request.results.size(); ++i) {
    const Buffer* placeholder = filled[i].get();
    if (request.results[i] == 0) continue;
    // If a fill is refused, the placeholder remains.
    if (fills[i] && (placeholder == nullptr || !status.ok())) continue;
    if (!fits) {
      state.table.RecordDeath(request.results[i], {error->kind, request.command, error});
      continue;
    }
    auto buffer = std::make_shared<Buffer>();
    buffer->handle = request.results[i];
    buffer->device = request.DeviceAt(i, request.results.size());
    buffer->made_by = placeholder != nullptr ? placeholder->made_by : request.command;
    if (placeholder != nullptr) {
      buffer->shape = placeholder->shape;
    } else if (i < request.result_origins.size() && request.result_origins[i] != 0) {
      buffer->made_by.origin = request.result_origins[i];
    }
    buffer->state = BufferState::kPendingExecute;
    buffer->producer = execution.task;
    state.table.Put(request.results[i], {buffer, nullptr});
    execution.results[i] = std::move(buffer);
  }
}

}  // namespace

absl::Status Bind(Execution& execution, std::vector<bool> fills, SessionState& state,
                  ByteBudget& waiting_arguments) {
  Binding binding{state, waiting_arguments, execution, std::move(fills)};
  binding.state.mu.AssertHeld();
  binding.CheckParticipants();
  binding.Reserve();
  binding.FindFilled();
  binding.FindExecutable();
  binding.FindArguments();
  binding.MarkDonated();
  binding.Order();
  binding.DefineResults();
  return binding.status;
}

}  // namespace hlod::device
