// A session's handles, lines and errors, and the tasks that depend on one another.
#include "server/device/workspace.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "common/base/status.h"
#include "common/base/utf8.h"
#include "server/device/execution.h"

namespace hlod::device {
namespace {

constexpr size_t kNameMax = 1024;       // More of a path or a function's name helps nobody.
constexpr size_t kErrorTextMax = 4096;  // Nor of a message: a client can make thousands of copies of one.

// A shape in a message: its text is as long as a client likes.
std::string ShapeText(const hlo::Shape& shape) {
  std::string text = ToStringNoLayout(shape);
  ClipWithDots(text, kNameMax);
  return text;
}

}  // namespace

Workspace::Workspace(uint64_t session, Devices& devices)
    : session_(session),
      devices_(devices),
      limits_(devices.limits()),
      account_(std::make_shared<MemoryAccount>()),
      table_(devices.limits().reasons_kept),
      staging_(limits_.staging_bytes_max, "staging_bytes_max", "that are under way"),
      waiting_arguments_(limits_.staging_bytes_max, "staging_bytes_max", "of executes that wait"),
      upload_deadlines_(absl::Microseconds(devices.limits().upload_wait_us)) {}

// -----------------------------------------------------------------------------------------------------------
// tasks

void Workspace::DependOn(const std::shared_ptr<Task>& task, const std::shared_ptr<Task>& other) {
  if (other == nullptr || other->finished || other == task) return;
  other->dependents.push_back(task);
  ++task->waits;
}

void Workspace::Finish(Task& task, ReadyTasks& ready_tasks) {
  if (std::exchange(task.finished, true)) return;
  task.ready = nullptr;  // It may hold the task's own owner.
  for (const std::shared_ptr<Task>& dependent : std::exchange(task.dependents, {}))
    Unwait(dependent, ready_tasks);
}

void Workspace::Unwait(const std::shared_ptr<Task>& task, ReadyTasks& ready_tasks) {
  if (--task->waits == 0 && !task->finished && task->ready)
    ready_tasks.push_back(std::exchange(task->ready, nullptr));
}

// What one task wakes runs after it, not inside of it: a chain of tasks may be as long as a client likes, a
// stack may not.
void Workspace::Run(ReadyTasks& ready_tasks) {
  thread_local std::deque<std::function<void()>>* running = nullptr;
  if (running != nullptr) {
    for (std::function<void()>& ready : ready_tasks) running->push_back(std::move(ready));
    return;
  }
  if (ready_tasks.empty()) return;
  std::deque<std::function<void()>> queue;
  for (std::function<void()>& ready : ready_tasks) queue.push_back(std::move(ready));
  running = &queue;
  while (!queue.empty()) {
    const std::function<void()> ready = std::move(queue.front());
    queue.pop_front();
    try {
      ready();
    } catch (const std::exception& e) {  // No memory. The others have their turn all the same.
      spdlog::error("A step of a session failed: {}", e.what());
    }
  }
  running = nullptr;
}

void Workspace::AddReader(Buffer& buffer, const std::shared_ptr<Task>& reader) {
  if (!buffer.readers.empty() && buffer.readers.back() == reader) return;  // Named twice by one command.
  DependOn(reader, buffer.donor);
  // Looked through again only when they have doubled: thousands may wait, and each command adds one.
  if (buffer.readers.size() >= buffer.purge_readers_at) {
    std::erase_if(buffer.readers, [](const std::shared_ptr<Task>& task) { return task->finished; });
    buffer.purge_readers_at = std::max<size_t>(8, 2 * buffer.readers.size());
  }
  buffer.readers.push_back(reader);
}

// -----------------------------------------------------------------------------------------------------------
// errors

Origin Workspace::OriginOf(uint32_t id) const {
  return id == 0 || id > origins_.size() ? Origin{} : origins_[id - 1];
}

std::string Workspace::Line(uint32_t origin) const { return ToString(OriginOf(origin)); }

Error Workspace::Root(std::string_view what, const absl::Status& status, const CommandRef& command) const {
  Error error = ErrorOf(status);
  ClipWithDots(error.shape, kNameMax);
  ClipWithDots(error.text, kErrorTextMax);
  if (error.root_command != 0) return error;  // It began earlier.
  if (error.kind == ErrorKind::kNone) error.kind = ErrorKind::kFailed;
  error.root_command = command.id;
  error.root_origin = OriginOf(command.origin);
  error.text =
      absl::StrFormat("%s failed: %s (command %d, %s)", what, error.text, command.id, Line(command.origin));
  return error;
}

absl::Status Workspace::Dead(Handle handle) const {
  const DeadReason* reason = table_.Reason(handle);
  Error error;
  error.handle = handle;
  if (reason == nullptr) {
    error.kind = ErrorKind::kUnknownHandle;
    error.text = handle > table_.last() ? absl::StrFormat("This session has no handle %d.", handle)
                                        : absl::StrFormat("This session has no handle %d any more.", handle);
    return ToStatus(std::move(error));
  }
  if (reason->error != nullptr) return ToStatus(*reason->error);
  error.kind = reason->kind;
  error.root_command = reason->by.id;
  error.root_origin = OriginOf(reason->by.origin);
  error.text = absl::StrFormat(reason->kind == ErrorKind::kDonated
                                   ? "Buffer %d was donated to an execute (command %d, %s)."
                                   : "Handle %d was freed (command %d, %s).",
                               handle, reason->by.id, Line(reason->by.origin));
  return ToStatus(std::move(error));
}

absl::Status Workspace::Consumed(const Buffer& buffer, const CommandRef& by) const {
  Error error;
  error.kind = ErrorKind::kDonated;
  error.handle = buffer.handle;
  error.shape = ShapeText(buffer.shape);
  error.origin = OriginOf(buffer.made_by.origin);
  error.root_command = by.id;
  error.root_origin = OriginOf(by.origin);
  error.text = absl::StrFormat("Buffer %d was donated to an execute (command %d, %s).", buffer.handle, by.id,
                               Line(by.origin));
  return ToStatus(std::move(error));
}

absl::Status Workspace::PlaceholderRead(const Buffer& buffer, std::string_view what) const {
  Error error;
  error.kind = ErrorKind::kPlaceholder;
  error.handle = buffer.handle;
  error.shape = ShapeText(buffer.shape);
  error.origin = OriginOf(buffer.made_by.origin);
  error.text = absl::StrFormat("%s is a placeholder (handle %d, %s, made at %s): it has no value.", what,
                               buffer.handle, error.shape, Line(buffer.made_by.origin));
  return ToStatus(std::move(error));
}

absl::Status Workspace::WithLargestBuffers(absl::Status status) const {
  if (KindOf(status) != ErrorKind::kNoMemory) return status;
  std::vector<const Buffer*> largest;
  for (const auto& [handle, entry] : table_.live()) {
    if (entry.buffer != nullptr && entry.buffer->block.bytes() > 0) largest.push_back(entry.buffer.get());
  }
  const size_t shown = std::min<size_t>(3, largest.size());
  std::partial_sort(largest.begin(), largest.begin() + shown, largest.end(),
                    [](const Buffer* a, const Buffer* b) {
                      return a->block.bytes() != b->block.bytes() ? a->block.bytes() > b->block.bytes()
                                                                  : a->handle < b->handle;
                    });
  Error error = ErrorOf(status);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(
        &error.text, i == 0 ? " This session's largest buffers: " : ", ",
        absl::StrFormat("handle %d, %s, %d bytes (%s)", largest[i]->handle, ShapeText(largest[i]->shape),
                        largest[i]->block.bytes(), Line(largest[i]->made_by.origin)));
  }
  if (shown > 0) error.text += '.';
  return ToStatus(std::move(error));
}

