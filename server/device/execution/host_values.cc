// Infeeds are tasks that wait for their buffers; outfeeds define buffers that wait for a program.
#include "server/device/execution/host_values.h"

#include <utility>

#include "common/base/errors/status.h"
#include "server/device/buffers/buffer_rules.h"
#include "server/device/execution/execution_run.h"
#include "server/device/session_device.h"

namespace hlod::device {
namespace {

using Kind = hlo::Channel::Kind;

// Keeps a value's tables small, because each transfer of the value copies them.
constexpr size_t kArraysMax = 256;
absl::Status CheckCount(const char* what, size_t arrays) {
  if (arrays <= kArraysMax) return absl::OkStatus();
  return ArgumentError(absl::StrFormat("An %s names %d arrays; the limit is %d.", what, arrays, kArraysMax));
}

SessionChannels::QueueKey QueueKeyOf(const ChannelRef& ref, Kind queue, Kind numbered) {
  return {{ref.id.has_value() ? numbered : queue, ref.id.value_or(0)}, ref.device, ref.execution};
}

}  // namespace

struct HostValues::Giving {
  CommandRef command;
  QueueKey place;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::shared_ptr<SessionChannels::Slot> slot;
  std::shared_ptr<Task> task;  // Reads the buffers until the value is taken.
  Done done;
};

struct HostValues::Taking {
  CommandRef command;
  QueueKey place;
  std::vector<hlo::Shape> shapes;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::shared_ptr<Task> task;  // Makes the buffers.
  Done done;
};

std::shared_ptr<HostValues> HostValues::Self() { return {owner_.shared_from_this(), this}; }

// -----------------------------------------------------------------------------------------------------------
// to programs

absl::StatusOr<std::shared_ptr<HostValues::Giving>> HostValues::Bind(const InfeedRequest& request) {
  RETURN_IF_ERROR(request.refused);
  RETURN_IF_ERROR(CheckDevice(request.channel.device, state_.devices.count()));
  RETURN_IF_ERROR(CheckCount("infeed", request.arguments.size()));
  auto giving = std::make_shared<Giving>();
  giving->command = request.command;
  giving->place = QueueKeyOf(request.channel, Kind::kInfeed, Kind::kFromHost);
  for (const Handle handle : request.arguments) {
    ASSIGN_OR_RETURN(giving->buffers.emplace_back(), state_.FindBuffer(handle));
    const uint32_t device = giving->buffers.back()->device;
    if (device != request.channel.device) {
      return ArgumentError(absl::StrFormat("Handle %d is on device %d, and the infeed on device %d.", handle,
                                           device, request.channel.device));
    }
  }
  ASSIGN_OR_RETURN(giving->slot, state_.channels.Append(giving->place, giving->buffers.size()));
  return giving;
}

Violation HostValues::Infeed(InfeedRequest request, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  absl::StatusOr<std::shared_ptr<Giving>> bound = Bind(request);
  if (!bound.ok()) {
    lock.Answer(std::move(done), ToStatus(state_.errors.Root("infeed", bound.status(), request.command)));
    return Violation();
  }
  const std::shared_ptr<Giving> giving = *std::move(bound);
  giving->done = std::move(done);
  giving->task = std::make_shared<Task>();
  for (const std::shared_ptr<Buffer>& buffer : giving->buffers) {
    DependOn(giving->task, buffer->producer);
    AddReader(*buffer, giving->task);
  }
  giving->task->ready = [self = Self(), giving] { self->Give(giving); };
  giving_[request.command.id] = giving;
  Start(giving->task, lock.ready_tasks());
  return Violation();
}

absl::Status HostValues::CheckBuffers(const Giving& giving) {
  for (const std::shared_ptr<Buffer>& buffer : giving.buffers) {
    RETURN_IF_ERROR(state_.CheckUsable(*buffer));
    if (buffer->state != BufferState::kPlaceholder) continue;
    state_.ledger.Count(&Counters::refused_reads);
    return state_.errors.PlaceholderRead(*buffer, "What an infeed gives");
  }
  return absl::OkStatus();
}

void HostValues::Give(const std::shared_ptr<Giving>& giving) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed || giving_.erase(giving->command.id) == 0) return;
  SessionChannels::Value value;
  value.error = CheckBuffers(*giving);
  if (value.error.ok()) {
    for (const std::shared_ptr<Buffer>& buffer : giving->buffers) {
      value.shapes.push_back(buffer->shape);
      value.arrays.push_back(buffer->block.data());
    }
    // The task finishes when the value is destroyed.
    value.keeper = std::shared_ptr<const void>(nullptr, [self = Self(), giving](const void*) {
      DeferringLock inner(&self->state_.mu, &self->state_.failed);
      inner.Discard(std::exchange(giving->buffers, {}));
      Finish(*giving->task, inner.ready_tasks());
    });
  } else {
    value.error = ToStatus(state_.errors.Root("infeed", value.error, giving->command));
    Finish(*giving->task, lock.ready_tasks());
  }
  lock.Answer(std::exchange(giving->done, nullptr), value.error);
  // The value refers to `giving`, so `giving` must not refer to the value. When the slot's execute has ended,
  // the value is destroyed with the slot, which takes the lock.
  lock.Call([self = Self(), slot = std::exchange(giving->slot, nullptr),
             held = std::make_shared<SessionChannels::Value>(std::move(value))] {
    self->state_.channels.Fill(slot, std::move(*held));
  });
}

