// Buffers, and the entries that ask about one.
#include "client/pjrt/buffers/buffer.h"

#include <atomic>
#include <utility>

#include "client/pjrt/buffers/element_type.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"
#include "client/runtime/session/state.h"

namespace hlod::pjrt {

const std::shared_ptr<runtime::Session>& SessionOf(const hlod::Buffer& buffer) {
  return buffer.internal_state()->session;
}

runtime::Command ProducerOf(const hlod::Buffer& buffer) {
  runtime::BufferState& state = *buffer.internal_state();
  absl::MutexLock lock(&state.mu);
  return state.producer;
}

Buffer::Buffer(Memory& memory, hlod::Buffer value, std::shared_ptr<Completion> end, DimensionOrder order)
    : client_(memory.device().client().shared_from_this()),
      memory_(memory),
      shape_(value.shape()),
      minor_to_major_(order.empty() ? RowMajorOrder(shape_.dims.size()) : std::move(order)),
      end_(std::move(end)),
      value_(std::move(value)) {
  device().held().Add(this, hlo::ByteSize(shape_).value_or(0), ProducerOf(*value_));
}

Buffer::Buffer(Memory& memory, const hlo::Shape& shape, Make make, DimensionOrder order)
    : client_(memory.device().client().shared_from_this()),
      memory_(memory),
      shape_(shape),
      minor_to_major_(std::move(order)),
      make_(std::move(make)) {
  device().held().Add(this, hlo::ByteSize(shape_).value_or(0), nullptr);
}

Buffer::~Buffer() { Delete(); }

Buffer::Buffer(Memory& memory, const hlo::Shape& shape, absl::Status error)
    : client_(memory.device().client().shared_from_this()),
      memory_(memory),
      shape_(shape),
      minor_to_major_(RowMajorOrder(shape.dims.size())),
      error_(std::move(error)) {}

Buffer::Buffer(Memory& memory, const hlo::Shape& shape, std::shared_ptr<PromisedValue> promised,
               DimensionOrder order)
    : client_(memory.device().client().shared_from_this()),
      memory_(memory),
      shape_(shape),
      minor_to_major_(std::move(order)),
      promised_(std::move(promised)),
      end_(promised_->end()) {
  device().held().Add(this, hlo::ByteSize(shape_).value_or(0), nullptr);
}

absl::StatusOr<hlod::Buffer> Buffer::value() const {
  absl::MutexLock lock(&mu_);
  if (deleted_) return InvalidArgument("Buffer has been deleted or donated.");
  if (!error_.ok()) return error_;
  if (promised_ != nullptr) return promised_->Get();
  if (make_ != nullptr) {
    absl::StatusOr<hlod::Buffer> made = std::exchange(make_, nullptr)();
    if (made.ok()) value_ = *std::move(made);
    else make_error_ = made.status();
  }
  if (!make_error_.ok()) return make_error_;
  return *value_;
}

absl::StatusOr<std::shared_ptr<const Literal>> Buffer::AtItsSizes() const {
  {
    absl::MutexLock lock(&mu_);
    if (!deleted_ && at_its_sizes_ != nullptr) return at_its_sizes_;
  }
  ASSIGN_OR_RETURN(const hlod::Buffer value, this->value());
  ASSIGN_OR_RETURN(Literal read, value.ToLiteral(Cause::kDownload, CurrentLine()));
  absl::MutexLock lock(&mu_);
  // A value that another thread has read meanwhile stays, because frameworks keep pointers to its sizes.
  if (at_its_sizes_ == nullptr) at_its_sizes_ = std::make_shared<const Literal>(std::move(read));
  return at_its_sizes_;
}

std::shared_ptr<Completion> Buffer::ready() const {
  if (promised_ != nullptr && !IsDeleted()) return promised_->end();
  const absl::StatusOr<hlod::Buffer> value = this->value();
  if (!value.ok()) return Completion::Done(value.status());
  if (end_ != nullptr) return end_;
  return client().AwaitedEndOf(SessionOf(*value), ProducerOf(*value));
}

bool Buffer::IsDeleted() const {
  absl::MutexLock lock(&mu_);
  return deleted_;
}

void Buffer::Delete() {
  std::optional<hlod::Buffer> value;
  Make make;
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(deleted_, true)) return;
    value.swap(value_);
    make.swap(make_);
  }
  if (promised_ != nullptr) promised_->Drop();
  if (error_.ok()) device().held().Remove(this, hlo::ByteSize(shape_).value_or(0));
}