// -----------------------------------------------------------------------------------------------------------
// handles

absl::StatusOr<std::shared_ptr<Buffer>> Workspace::FindBuffer(Handle handle) {
  const Entry* entry = table_.Find(handle);
  if (entry == nullptr) return Dead(handle);
  if (entry->buffer == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names an executable, where a buffer is expected.", handle));
  }
  return entry->buffer;
}

absl::StatusOr<std::shared_ptr<Program>> Workspace::FindProgram(Handle handle) {
  const Entry* entry = table_.Find(handle);
  if (entry == nullptr) return Dead(handle);
  if (entry->program == nullptr) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("Handle %d names a buffer, where an executable is expected.", handle));
  }
  return entry->program;
}

absl::StatusOr<std::shared_ptr<Buffer>> Workspace::FindPlaceholder(Handle handle) {
  ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, FindBuffer(handle));
  if (buffer->state != BufferState::kPlaceholder) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("Handle %d is no placeholder: only a placeholder can be filled.", handle));
  }
  // Whether the execute that it was given to has begun yet is a matter of time: the answer is not.
  if (buffer->abstract_donor.has_value()) return Consumed(*buffer, *buffer->abstract_donor);
  return buffer;
}

void Workspace::DefineFailed(Handle handle, uint32_t device, const hlo::Shape* shape,
                             const CommandRef& command, const Error& error) {
  auto shared = std::make_shared<const Error>(error);
  if (table_.size() >= limits_.handles_per_session_max) {
    table_.RecordDeath(handle, {error.kind, command, std::move(shared)});
    return;
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->handle = handle;
  buffer->device = device;
  if (shape != nullptr) buffer->shape = *shape;
  buffer->made_by = command;
  buffer->state = BufferState::kFailed;
  buffer->error = std::move(shared);
  table_.Put(handle, {std::move(buffer), nullptr});
}

absl::Status Workspace::CheckHandles(int64_t more) const {
  if (more > limits_.handles_per_session_max - table_.size()) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("This session has %d live handles, and %d more are one too many: the limit "
                        "handles_per_session_max is %d.",
                        table_.size(), more, limits_.handles_per_session_max));
  }
  return absl::OkStatus();
}

