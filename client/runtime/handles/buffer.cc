// Buffers. Uses that the client knows to be wrong are refused before anything is sent.
#include "hlod/runtime/buffer.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "client/runtime/mesh/shards.h"
#include "client/runtime/observe/metrics.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "common/hlo/proto/codec.h"
#include "hlod/runtime/device.h"
#include "hlod/tensor/tensor_name.h"

namespace hlod {
namespace runtime {
namespace {

// Starts a read, or continues one that was sent with the execute.
std::unique_ptr<PendingDownload> DownloadOf(BufferState& buffer, Cause cause, absl::Span<std::byte> out,
                                            const Caller& caller) {
  if (Command prefetch = TakePrefetch(buffer); prefetch != nullptr)
    return ContinuePrefetch(buffer.session, std::move(prefetch), cause, out, caller);
  return ChooseTransfer(*buffer.session, buffer.bytes)
      .Download(buffer.session, buffer.handle, cause, out, caller);
}

// A download into a new literal.
class LiteralDownload : public Awaitable<Literal> {
 public:
  LiteralDownload(const std::shared_ptr<BufferState>& buffer, Cause cause, const Caller& caller)
      : session_(buffer->session),
        handle_(buffer->handle),
        device_(buffer->device),
        made_at_(buffer->origin),
        cause_(cause),
        caller_(caller),
        shape_(buffer->shape),
        value_(StoredShape(*buffer)),
        pending_(DownloadOf(*buffer, cause, value_.bytes(), caller)) {}
  ~LiteralDownload() override {
    // In a forked child, the download belongs to the parent, which may be using it.
    if (!owner_.IsThisOne()) pending_.release();
  }

  bool Ready() override {
    if (!owner_.IsThisOne()) return true;  // Await fails at once.
    if (!mu_.TryLock()) return false;      // Another thread is awaiting it.
    const bool ready = pending_ == nullptr || pending_->Ready();
    mu_.Unlock();
    return ready;
  }
  absl::StatusOr<Literal> Await(absl::Time deadline) override {
    RETURN_IF_ERROR(owner_.Check());  // The lock may have been held at the time of the fork.
    const DeliverEventsAtExit events;
    absl::MutexLock lock(&mu_);
    if (pending_ == nullptr) return FailedPrecondition("The value of this future was taken already.");
    RETURN_IF_ERROR(pending_->Await(deadline));
    pending_.reset();
    EmitTransfer(*session_, cause_, caller_, handle_, shape_, static_cast<int64_t>(value_.bytes().size()),
                 device_, made_at_, watch_.us());
    if (shape_.HasDynamicDimension()) return hlo::FromStored(shape_, value_.bytes());
    return std::move(value_);
  }

 private:
  static Shape StoredShape(const BufferState& buffer) {
    return buffer.shape.HasDynamicDimension() ? Shape::Array(hlo::kU8, {buffer.bytes}) : buffer.shape;
  }

  const OwnerProcess owner_;
  const std::shared_ptr<Session> session_;
  const uint64_t handle_;
  const int device_;
  const uint32_t made_at_;
  const Cause cause_;
  const Caller caller_;
  const Shape shape_;
  const Stopwatch watch_;
  absl::Mutex mu_;
  Literal value_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<PendingDownload> pending_ ABSL_GUARDED_BY(mu_);  // Fills value_; null: value_ was taken.
};

// A literal that is available at once.
class LiteralAtHand : public Awaitable<Literal> {
 public:
  explicit LiteralAtHand(Literal value) : value_(std::move(value)) {}
  bool Ready() override { return true; }
  absl::StatusOr<Literal> Await(absl::Time) override { return value_; }

