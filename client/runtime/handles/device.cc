// Devices and staged uploads.
#include "hlod/runtime/device.h"

#include <utility>

#include "client/runtime/mesh/shards.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "common/rpc/wire.h"

namespace hlod {
namespace runtime {
namespace {

absl::Status CheckDevice(const Session* session, int ordinal) {
  if (session == nullptr)
    return MakeError(ErrorKind::kArgument, "The host is not a device that has buffers.");
  if (session->options().skip_local_checks) return absl::OkStatus();
  if (ordinal >= 0 && ordinal < static_cast<int>(session->daemon().devices.size())) return absl::OkStatus();
  return MakeError(ErrorKind::kArgument, absl::StrFormat("Device (%d) does not exist: the daemon has %d.",
                                                         ordinal, session->daemon().devices.size()));
}

// Returns the session in which buffers of the device are.
absl::StatusOr<std::shared_ptr<Session>> OwnerOf(const Device& device) {
  RETURN_IF_ERROR(CheckDevice(device.internal_session().get(), device.ordinal()));
  return SessionWith(device.internal_session(), device.ordinal());
}

Buffer MakeBuffer(const std::shared_ptr<Session>& session, uint64_t handle, const Shape& shape, int device,
                  Command producer, bool placeholder) {
  Shape dense = shape;
  dense.layout.reset();
  return Buffer(std::make_shared<BufferState>(session, handle, std::move(dense), device, std::move(producer),
                                              placeholder));
}

// Declares a placeholder of an array.
absl::StatusOr<Buffer> Declare(const std::shared_ptr<Session>& session, const Shape& shape, int device,
                               const Caller& caller) {
  Shape dense = shape;
  dense.layout.reset();
  uint64_t handle = 0;
  Command sent;
  RETURN_IF_ERROR(session->Transact(caller, [&](Session::Sender& sender) {
    handle = sender.NewHandle();
    v1::Command command;
    v1::Placeholder& placeholder = *command.mutable_placeholder();
    placeholder.set_handle(handle);
    placeholder.set_device(session->place().OrdinalOf(device));
    *placeholder.mutable_shape() = hlo::ToProto(dense);
    sent = sender.Add(std::move(command));
  }));
  return MakeBuffer(session, handle, dense, device, std::move(sent), true);
}

// Records a new buffer in the preflight log of an abstract session; returns `made`.
absl::StatusOr<Buffer> Recorded(const Session& session, absl::StatusOr<Buffer> made,
                                std::optional<Cause> cause, const Caller& caller) {
  if (made.ok() && session.options().abstract != nullptr)
    session.options().abstract->Made(*made, cause, caller);
  return made;
}

}  // namespace

absl::StatusOr<Buffer> UploadWithoutBytes(const Device& device, const Shape& shape, Cause cause,
                                          const Caller& caller) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, OwnerOf(device));
  return Recorded(*session, Declare(session, shape, device.ordinal(), caller), cause, caller);
}

StagingState::~StagingState() {
  if (range.has_value()) arena->Give(*range);
}

}  // namespace runtime

using runtime::Command;

std::string Device::ToString() const { return is_host() ? "host" : absl::StrCat("hlod:", ordinal_); }

const DeviceInfo& Device::info() const { return session_->daemon().devices[static_cast<size_t>(ordinal_)]; }

absl::StatusOr<Buffer> Device::Upload(absl::Span<const std::byte> bytes, const Shape& shape, Cause cause,
                                      Caller caller) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session, runtime::OwnerOf(*this));
  const runtime::AbstractSession* const abstract = session->options().abstract.get();
  if (abstract != nullptr && abstract->IsLarge(static_cast<int64_t>(bytes.size()))) {
    RETURN_IF_ERROR(runtime::CheckUpload(*session, shape, bytes, caller));
    return runtime::UploadWithoutBytes(*this, shape, cause, caller);
  }
  uint64_t handle = 0;
  ASSIGN_OR_RETURN(Command sent,
                   runtime::UploadBytes(*session, shape, ordinal_, bytes, cause, caller, nullptr, &handle));
  return runtime::Recorded(
      *session, runtime::MakeBuffer(session, handle, shape, ordinal_, std::move(sent), false), cause, caller);
}

absl::StatusOr<Buffer> Device::Upload(const Literal& literal, Cause cause, Caller caller) const {
  return Upload(literal.bytes(), literal.shape(), cause, caller);
}

absl::StatusOr<Buffer> Device::Placeholder(const Shape& shape, Caller caller) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session, runtime::OwnerOf(*this));
  if (!session->options().skip_local_checks) {
    if (!shape.IsArray()) {
      return runtime::ArgumentError(
          caller, absl::StrFormat("Only arrays have placeholders; %s is not one.", hlo::ToString(shape)));
    }
    RETURN_IF_ERROR(WithKind(hlo::ValidateShape(shape), ErrorKind::kArgument));
    const int64_t bytes = hlo::ByteSize(shape).value_or(INT64_MAX),
                  limit = session->daemon().limits.buffer_bytes_max;
    if (bytes > limit) {
      return MakeError(
          ErrorKind::kLimit,
          absl::StrFormat("A placeholder of %s stands for %d bytes; limit buffer_bytes_max is %d.",
                          hlo::ToStringNoLayout(shape), bytes, limit));
    }
  }
  return runtime::Recorded(*session, runtime::Declare(session, shape, ordinal_, caller), std::nullopt,
                           caller);
}