absl::Status Workspace::CheckDevice(uint32_t device) const {
  if (device < devices_.count()) return absl::OkStatus();
  return MakeError(ErrorKind::kArgument,
                   absl::StrFormat("There is no device %d: this daemon has %d.", device, devices_.count()));
}

absl::StatusOr<int64_t> Workspace::CheckShape(const absl::StatusOr<hlo::Shape>& shape,
                                              uint32_t device) const {
  RETURN_IF_ERROR(shape.status());
  if (!shape->IsArray()) {
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("A buffer of shape %s: only arrays can be buffers.", ShapeText(*shape)));
  }
  if (shape->HasDynamicDimension()) {
    return MakeError(
        ErrorKind::kUnimplemented,
        absl::StrFormat("A buffer of shape %s: dynamic dimensions cannot be stored.", ShapeText(*shape)));
  }
  ASSIGN_OR_RETURN(const int64_t bytes, CheckBytes(*shape));
  RETURN_IF_ERROR(CheckDevice(device));
  return bytes;
}

absl::StatusOr<int64_t> Workspace::CheckBytes(const hlo::Shape& shape) const {
  const std::optional<int64_t> bytes = ByteSize(shape);
  if (bytes.has_value() && *bytes <= limits_.buffer_bytes_max) return *bytes;
  const std::string size =
      bytes.has_value() ? absl::StrCat(*bytes, " bytes") : "more bytes than fit a 64-bit number";
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("A buffer of shape %s has %s; the limit buffer_bytes_max is %d.",
                                   ShapeText(shape), size, limits_.buffer_bytes_max));
}

absl::Status Workspace::DefineOrigin(uint32_t id, Origin origin, Done done) {
  absl::Status answer;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    if (id != last_origin_ + 1) {
      return MakeError(ErrorKind::kViolation,
                       absl::StrFormat("Origin %d is not the one after the last (%d).", id, last_origin_));
    }
    last_origin_ = id;
    if (static_cast<int64_t>(origins_.size()) >= limits_.origins_per_session_max) {
      answer = MakeError(
          ErrorKind::kLimit,
          absl::StrFormat("Source line %d is one too many: the limit origins_per_session_max is %d.", id,
                          limits_.origins_per_session_max));
    } else {
      origin.file.resize(ClipUtf8(origin.file, kNameMax).size());
      origin.function.resize(ClipUtf8(origin.function, kNameMax).size());
      origins_.push_back(std::move(origin));
    }
  }
  done(answer);
  return absl::OkStatus();
}