 private:
  const Literal value_;
};

// Answers the read of a buffer that has no value, in an abstract session, with a stand-in or a refusal. If
// the buffer has a value, records the read in the preflight log and returns nullopt.
std::optional<absl::StatusOr<Literal>> AskAbstract(const Buffer& buffer, Cause cause, const Caller& caller) {
  BufferState& state = *buffer.internal_state();
  AbstractSession* const abstract = state.session->options().abstract.get();
  if (abstract == nullptr || !CheckAlive(state, "a read").ok()) return std::nullopt;
  if (buffer.is_placeholder()) return abstract->Ask(state, cause, caller);
  abstract->ReadValue(state.bytes, cause, /*absent=*/false, caller);
  return std::nullopt;
}

// Returns a number that is not a handle of the daemon.
uint64_t NextLocalHandle() {
  static std::atomic<uint64_t> next = uint64_t{1} << 63;
  return next++;
}

Command ProducerOf(const Buffer& buffer) {
  absl::MutexLock lock(&buffer.internal_state()->mu);
  return buffer.internal_state()->producer;
}

class CommandEnd : public Awaitable<void> {
 public:
  CommandEnd(std::shared_ptr<Session> session, Command command)
      : session_(std::move(session)), command_(std::move(command)) {}
  bool Ready() override {
    if (!command_->done.load(std::memory_order_acquire)) session_->Drain();
    return command_->done.load(std::memory_order_acquire) || !session_->owner().IsThisOne();
  }
  absl::Status Await(absl::Time deadline) override { return session_->Wait(*command_, deadline); }

