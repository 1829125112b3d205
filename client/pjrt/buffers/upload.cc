// The entry that makes a buffer from memory of the host.
#include "client/pjrt/buffers/upload.h"

#include <memory>
#include <utility>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/session.h"

namespace hlod::pjrt {
namespace {

// Returns the requested memory: newer frameworks name the memory, older ones only the device.
absl::StatusOr<Memory*> MemoryOf(Client& client, Device* device, Memory* memory) {
  if (memory == nullptr && device != nullptr) {
    ASSIGN_OR_RETURN(memory, device->default_memory());
  }
  if (memory == nullptr) memory = client.memories().front();
  RETURN_IF_ERROR(client.CheckOwn(memory->device()));
  return memory;
}

// Sets the upper bits of elements that are narrower than their byte. Frameworks leave these bits undefined;
// the daemon's arrays have the number's sign in them, or zeros if it has none.
void SetUpperBits(absl::Span<std::byte> elements, hlo::PrimitiveType type) {
  const int unused = 8 - hlo::Info(type).bits;
  for (std::byte& element : elements) {
    const auto shifted = static_cast<uint8_t>(static_cast<uint8_t>(element) << unused);
    element = hlo::IsSigned(type) ? static_cast<std::byte>(static_cast<int8_t>(shifted) >> unused)
                                  : static_cast<std::byte>(shifted >> unused);
  }
}

// Returns a copy of an array as the daemon's arrays are: row-major, with upper bits set.
absl::StatusOr<hlod::StagedUpload> Staged(const hlod::Device& device, const std::byte* data,
                                          const Strides& strides, const hlo::Shape& shape) {
  ASSIGN_OR_RETURN(hlod::StagedUpload staged, device.Stage(shape, CurrentLine()));
  CopyStrided(staged.bytes().data(), RowMajorStrides(shape), data, strides, shape);
  if (hlo::Info(shape.type).bits < 8) SetUpperBits(staged.bytes(), shape.type);
  return staged;
}

// Uploads an array that is not row-major, or whose upper bits have to be set.
absl::StatusOr<hlod::Buffer> UploadRearranged(const hlod::Device& device, const std::byte* data,
                                              const Strides& strides, const hlo::Shape& shape) {
  ASSIGN_OR_RETURN(hlod::StagedUpload staged, Staged(device, data, strides, shape));
  return staged.Commit(Cause::kUpload, CurrentLine());
}

// Returns a function that uploads the array when it is first used, on behalf of the line of that use. It
// keeps a copy of the bytes, except of a large array of an abstract session, which is never sent.
absl::StatusOr<Buffer::Make> UploadWhenUsed(const hlod::Device& device, const std::byte* data,
                                            const Strides& strides, const hlo::Shape& shape) {
  const int64_t bytes = hlo::ByteSize(shape).value_or(0);
  const runtime::AbstractSession* const abstract = device.internal_session()->options().abstract.get();
  if (abstract != nullptr && abstract->IsLarge(bytes))
    return [=] { return runtime::UploadWithoutBytes(device, shape, Cause::kUpload, CurrentLine()); };
  ASSIGN_OR_RETURN(hlod::StagedUpload staged, Staged(device, data, strides, shape));
  return [kept = std::make_shared<hlod::StagedUpload>(std::move(staged))] {
    return kept->Commit(Cause::kUpload, CurrentLine());
  };
}

// Returns true when the strides are those of the dense row-major array. Dimensions of size 1 may have any.
bool IsDense(const Strides& strides, const hlo::Shape& shape) {
  const Strides dense = RowMajorStrides(shape);
  for (size_t i = 0; i < dense.size(); ++i) {
    if (shape.dims[i] != 1 && strides[i] != dense[i]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<hlod::Buffer> UploadArray(const hlod::Device& device, const std::byte* data,
                                         const Strides& strides, const hlo::Shape& shape) {
  const auto bytes = static_cast<size_t>(hlo::ByteSize(shape).value_or(0));
  if (bytes == 0 || !shape.IsArray() || (hlo::Info(shape.type).bits >= 8 && IsDense(strides, shape)))
    return device.Upload({data, bytes}, shape, Cause::kUpload, CurrentLine());
  return UploadRearranged(device, data, strides, shape);
}

// Every semantics of the host's buffer is honoured, because the bytes are copied before the call returns.
//
// The Python package states the line of a transfer, except for NumPy arrays that are passed to a jitted
// function: JAX uploads these without a call of Python. Therefore they are sent with the execution, which has
// a line.
absl::Status Serve(abi::Client_BufferFromHostBuffer_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.client, "client"));
  ASSIGN_OR_RETURN(const hlo::Shape shape, ShapeFrom(args.type, args.dims, args.num_dims));
  ASSIGN_OR_RETURN(Memory* const memory, MemoryOf(*args.client, args.device, args.memory));
  if (hlo::ByteSize(shape).value_or(0) > 0) RETURN_IF_ERROR(Given(args.data, "data"));
  ASSIGN_OR_RETURN(DimensionOrder order, OrderFrom(args.device_layout, shape));
  Strides strides = shape.IsArray() ? RowMajorStrides(shape) : Strides();
  if (args.byte_strides != nullptr && shape.IsArray()) {
    if (args.num_byte_strides != args.num_dims) {
      return InvalidArgument("%d byte_strides are given for %d dimensions.", args.num_byte_strides,
                             args.num_dims);
    }
    strides.assign(args.byte_strides, args.byte_strides + args.num_byte_strides);
  }
  const hlod::Device& device = memory->device().runtime();
  const auto* const data = static_cast<const std::byte*>(args.data);
  auto done = std::make_unique<Event>(Completion::Done(absl::OkStatus()));
  if (LinesAreStated() && CurrentLine().line == 0 && hlo::ByteSize(shape).value_or(0) > 0) {
    ASSIGN_OR_RETURN(Buffer::Make make, UploadWhenUsed(device, data, strides, shape));
    args.buffer = new Buffer(*memory, shape, std::move(make), std::move(order));
    args.done_with_host_buffer = done.release();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(hlod::Buffer value, UploadArray(device, data, strides, shape));
  args.buffer = new Buffer(*memory, std::move(value), /*end=*/nullptr, std::move(order));
  args.done_with_host_buffer = done.release();
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