Origin Workspace::origin(uint32_t id) const {
  MutexLock lock(&mu_);
  return OriginOf(id);
}

absl::Status Workspace::DefinePlaceholder(const CommandRef& command, Handle handle, uint32_t device,
                                          const absl::StatusOr<hlo::Shape>& shape, Done done) {
  absl::Status answer;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    RETURN_IF_ERROR(table_.Claim(handle));
    const absl::StatusOr<int64_t> bytes = CheckShape(shape, device);
    answer = bytes.ok() ? CheckHandles(1) : bytes.status();
    if (answer.ok()) {
      auto buffer = std::make_shared<Buffer>();
      buffer->handle = handle;
      buffer->device = device;
      buffer->shape = *shape;
      buffer->bytes = *bytes;
      buffer->made_by = command;
      buffer->simulated = SimulatedCharge(account_, *bytes);
      table_.Put(handle, {std::move(buffer), nullptr});
    } else {
      const Error error = Root("placeholder", answer, command);
      DefineFailed(handle, device, shape.ok() ? &*shape : nullptr, command, error);
      answer = ToStatus(error);
    }
  }
  done(answer);
  return absl::OkStatus();
}

absl::Status Workspace::Free(const CommandRef& command, std::vector<Handle> handles, Done done) {
  absl::Status answer;
  std::vector<Entry> gone;
  // May have been donated: whether freeing them was right is known when that execute has started or was
  // refused.
  std::vector<std::shared_ptr<Buffer>> given;
  auto task = std::make_shared<Task>();
  ReadyTasks ready_tasks;
  {
    MutexLock lock(&mu_);
    if (closed_) return absl::OkStatus();
    for (const Handle handle : handles) {
      const Entry* entry = table_.Find(handle);
      if (entry == nullptr) {
        if (answer.ok()) answer = Dead(handle);
        continue;
      }
      if (entry->buffer != nullptr && entry->buffer->donor != nullptr) {
        DependOn(task, entry->buffer->donor);
        given.push_back(entry->buffer);
      }
      if (entry->program != nullptr) --executables_;
      gone.push_back(table_.Erase(handle, {ErrorKind::kDeleted, command, nullptr}));
    }
    if (!given.empty()) {
      task->ready = [self = shared_from_this(), given = std::move(given), done, answer]() mutable {
        {
          MutexLock inner(&self->mu_);
          if (self->closed_) return;
          for (const std::shared_ptr<Buffer>& buffer : given) {
            if (answer.ok() && buffer->consumed_by.has_value())
              answer = self->Consumed(*buffer, *buffer->consumed_by);
          }
        }
        given.clear();  // Their bytes go before anybody is told.
        done(answer);
      };
      Unwait(task, ready_tasks);
      done = nullptr;
    }
  }
  gone.clear();
  if (done) done(answer);
  Run(ready_tasks);
  return absl::OkStatus();
}

void Workspace::Cancel(uint64_t command) {
  const absl::Status cancelled = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  std::shared_ptr<Execution> waiting;
  ReadyTasks ready_tasks;
  Done upload_done;
  absl::Status upload_answer;
  DownloadDone download_done;
  {
    MutexLock lock(&mu_);
    if (const auto found = downloads_.find(command); found != downloads_.end()) {
      download_done = std::move(found->second.done);
      Finish(*found->second.task, ready_tasks);
      downloads_.erase(found);
    }
    if (const auto found = executions_.find(command); found != executions_.end()) {
      found->second->cancel = true;
      waiting = found->second;
    }
    if (const auto found = uploads_.find(command); found != uploads_.end()) {
      const std::shared_ptr<PendingUpload> upload = found->second;
      upload_done = SettleUpload(*upload, cancelled, upload_answer, ready_tasks);
    }
  }
  if (waiting != nullptr) Settle(waiting, cancelled, /*if_waiting=*/true);
  if (upload_done) upload_done(upload_answer);
  if (download_done) download_done(cancelled);
  Run(ready_tasks);
}