absl::StatusOr<Buffer> Buffer::CopyTo(const Device& device, Caller caller) const {
  runtime::BufferState& source = *state_;
  const std::shared_ptr<runtime::Session>& session = source.session;
  RETURN_IF_ERROR(runtime::CheckDevice(device.internal_session().get(), device.ordinal()));
  if (!AreOfOneClient(*device.internal_session(), *session)) {
    return runtime::ArgumentError(caller, "A buffer cannot be copied to a device of another session.",
                                  &source);
  }
  RETURN_IF_ERROR(runtime::CheckAlive(source, "a copy"));
  RETURN_IF_ERROR(session->status());
  if (source.shards != nullptr) return runtime::Gather(*source.shards, device, caller);
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> owner, runtime::OwnerOf(device));
  if (owner != session) {
    // The bytes go through this process.
    if (is_placeholder()) return device.Placeholder(source.shape, caller);
    ASSIGN_OR_RETURN(const Literal value, ToLiteral(Cause::kDownload, caller));
    return device.Upload(value, Cause::kUpload, caller);
  }
  if (session->daemon().version < rpc::kVersionOfCopy) {
    return MakeError(
        ErrorKind::kVersion,
        absl::StrFormat(
            "The daemon at %s (%s) speaks protocol version %d, which has no copies on and between "
            "devices: start a newer one, or read the buffer and upload it.",
            session->connector().address(), session->daemon().name, session->daemon().version));
  }
  v1::Command command;
  v1::Copy& copy = *command.mutable_copy();
  copy.set_source(source.handle);
  copy.set_device(session->place().OrdinalOf(device.ordinal()));
  uint64_t handle = 0;
  Command sent;
  RETURN_IF_ERROR(session->Transact(caller, [&](runtime::Session::Sender& sender) {
    handle = sender.NewHandle();
    copy.set_handle(handle);
    sent = sender.Add(std::move(command));
  }));
  return runtime::Recorded(
      *session,
      runtime::MakeBuffer(session, handle, source.shape, device.ordinal(), std::move(sent), is_placeholder()),
      std::nullopt, caller);
}

absl::StatusOr<StagedUpload> Device::Stage(const Shape& shape, Caller) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::Session> session, runtime::OwnerOf(*this));
  RETURN_IF_ERROR(session->status());
  RETURN_IF_ERROR(WithKind(hlo::ValidateShape(shape), ErrorKind::kArgument));
  StagedUpload staged;
  staged.state_ = std::make_unique<runtime::StagingState>();
  runtime::StagingState& state = *staged.state_;
  state.session = session;
  state.shape = shape;
  state.shape.layout.reset();
  state.device = ordinal_;
  const int64_t bytes = hlo::ByteSize(shape).value_or(0);
  const runtime::AbstractSession* const abstract = session->options().abstract.get();
  // A value that would become a placeholder is not staged in the arena, because its bytes are never sent.
  if (abstract == nullptr || !abstract->IsLarge(bytes)) state.arena = session->arena();
  if (bytes > session->daemon().limits.inline_bytes_max && state.arena != nullptr &&
      bytes <= state.arena->size()) {
    ASSIGN_OR_RETURN(state.range, state.arena->Take(*session, bytes));
  }
  if (!state.range.has_value()) {
    ASSIGN_OR_RETURN(state.own, Literal::Make(state.shape, session->daemon().limits.buffer_bytes_max));
  }
  return staged;
}

StagedUpload::StagedUpload() = default;
StagedUpload::StagedUpload(StagedUpload&&) noexcept = default;
StagedUpload& StagedUpload::operator=(StagedUpload&&) noexcept = default;
StagedUpload::~StagedUpload() = default;

bool StagedUpload::shared() const { return state_ != nullptr && state_->range.has_value(); }

absl::Span<std::byte> StagedUpload::bytes() const {
  if (state_ == nullptr) return {};
  return state_->range.has_value() ? state_->arena->at(*state_->range) : state_->own.bytes();
}

absl::StatusOr<Buffer> StagedUpload::Commit(Cause cause, Caller caller) {
  if (state_ == nullptr) return FailedPrecondition("The staged upload was committed already.");
  const std::unique_ptr<runtime::StagingState> state = std::move(state_);
  if (!state->range.has_value())
    return Device(state->session, state->device).Upload(state->own, cause, caller);

  runtime::UploadRequest request;
  v1::Upload& declaration = request.declaration;
  declaration.set_device(state->session->place().OrdinalOf(state->device));
  *declaration.mutable_shape() = hlo::ToProto(state->shape);
  declaration.set_bytes(static_cast<uint64_t>(state->range->length));
  declaration.set_cause(static_cast<int>(cause));
  const runtime::DeliverEventsAtExit events;
  const runtime::Stopwatch watch;
  ASSIGN_OR_RETURN(Command sent, runtime::SendStaged(*state->session, request, *state->range, caller));
  runtime::EmitTransfer(*state->session, cause, caller, request.handle, state->shape, state->range->length,
                        state->device, sent->origin, watch.us());
  state->range.reset();  // The range belongs to the daemon until every piece is done.
  return runtime::Recorded(*state->session,
                           runtime::MakeBuffer(state->session, request.handle, state->shape, state->device,
                                               std::move(sent), false),
                           cause, caller);
}

}  // namespace hlod
