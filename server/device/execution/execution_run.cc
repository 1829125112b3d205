// Allocates memory, takes over donated memory, and runs the plan.
#include "server/device/execution/execution_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "server/device/execution/run_channels.h"
#include "server/engine/run/strays.h"

namespace hlod::device {

absl::Status WithRunKind(const absl::Status& status, absl::Duration limit, const Limits& limits) {
  if (status.ok()) return status;
  ErrorDetails error = ErrorOf(status);
  if (error.kind != ErrorKind::kNone) return status;
  if (error.code == absl::StatusCode::kDeadlineExceeded) {
    error.kind = ErrorKind::kDeadline;
    const int64_t us = absl::ToInt64Microseconds(limit);
    error.text = us == limits.execute_us_max
                     ? absl::StrFormat("It ran longer than the limit execute_us_max, %d microseconds.", us)
                     : absl::StrFormat("It ran past its deadline of %d microseconds.", us);
  } else if (error.code == absl::StatusCode::kCancelled) {
    error.kind = ErrorKind::kCancelled;
    error.text = "The command was cancelled.";
  } else if (error.code == absl::StatusCode::kUnimplemented) {
    error.kind = ErrorKind::kUnimplemented;
  }
  return ToStatus(std::move(error));
}

absl::Duration TimeLimit(const ExecuteRequest& request, const Limits& limits) {
  const int64_t most = limits.execute_us_max;
  return absl::Microseconds(request.deadline_us > 0 ? std::min(request.deadline_us, most) : most);
}

void PlanRun::CollectArguments() {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t given = first_argument + i;
    const bool absent = !execution.absent.empty() && execution.absent[given];
    arguments[i] = absent ? nullptr : execution.ArgumentBytes(given);
  }
}

void PlanRun::ChooseAliases() {
  const auto aliased = [](int alias) { return alias >= 0; };
  if (std::none_of(plan.aliases().begin(), plan.aliases().end(), aliased)) return;
  absl::flat_hash_map<const Buffer*, int> uses;
  for (const std::shared_ptr<Buffer>& argument : execution.arguments) ++uses[argument.get()];
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int alias = plan.aliases()[i];
    if (alias < 0) continue;
    const Buffer* argument = execution.arguments[first_argument + alias].get();
    const bool exclusive =
        execution.donated[first_argument + alias] && argument->pins == 0 && uses[argument] == 1;
    (exclusive ? takes : copies)[i] = alias;
  }
}

// Adds to an error the name of the result that there was no memory for. In an abstract execute, the plan's
// results are the computable ones, in order.
absl::Status PlanRun::AboutResult(const absl::Status& status, size_t i) const {
  size_t result = i;
  if (!execution.computable.empty()) {
    result = 0;
    for (size_t computable = 0;; ++result) {
      if (execution.computable[result] && computable++ == i) break;
    }
  }
  ErrorDetails error = ErrorOf(status);
  error.handle = execution.request.results[first_result + result];
  error.shape = ShapeText(plan.results()[i]);
  MutexLock lock(&state.mu);
  error.origin = state.errors.OriginOf(execution.request.command.origin);
  return ToStatus(std::move(error));
}

absl::Status PlanRun::Allocate() {
  const auto allocate = [&]() -> absl::Status {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (takes[i] >= 0) continue;
      const hlo::Shape& shape = plan.results()[i];
      absl::StatusOr<Block> block =
          memory.Allocate(state.account, StoredByteSize(shape).value_or(0), Category::kBuffer,
                          [&] { return absl::StrFormat("result %d (%s)", i, ToStringNoLayout(shape)); });
      if (!block.ok()) return AboutResult(block.status(), i);
      blocks[i] = *std::move(block);
    }
    ASSIGN_OR_RETURN(temporary, memory.Allocate(state.account, plan.memory().temporary_bytes,
                                                Category::kTemporary, "the temporaries"));
    if (const LaunchRequest* const launch = execution.request.launch.get(); launch != nullptr) {
      const auto here = [launch](int i) { return launch->ranks[static_cast<size_t>(i)] == launch->rank; };
      const int64_t bytes =
          plan.ReceiveBytes(static_cast<int>(execution.request.NumberOf(participant)), here);
      ASSIGN_OR_RETURN(received, memory.Allocate(state.account, bytes, Category::kTemporary,
                                                 "the values of other daemons"));
    }
    return absl::OkStatus();
  };
  absl::Status status = allocate();
  if (status.ok()) return status;
  MutexLock lock(&state.mu);
  return state.errors.WithLargestBuffers(std::move(status), state.table);
}