bool Buffer::IsSoleUser(const hlod::Buffer& value) const {
  absl::MutexLock lock(&mu_);
  return holds_ == 0 && value.internal_state().use_count() <= 2;
}

// Returns a multiple of 64 that is never 0, as addresses are.
uintptr_t Buffer::NextIdentity() {
  static std::atomic<uintptr_t> last = 0;
  return 64 * ++last;
}

void Buffer::AddHold() {
  absl::MutexLock lock(&mu_);
  ++holds_;
}

absl::Status Buffer::RemoveHold() {
  absl::MutexLock lock(&mu_);
  if (holds_ == 0) return InvalidArgument("The buffer has no external reference that could be given up.");
  --holds_;
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_Destroy_Args& args) {
  delete args.buffer;
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_ElementType_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.type = ToBufferType(args.buffer->shape().type);
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_Dimensions_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.dims = args.buffer->shape().dims.data();
  args.num_dims = args.buffer->shape().dims.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_UnpaddedDimensions_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  const hlo::Shape* shape = &args.buffer->shape();
  if (shape->HasDynamicDimension()) {
    ASSIGN_OR_RETURN(const std::shared_ptr<const Literal> value, args.buffer->AtItsSizes());
    shape = &value->shape();  // The buffer keeps the value.
  }
  args.unpadded_dims = shape->dims.data();
  args.num_dims = shape->dims.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_DynamicDimensionIndices_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_GetMemoryLayout_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.layout = {};
  args.layout.struct_size = sizeof(args.layout);
  args.layout.type = abi::LayoutType::kTiled;
  args.layout.tiled.struct_size = sizeof(args.layout.tiled);
  args.layout.tiled.minor_to_major = args.buffer->minor_to_major().data();
  args.layout.tiled.minor_to_major_size = args.buffer->minor_to_major().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_OnDeviceSizeInBytes_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.on_device_size_in_bytes = static_cast<size_t>(hlo::ByteSize(args.buffer->shape()).value_or(0));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_Device_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.device = &args.buffer->device();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_Memory_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.memory = &args.buffer->memory();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_Delete_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.buffer->Delete();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_IsDeleted_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.is_deleted = args.buffer->IsDeleted();
  return absl::OkStatus();
}

// Returns false even if the daemon is on this host: frameworks would read the bytes, which are in the
// daemon's memory.
absl::Status Serve(abi::Buffer_IsOnCpu_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.is_on_cpu = false;
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_UnsafePointer_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  RETURN_IF_ERROR(args.buffer->value().status());
  args.buffer_pointer = args.buffer->identity();
  return absl::OkStatus();
}

// A device's memory is the daemon's: its addresses mean nothing in this process.
absl::Status Serve(abi::Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  return Unimplemented(
      "An array of hlod lies in its daemon's memory, so that this process has no pointer to it, which DLPack "
      "needs: copy the array to the host (x.cpu() in PyTorch, numpy.asarray(x) in JAX).");
}

absl::Status Serve(abi::Buffer_ReadyEvent_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.event = new Event(args.buffer->ready());
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_IncreaseExternalReferenceCount_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  args.buffer->AddHold();
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_DecreaseExternalReferenceCount_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  return args.buffer->RemoveHold();
}

}  // namespace hlod::pjrt