void Workspace::Close() {
  absl::flat_hash_map<Handle, Entry> live;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Execution>> executions;
  absl::flat_hash_map<uint64_t, std::shared_ptr<PendingUpload>> uploads;
  absl::flat_hash_map<uint64_t, WaitingDownload> downloads;
  std::vector<Done> dones;
  std::vector<std::function<void()>> ready;
  // Of executes that do not run: the device's queue may hold them for as long as other sessions' work takes.
  std::vector<std::vector<std::shared_ptr<Buffer>>> buffers;
  std::vector<std::vector<ExecuteRequest::Argument>> literals;
  std::vector<std::shared_ptr<Program>> programs;
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    closed_ = true;
    live = table_.Clear();
    executions.swap(executions_);
    uploads.swap(uploads_);
    for (auto& [id, execution] : executions) {
      execution->cancel = true;
      execution->told = true;
      dones.push_back(std::exchange(execution->done, nullptr));
      ready.push_back(std::exchange(execution->task->ready, nullptr));
      execution->task->finished = true;
      execution->task->dependents.clear();
      if (execution->running) continue;
      buffers.push_back(std::exchange(execution->arguments, {}));
      buffers.push_back(std::exchange(execution->results, {}));
      literals.push_back(std::exchange(execution->request.arguments, {}));
      programs.push_back(std::exchange(execution->program, nullptr));
    }
    downloads.swap(downloads_);
    for (auto& [id, download] : downloads) {
      ready.push_back(std::exchange(download.task->ready, nullptr));
      download.task->finished = true;
    }
    for (auto& [id, upload] : uploads) {
      ledger_.Count(&Counters::aborted_bytes, upload->received);
      dones.push_back(std::exchange(upload->done, nullptr));
      upload->task->finished = true;
      upload->task->dependents.clear();
    }
    for (auto& [handle, entry] : live) {
      if (entry.buffer == nullptr) continue;
      entry.buffer->producer = nullptr;
      entry.buffer->donor = nullptr;
    }
  }
  devices_.Discard(session_);
}

std::vector<BufferInfo> Workspace::ListBuffers() const {
  MutexLock lock(&mu_);
  std::vector<BufferInfo> list;
  for (const auto& [handle, entry] : table_.live()) {
    if (entry.buffer == nullptr) continue;
    const Buffer& buffer = *entry.buffer;
    list.push_back({handle, buffer.device, buffer.shape,
                    buffer.block.data() == nullptr ? 0 : buffer.block.bytes(), buffer.state,
                    OriginOf(buffer.made_by.origin)});
  }
  return list;
}

Workspace::Counts& Workspace::Counts::operator+=(const Counts& other) {
  buffers += other.buffers;
  placeholders += other.placeholders;
  waiting_executes += other.waiting_executes;
  return *this;
}

std::vector<Workspace::Counts> Workspace::device_counts() const {
  std::vector<Counts> counts(devices_.count());
  MutexLock lock(&mu_);
  for (const auto& [handle, entry] : table_.live()) {
    // A failed definition may name any device.
    if (entry.buffer == nullptr || entry.buffer->device >= counts.size()) continue;
    Counts& device = counts[entry.buffer->device];
    device.placeholders += entry.buffer->state == BufferState::kPlaceholder;
    device.buffers += entry.buffer->holds_memory();
  }
  for (const auto& [command, execution] : executions_) {
    counts[execution->request.device].waiting_executes += !execution->ready;
  }
  return counts;
}

Workspace::Counts Workspace::counts() const {
  Counts sum;
  for (const Counts& device : device_counts()) sum += device;
  return sum;
}

}  // namespace hlod::device