void PlanRun::TakeOver() {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (takes[i] >= 0) blocks[i] = std::move(execution.arguments[first_argument + takes[i]]->block);
  }
}

void PlanRun::CopyShared() {
  const ExecuteRequest& request = execution.request;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (copies[i] < 0) continue;
    std::memcpy(blocks[i].data(), arguments[copies[i]], static_cast<size_t>(blocks[i].bytes()));
    arguments[copies[i]] = blocks[i].data();
    // Copying a literal is not counted as a donation copy.
    if (execution.arguments[first_argument + copies[i]] == nullptr) continue;
    state.ledger.Record({device, Cause::kDonationCopy, request.command.origin, request.command.step},
                        blocks[i].bytes());
  }
}

absl::Status PlanRun::RunPlan(absl::Duration used, Rendezvous* rendezvous) {
  absl::InlinedVector<std::byte*, 16> results;
  for (const Block& block : blocks) results.push_back(block.data());
  engine::RunContext context;
  context.deadline = absl::Now() + limit - used;
  context.cancel = &execution.cancel;
  const hlo::Participants& participants = plan.stats().participants;
  const size_t number = execution.request.NumberOf(participant);
  context.replica_id = static_cast<uint32_t>(number / static_cast<size_t>(participants.partitions));
  context.partition_id = static_cast<uint32_t>(number % static_cast<size_t>(participants.partitions));
  context.rendezvous = rendezvous;
  context.participant = static_cast<int>(number);
  RunChannels channels(state, device, execution.request.command.id, /*own=*/execution.request.line != 0,
                       /*alone=*/rendezvous == nullptr);
  context.channels = &channels;
  engine::AbandonedCalls strays(state.devices.device(device).strays);
  context.strays = &strays;
  context.assembly = state.assembly.get();
  RunReport* const report = execution.request.report.get();
  if (report != nullptr && participant == 0) context.times = &report->times;
  const absl::Status status =
      plan.Run(absl::MakeConstSpan(arguments), absl::MakeConstSpan(results), temporary.data(), context);
  // Abandoned calls use the temporaries, which stay charged until the calls end.
  if (strays.any()) strays.Keep(std::make_shared<Block>(std::move(temporary)));
  return WithRunKind(status, limit, state.limits);
}

void PlanRun::Publish() {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::shared_ptr<Buffer>& buffer = execution.results[first_result + i];
    if (buffer != nullptr) device::Publish(*buffer, plan.results()[i], std::move(blocks[i]));
  }
}

void Publish(Buffer& buffer, const hlo::Shape& shape, Block block) {
  buffer.shape = shape;
  buffer.bytes = block.bytes();
  buffer.block = std::move(block);
  buffer.state = BufferState::kReady;
}

void Consume(Execution& execution, SessionState& state, DeferringLock& lock) {
  const CommandRef& command = execution.request.command;
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (!execution.donated[i]) continue;
    Buffer& buffer = *execution.arguments[i];
    buffer.consumed_by = command;
    const Entry* entry = state.table.Find(buffer.handle);
    if (entry != nullptr && entry->buffer == execution.arguments[i]) {
      lock.Discard(state.table.Erase(buffer.handle, {ErrorKind::kDonated, command, nullptr}).buffer);
    } else {
      state.table.RecordDeath(buffer.handle, {ErrorKind::kDonated, command, nullptr});
    }
  }
}

void DropDonated(Execution& execution) {
  for (size_t i = 0; i < execution.arguments.size(); ++i) {
    if (execution.donated[i]) execution.arguments[i].reset();
  }
}

}  // namespace hlod::device