// -----------------------------------------------------------------------------------------------------------
// from programs

absl::Status HostValues::Check(const OutfeedRequest& request) {
  RETURN_IF_ERROR(request.refused);
  RETURN_IF_ERROR(CheckDevice(request.channel.device, state_.devices.count()));
  if (request.results.size() != request.shapes.size()) {
    return ArgumentError(absl::StrFormat("An outfeed names %d handles and %d shapes.", request.results.size(),
                                         request.shapes.size()));
  }
  RETURN_IF_ERROR(CheckCount("outfeed", request.shapes.size()));
  for (const hlo::Shape& shape : request.shapes) RETURN_IF_ERROR(CheckShape(shape, state_.limits).status());
  return state_.CheckHandles(static_cast<int64_t>(request.results.size()));
}

Violation HostValues::Outfeed(OutfeedRequest request, Done done) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) return Violation();
  for (const Handle handle : request.results) RETURN_IF_VIOLATION(state_.table.Claim(handle));
  if (const absl::Status refused = Check(request); !refused.ok()) {
    const ErrorDetails error = state_.errors.Root("outfeed", refused, request.command);
    for (size_t i = 0; i < request.results.size(); ++i) {
      const hlo::Shape shape = i < request.shapes.size() ? request.shapes[i] : hlo::Shape();
      state_.DefineFailed(request.results[i], request.channel.device, shape, request.command, error);
    }
    lock.Answer(std::move(done), ToStatus(error));
    return Violation();
  }
  auto taking = std::make_shared<Taking>();
  taking->command = request.command;
  taking->place = QueueKeyOf(request.channel, Kind::kOutfeed, Kind::kToHost);
  taking->shapes = std::move(request.shapes);
  taking->task = std::make_shared<Task>();
  taking->done = std::move(done);
  for (size_t i = 0; i < request.results.size(); ++i) {
    auto buffer = std::make_shared<Buffer>();
    buffer->handle = request.results[i];
    buffer->device = request.channel.device;
    buffer->shape = taking->shapes[i];
    buffer->made_by = request.command;
    buffer->state = BufferState::kPendingExecute;
    buffer->producer = taking->task;
    state_.table.Put(buffer->handle, {buffer, nullptr});
    taking->buffers.push_back(std::move(buffer));
  }
  taking_[taking->command.id] = taking;
  // If a value is waiting already, it arrives during this call.
  lock.Call([self = Self(), taking] {
    self->state_.channels.Await(
        taking->place, taking->command.id,
        [self, taking](SessionChannels::Value value) { self->Receive(taking, std::move(value)); });
  });
  return Violation();
}

void HostValues::Receive(const std::shared_ptr<Taking>& taking, SessionChannels::Value value) {
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed || taking_.erase(taking->command.id) == 0) return;
  absl::Status status = value.error;
  if (status.ok()) status = hlo::CheckTaken(taking->place.channel, value.shapes, taking->shapes);
  if (status.ok()) {
    for (size_t i = 0; i < taking->buffers.size(); ++i)
      Publish(*taking->buffers[i], taking->shapes[i], std::move(value.blocks[i]));
  } else {
    status = WithKind(status, ErrorKind::kArgument);
  }
  Settle(*taking, status, lock);
}

void HostValues::Settle(Taking& taking, const absl::Status& status, DeferringLock& lock) {
  absl::Status answer;
  std::shared_ptr<const ErrorDetails> error;
  if (!status.ok()) {
    const ErrorDetails root = state_.errors.Root("outfeed", status, taking.command);
    answer = ToStatus(root);
    error = state_.errors.Keep(root);
  }
  for (const std::shared_ptr<Buffer>& buffer : taking.buffers) {
    buffer->producer = nullptr;
    if (error == nullptr) continue;
    buffer->state = BufferState::kFailed;
    buffer->error = error;
  }
  lock.Discard(std::exchange(taking.buffers, {}));
  lock.Answer(std::exchange(taking.done, nullptr), std::move(answer));
  Finish(*taking.task, lock.ready_tasks());
}

// -----------------------------------------------------------------------------------------------------------
// both

void HostValues::Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock) {
  if (const auto found = giving_.find(command); found != giving_.end()) {
    const std::shared_ptr<Giving> giving = std::move(found->second);
    giving_.erase(found);
    state_.channels.Remove(giving->place, giving->slot);
    lock.Answer(std::exchange(giving->done, nullptr), cancelled);
    lock.Discard(std::exchange(giving->buffers, {}));
    Finish(*giving->task, lock.ready_tasks());
  }
  const auto found = taking_.find(command);
  if (found == taking_.end() || !state_.channels.Forget(found->second->place, command)) return;
  const std::shared_ptr<Taking> taking = std::move(found->second);
  taking_.erase(found);
  Settle(*taking, cancelled, lock);
}

void HostValues::Close(DeferringLock& lock) {
  for (auto& [command, giving] : giving_) {
    lock.Discard(std::exchange(giving->done, nullptr));
    lock.Discard(std::exchange(giving->task->ready, nullptr));
    Abandon(*giving->task);
  }
  for (auto& [command, taking] : taking_) {
    lock.Discard(std::exchange(taking->done, nullptr));
    Abandon(*taking->task);
  }
  lock.Discard(std::exchange(giving_, {}));
  lock.Discard(std::exchange(taking_, {}));
  lock.Discard(state_.channels.Close());
}

}  // namespace hlod::device