 private:
  const std::shared_ptr<Session> session_;
  const Command command_;
};

// Adds to an error of a part the array that the part belongs to.
absl::Status AboutPart(const absl::Status& status, const BufferState& whole, size_t part) {
  if (status.ok()) return status;
  return Annotate(status, absl::StrFormat("using shard %d of %s", part, hlo::ToStringNoLayout(whole.shape)));
}

absl::Status DeathOf(const BufferState& buffer, const Death& death, std::string_view use,
                     std::string_view description) {
  const Origin line = buffer.session->OriginOf(death.by->origin);
  return ToStatus(
      {.kind = death.kind,
       .handle = buffer.handle,
       .shape = hlo::ToStringNoLayout(buffer.shape),
       .origin = buffer.session->OriginOf(buffer.origin),
       .root_command = death.by->id,
       .root_origin = line,
       .text = absl::StrFormat("%s cannot be used for %s: it was %s by command %d at %s.", description, use,
                               Name(death.kind), death.by->id, hlod::ToString(line))});
}

}  // namespace

BufferState::BufferState(std::shared_ptr<Session> session, uint64_t handle, Shape shape, int device,
                         Command producer, bool placeholder)
    : session(std::move(session)),
      handle(handle),
      shape(std::move(shape)),
      bytes(hlo::StoredByteSize(this->shape).value_or(0)),
      device(device),
      origin(producer->origin),
      producer(std::move(producer)),
      placeholder(placeholder) {}

BufferState::BufferState(std::shared_ptr<const Shards> shards)
    : session(shards->parts[0].internal_state()->session),
      handle(NextLocalHandle()),
      shape(shards->division.whole),
      bytes(hlo::StoredByteSize(this->shape).value_or(0)),
      device(shards->division.devices[0]),
      origin(shards->parts[0].internal_state()->origin),
      shards(std::move(shards)),
      producer(ProducerOf(this->shards->parts[0])),
      placeholder(false) {}

BufferState::~BufferState() {
  if (shards != nullptr) return;  // The parts free themselves.
  if (pattern != nullptr) pattern->Unread(prefetch != nullptr);
  const int64_t held = placeholder ? 0 : bytes;
  if (!death.has_value()) {
    session->Drop(handle, held);
  } else if (death->kind == ErrorKind::kDonated) {
    // An execute that was refused does not consume its donated arguments.
    session->Drop(handle, held, death->by);
  }
}

Command TakePrefetch(BufferState& buffer) {
  absl::MutexLock lock(&buffer.mu);
  if (buffer.death.has_value()) return nullptr;  // A Download sent now is answered with the reason.
  if (const auto pattern = std::exchange(buffer.pattern, nullptr)) pattern->Read();
  return std::exchange(buffer.prefetch, nullptr);
}

void TellRead(Session& session, const CommandState& prefetch, Cause cause, const Caller& caller) {
  v1::Command command;
  command.mutable_read_prefetched()->set_download(prefetch.id);
  command.mutable_read_prefetched()->set_cause(static_cast<int>(cause));
  // If there is no room for another command, the daemon's account keeps the bytes as read ahead and not used.
  session
      .TransactLazily(
          caller, [&](Session::Sender& sender) { sender.Add(std::move(command)); }, /*may_wait=*/false)
      .IgnoreError();
}

std::string Use::ToString() const {
  if (program == nullptr) return what;
  return absl::StrFormat("argument %d (%s) of %s", argument, program->argument_names[argument],
                         program->name);
}

std::string Describe(BufferState& buffer) {
  return absl::StrFormat("%s (handle %d, made at %s)", hlo::ToStringNoLayout(buffer.shape), buffer.handle,
                         hlod::ToString(buffer.session->OriginOf(buffer.origin)));
}

absl::Status CheckAlive(BufferState& buffer, const Use& use) {
  RETURN_IF_ERROR(buffer.session->status());
  if (buffer.session->options().skip_local_checks) return absl::OkStatus();
  if (buffer.shards != nullptr) {
    for (size_t i = 0; i < buffer.shards->parts.size(); ++i)
      RETURN_IF_ERROR(AboutPart(CheckAlive(*buffer.shards->parts[i].internal_state(), use), buffer, i));
    return absl::OkStatus();
  }
  absl::MutexLock lock(&buffer.mu);
  if (!buffer.death.has_value()) return absl::OkStatus();
  const CommandState& by = *buffer.death->by;
  if (buffer.death->kind == ErrorKind::kDonated && by.done.load(std::memory_order_acquire) &&
      !by.status.ok()) {
    // The execute failed. Only the daemon knows whether it had started, and so consumed the argument; its
    // answer decides.
    buffer.death.reset();
    return absl::OkStatus();
  }
  return DeathOf(buffer, *buffer.death, use.ToString(), Describe(buffer));
}

absl::Status CheckFillable(BufferState& buffer, const Caller& caller) {
  RETURN_IF_ERROR(CheckAlive(buffer, "a fill"));
  if (buffer.session->options().skip_local_checks) return absl::OkStatus();
  if (buffer.shards != nullptr) {
    for (size_t i = 0; i < buffer.shards->parts.size(); ++i) {
      BufferState& part = *buffer.shards->parts[i].internal_state();
      RETURN_IF_ERROR(AboutPart(CheckFillable(part, caller), buffer, i));
    }
    return absl::OkStatus();
  }
  {
    absl::MutexLock lock(&buffer.mu);
    if (buffer.placeholder) return absl::OkStatus();
  }
  return ArgumentError(caller,
                       absl::StrFormat("%s cannot be filled at %s: it has a value already.", Describe(buffer),
                                       hlod::ToString(OriginOf(caller))),
                       &buffer);
}

absl::Status CheckReadable(BufferState& buffer, const Use& use, const Caller& caller) {
  RETURN_IF_ERROR(CheckAlive(buffer, use));
  if (buffer.session->options().skip_local_checks) return absl::OkStatus();
  if (buffer.shards != nullptr) {
    for (size_t i = 0; i < buffer.shards->parts.size(); ++i) {
      BufferState& part = *buffer.shards->parts[i].internal_state();
      RETURN_IF_ERROR(AboutPart(CheckReadable(part, use, caller), buffer, i));
    }
    return absl::OkStatus();
  }
  absl::MutexLock lock(&buffer.mu);
  if (!buffer.placeholder) return absl::OkStatus();
  ++buffer.session->refused_before_sending;
  const Origin made = buffer.session->OriginOf(buffer.origin);
  return ToStatus(
      {.kind = ErrorKind::kPlaceholder,
       .handle = buffer.handle,
       .shape = hlo::ToStringNoLayout(buffer.shape),
       .origin = made,
       .root_origin = OriginOf(caller),
       .text = absl::StrFormat("%s is a placeholder: it has no value for %s at %s.", Describe(buffer),
                               use.ToString(), hlod::ToString(OriginOf(caller)))});
}

absl::Status ArgumentError(const Caller& caller, std::string text, BufferState* about) {
  ErrorDetails error;
  error.kind = ErrorKind::kArgument;
  error.root_origin = OriginOf(caller);
  error.text = std::move(text);
  if (about != nullptr) {
    error.handle = about->handle;
    error.shape = hlo::ToStringNoLayout(about->shape);
    error.origin = about->session->OriginOf(about->origin);
  }
  return ToStatus(std::move(error));
}

Origin OriginOf(const Caller& caller) {
  return {caller.file == nullptr ? "" : caller.file, caller.line,
          caller.function == nullptr ? "" : caller.function};
}

Future<void> FutureOf(std::shared_ptr<Session> session, Command command) {
  return Future<void>(std::make_shared<CommandEnd>(std::move(session), std::move(command)));
}

absl::Status CheckUpload(const Session& session, const Shape& shape, absl::Span<const std::byte> bytes,
                         const Caller& caller) {
  if (session.options().skip_local_checks) return absl::OkStatus();
  if (!shape.IsArray() && !shape.IsToken()) {
    return ArgumentError(
        caller, absl::StrFormat("Only arrays and tokens are uploaded; %s is neither.", hlo::ToString(shape)));
  }
  RETURN_IF_ERROR(WithKind(hlo::ValidateShape(shape), ErrorKind::kArgument));
  const std::optional<int64_t> needed = hlo::ByteSize(shape);
  if (needed.has_value() && *needed == static_cast<int64_t>(bytes.size())) return absl::OkStatus();
  return ArgumentError(caller, absl::StrFormat("%d bytes were given at %s for %s, which takes %d.",
                                               bytes.size(), hlod::ToString(OriginOf(caller)),
                                               hlo::ToStringNoLayout(shape), needed.value_or(-1)));
}

absl::StatusOr<Command> UploadBytes(Session& session, const Shape& shape, int device,
                                    absl::Span<const std::byte> bytes, Cause cause, const Caller& caller,
                                    BufferState* fill, uint64_t* handle) {
  RETURN_IF_ERROR(session.status());  // Checked before the arena is touched.
  RETURN_IF_ERROR(CheckUpload(session, shape, bytes, caller));
  UploadRequest request;
  v1::Upload& declaration = request.declaration;
  declaration.set_device(session.place().OrdinalOf(device));
  Shape dense = shape;
  dense.layout.reset();
  *declaration.mutable_shape() = hlo::ToProto(dense);
  declaration.set_bytes(bytes.size());
  declaration.set_cause(static_cast<int>(cause));
  if (fill != nullptr) {
    request.handle = fill->handle;
    declaration.set_fill(true);
  }
  const DeliverEventsAtExit events;
  const Stopwatch watch;
  absl::StatusOr<Command> sent =
      ChooseTransfer(session, static_cast<int64_t>(bytes.size())).Upload(session, request, bytes, caller);
  *handle = request.handle;
  if (sent.ok()) {
    EmitTransfer(session, cause, caller, request.handle, dense, static_cast<int64_t>(bytes.size()), device,
                 (*sent)->origin, watch.us());
  }
  return sent;
}

void EmitTransfer(Session& session, Cause cause, const Caller& caller, uint64_t buffer, const Shape& shape,
                  int64_t bytes, int device, uint32_t made_at, double us) {
  if (session.options().hidden) return;
  const bool up = DirectionOf(cause) == Direction::kHostToDevice;
  AddSample(up ? Metric::kToDeviceTime : Metric::kToHostTime, us);
  AddSample(up ? Metric::kToDeviceBytes : Metric::kToHostBytes, static_cast<double>(bytes));
  if (!Observed()) return;
  TransferEvent event{.cause = cause,
                      .origin = OriginOf(caller),
                      .session = session.id(),
                      .step = session.step,
                      .device = device,
                      .us = us};
  event.name = std::string(TensorName::Current());
  event.value = {TransferOf::value(), buffer, shape, bytes, TransferOf::close(), session.OriginOf(made_at)};
  Emit(std::move(event));
}

void EmitWait(Session& session, WaitCause cause, const Caller& caller, double us, uint64_t value) {
  if (!Observed() || session.options().hidden) return;
  Emit(WaitEvent{cause, OriginOf(caller), session.id(), session.step, value, us});
}

}  // namespace runtime

const Shape& Buffer::shape() const { return state_->shape; }
int64_t Buffer::byte_size() const { return state_->bytes; }
int Buffer::device() const { return state_->device; }
uint64_t Buffer::handle() const { return state_->handle; }
Origin Buffer::origin() const { return state_->session->OriginOf(state_->origin); }

bool Buffer::is_placeholder() const {
  if (!state_->session->owner().IsThisOne()) return false;
  if (state_->shards != nullptr)
    return std::ranges::any_of(shards(), [](const Buffer& part) { return part.is_placeholder(); });
  absl::MutexLock lock(&state_->mu);
  return state_->placeholder && !state_->death.has_value();
}

absl::Status Buffer::state() const {
  RETURN_IF_ERROR(runtime::CheckAlive(*state_, "anything"));
  for (const Buffer& part : shards()) RETURN_IF_ERROR(part.state());
  if (!shards().empty()) return absl::OkStatus();
  absl::MutexLock lock(&state_->mu);
  if (!state_->producer->done.load(std::memory_order_acquire)) return absl::OkStatus();
  return state_->producer->status;
}

std::string Buffer::ToString() const {
  return absl::StrFormat("%s handle %d made at %s%s", hlo::ToStringNoLayout(shape()), handle(),
                         hlod::ToString(origin()), is_placeholder() ? ", a placeholder" : "");
}

Future<void> Buffer::ready() const {
  if (absl::Status status = state_->session->owner().Check(); !status.ok())
    return runtime::FailedFuture<void>(std::move(status));
  if (state_->shards != nullptr) return runtime::ShardsReady(*state_->shards);
  absl::MutexLock lock(&state_->mu);
  return runtime::FutureOf(state_->session, state_->producer);
}

absl::StatusOr<Literal> Buffer::ToLiteral(Cause cause, Caller caller) const {
  return ToLiteralAsync(cause, caller).Await();
}

// The size above which a read waits for the value before it allocates memory.
constexpr int64_t kMemoryFirstBytes = int64_t{64} << 20;

Future<Literal> Buffer::ToLiteralAsync(Cause cause, Caller caller) const {
  runtime::BufferState& buffer = *state_;
  if (buffer.shards != nullptr && !is_placeholder()) {  // Each part counts its own read.
    if (absl::Status status = runtime::CheckReadable(buffer, "a read", caller); !status.ok())
      return runtime::FailedFuture<Literal>(std::move(status));
    return runtime::ReadShards(buffer.shards, cause, caller);
  }
  if (std::optional<absl::StatusOr<Literal>> asked = runtime::AskAbstract(*this, cause, caller)) {
    if (!asked->ok()) return runtime::FailedFuture<Literal>(asked->status());
    return Future<Literal>(std::make_shared<runtime::LiteralAtHand>(**std::move(asked)));
  }
  if (absl::Status status = runtime::CheckReadable(buffer, "a read", caller); !status.ok()) {
    return runtime::FailedFuture<Literal>(std::move(status));
  }
  // Memory for a large value is allocated when the value exists, because a failed buffer may have a shape
  // that does not fit into any machine.
  if (buffer.bytes > kMemoryFirstBytes) {
    if (absl::Status made = ready().Await(); !made.ok())
      return runtime::FailedFuture<Literal>(std::move(made));
  }
  try {
    return Future<Literal>(std::make_shared<runtime::LiteralDownload>(state_, cause, caller));
  } catch (const std::bad_alloc&) {
    return runtime::FailedFuture<Literal>(MakeError(
        ErrorKind::kNoMemory,
        absl::StrCat("This process has no memory for the ", buffer.bytes, " bytes of ", ToString(), ".")));
  }
}

absl::Status Buffer::Download(absl::Span<std::byte> out, Cause cause, Caller caller) const {
  runtime::BufferState& buffer = *state_;
  if (buffer.shards != nullptr && static_cast<int64_t>(out.size()) == buffer.bytes) {
    ASSIGN_OR_RETURN(const Literal whole, ToLiteral(cause, caller));
    std::copy(whole.bytes().begin(), whole.bytes().end(), out.begin());
    return absl::OkStatus();
  }
  if (std::optional<absl::StatusOr<Literal>> asked = runtime::AskAbstract(*this, cause, caller)) {
    RETURN_IF_ERROR(asked->status());
    if (out.size() == (*asked)->bytes().size()) {
      std::copy((*asked)->bytes().begin(), (*asked)->bytes().end(), out.begin());
      return absl::OkStatus();
    }
  } else {
    RETURN_IF_ERROR(runtime::CheckReadable(buffer, "a read", caller));
  }
  if (static_cast<int64_t>(out.size()) != buffer.bytes) {
    return runtime::ArgumentError(
        caller,
        absl::StrFormat("The memory for a read of %s at %s has %d bytes; it takes %d.",
                        runtime::Describe(buffer), hlod::ToString(runtime::OriginOf(caller)), out.size(),
                        buffer.bytes),
        &buffer);
  }
  const runtime::DeliverEventsAtExit events;
  const runtime::Stopwatch watch;
  RETURN_IF_ERROR(runtime::DownloadOf(buffer, cause, out, caller)->Await(absl::InfiniteFuture()));
  runtime::EmitTransfer(*buffer.session, cause, caller, buffer.handle, buffer.shape, buffer.bytes,
                        buffer.device, buffer.origin, watch.us());
  return absl::OkStatus();
}

absl::Status Buffer::RefuseItem(PrimitiveType type, const Caller& caller) const {
  return runtime::ArgumentError(
      caller,
      absl::StrFormat("%s, given to Item() at %s: it reads one %s.", runtime::Describe(*state_),
                      hlod::ToString(runtime::OriginOf(caller)), hlo::Name(type)),
      state_.get());
}

absl::Status Buffer::Fill(const Literal& value, Caller caller) const {
  RETURN_IF_ERROR(state_->session->owner().Check());
  if (!hlo::Compatible(value.shape(), shape()) && !state_->session->options().skip_local_checks) {
    return runtime::ArgumentError(
        caller,
        absl::StrFormat("%s cannot be filled with %s at %s.", runtime::Describe(*state_),
                        hlo::ToStringNoLayout(value.shape()), hlod::ToString(runtime::OriginOf(caller))),
        state_.get());
  }
  return Fill(value.bytes(), caller);
}

absl::Status Buffer::Fill(absl::Span<const std::byte> bytes, Caller caller) const {
  runtime::BufferState& buffer = *state_;
  RETURN_IF_ERROR(runtime::CheckAlive(buffer, "a fill"));
  if (buffer.shards != nullptr) {
    RETURN_IF_ERROR(runtime::CheckUpload(*buffer.session, buffer.shape, bytes, caller));
    RETURN_IF_ERROR(runtime::CheckFillable(buffer, caller));  // Checks all parts before one is filled.
    return runtime::FillShards(*buffer.shards, bytes, caller);
  }
  runtime::AbstractSession* const abstract = buffer.session->options().abstract.get();
  if (abstract != nullptr && is_placeholder() && abstract->IsLarge(static_cast<int64_t>(bytes.size()))) {
    RETURN_IF_ERROR(runtime::CheckUpload(*buffer.session, buffer.shape, bytes, caller));
    abstract->Made(*this, Cause::kPlaceholderFill, caller);  // Records that the buffer remains a placeholder.
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(runtime::CheckFillable(buffer, caller));
  uint64_t handle = 0;
  ASSIGN_OR_RETURN(runtime::Command sent,
                   runtime::UploadBytes(*buffer.session, buffer.shape, buffer.device, bytes,
                                        Cause::kPlaceholderFill, caller, &buffer, &handle));
  {
    absl::MutexLock lock(&buffer.mu);
    buffer.placeholder = false;
    buffer.producer = std::move(sent);
  }
  if (abstract != nullptr) abstract->Made(*this, Cause::kPlaceholderFill, caller);
  return absl::OkStatus();
}

absl::Status Buffer::Delete(Caller caller) const {
  runtime::BufferState& buffer = *state_;
  RETURN_IF_ERROR(runtime::CheckAlive(buffer, "a delete"));
  for (const Buffer& part : shards()) RETURN_IF_ERROR(part.Delete(caller));
  if (!shards().empty()) return absl::OkStatus();
  v1::Command command;
  command.mutable_free()->add_handles(buffer.handle);
  ASSIGN_OR_RETURN(runtime::Command sent, buffer.session->Send(caller, std::move(command)));
  {
    absl::MutexLock lock(&buffer.mu);
    buffer.death = runtime::Death{ErrorKind::kDeleted, sent};
  }
  // A client that skips its own checks wants the daemon's answer.
  return buffer.session->options().skip_local_checks ? buffer.session->Wait(*sent) : absl::OkStatus();
}

}  // namespace hlod
