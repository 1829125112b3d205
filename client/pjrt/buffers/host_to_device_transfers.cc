// Collects the pieces of buffers, and answers the entries about them.
#include "client/pjrt/buffers/host_to_device_transfers.h"

#include <cstring>
#include <utility>

#include "client/pjrt/abi/transfer.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/buffers/upload.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"

namespace hlod::pjrt {

HostToDeviceTransfers::HostToDeviceTransfers(Memory& memory, std::vector<Entry> entries)
    : client_(memory.device().client().shared_from_this()), memory_(memory) {
  for (Entry& entry : entries) transfers_.push_back({.entry = std::move(entry)});
}

HostToDeviceTransfers::~HostToDeviceTransfers() {
  // Fail() has no effect on buffers that have their value.
  for (Transfer& transfer : transfers_)
    (void)transfer.value->Fail(
        FailedPrecondition("The manager of the buffer's transfers was destroyed before its last one."));
}

absl::StatusOr<size_t> HostToDeviceTransfers::ByteSize(int index) const {
  if (index < 0 || index >= static_cast<int>(count()))
    return InvalidArgument("The buffer_index is %d; there are %d buffers.", index, count());
  return static_cast<size_t>(hlo::ByteSize(transfers_[static_cast<size_t>(index)].entry.shape).value_or(0));
}

absl::StatusOr<HostToDeviceTransfers::Transfer*> HostToDeviceTransfers::Find(int index) {
  RETURN_IF_ERROR(ByteSize(index).status());
  Transfer& transfer = transfers_[static_cast<size_t>(index)];
  if (transfer.sent) return FailedPrecondition("The last transfer of buffer %d was made before.", index);
  return &transfer;
}

absl::StatusOr<Buffer*> HostToDeviceTransfers::Retrieve(int index) {
  RETURN_IF_ERROR(ByteSize(index).status());
  absl::MutexLock lock(&mu_);
  Transfer& transfer = transfers_[static_cast<size_t>(index)];
  if (transfer.retrieved) return FailedPrecondition("Buffer %d was retrieved before.", index);
  transfer.retrieved = true;
  return new Buffer(memory_, transfer.entry.shape, transfer.value, transfer.entry.order);
}

absl::Status HostToDeviceTransfers::Add(int index, const void* data, int64_t offset, int64_t size,
                                        bool is_last) {
  std::vector<std::byte> pieces;  // All bytes of the buffer, unless the last piece has them all.
  Transfer* transfer;
  {
    absl::MutexLock lock(&mu_);
    ASSIGN_OR_RETURN(transfer, Find(index));
    ASSIGN_OR_RETURN(const size_t whole, ByteSize(index));
    if (offset < 0 || size < 0 || offset > static_cast<int64_t>(whole) ||
        size > static_cast<int64_t>(whole) - offset) {
      return InvalidArgument("A transfer of %d bytes at %d does not fit into buffer %d, which has %d.", size,
                             offset, index, whole);
    }
    if (size > 0) RETURN_IF_ERROR(Given(data, "data"));
    const bool is_whole = is_last && static_cast<size_t>(size) == whole;
    if (!is_whole) {
      transfer->bytes.resize(whole);
      if (size > 0) std::memcpy(transfer->bytes.data() + offset, data, static_cast<size_t>(size));
    }
    if (!is_last) return absl::OkStatus();
    transfer->sent = true;
    pieces.swap(transfer->bytes);
    if (!is_whole) data = pieces.data();
  }
  return Send(*transfer, static_cast<const std::byte*>(data),
              StridesOf(transfer->entry.order, transfer->entry.shape));
}

absl::Status HostToDeviceTransfers::AddWhole(int index, const void* data, const hlo::Shape& shape,
                                             const Strides& strides) {
  std::vector<std::byte> pieces;
  Transfer* transfer;
  {
    absl::MutexLock lock(&mu_);
    ASSIGN_OR_RETURN(transfer, Find(index));
    if (!hlo::Compatible(shape, transfer->entry.shape)) {
      return InvalidArgument("Buffer %d is of %s; the literal is of %s.", index,
                             hlo::ToStringNoLayout(transfer->entry.shape), hlo::ToStringNoLayout(shape));
    }
    ASSIGN_OR_RETURN(const size_t whole, ByteSize(index));
    if (whole > 0) RETURN_IF_ERROR(Given(data, "data"));
    transfer->sent = true;
    pieces.swap(transfer->bytes);
  }
  return Send(*transfer, static_cast<const std::byte*>(data), strides);
}

absl::Status HostToDeviceTransfers::Fail(int index, absl::Status error) {
  if (error.ok()) return InvalidArgument("The error of buffer %d is OK.", index);
  std::vector<std::byte> pieces;
  std::shared_ptr<PromisedValue> value;
  {
    absl::MutexLock lock(&mu_);
    ASSIGN_OR_RETURN(Transfer* const transfer, Find(index));
    transfer->sent = true;
    pieces.swap(transfer->bytes);
    value = transfer->value;
  }
  return value->Fail(std::move(error));
}

absl::Status HostToDeviceTransfers::Send(const Transfer& transfer, const std::byte* data,
                                         const Strides& strides) {
  const std::shared_ptr<PromisedValue> given = transfer.value;
  const std::shared_ptr<Client> client = client_;
  absl::StatusOr<hlod::Buffer> value =
      UploadArray(memory_.device().runtime(), data, strides, transfer.entry.shape);
  if (!value.ok()) return given->Fail(value.status());
  const std::shared_ptr<Completion> ready = client->AwaitedEndOf(SessionOf(*value), ProducerOf(*value));
  return given->Give(*std::move(value), ready);
}

absl::Status Serve(abi::Client_CreateBuffersForAsyncHostToDevice_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  RETURN_IF_ERROR(args.client->CheckOwn(args.memory->device()));
  if (args.num_shape_specs > 0) RETURN_IF_ERROR(Given(args.shape_specs, "shape_specs"));
  if (args.num_device_layouts != 0 && args.num_device_layouts != args.num_shape_specs)
    return InvalidArgument("%d device_layouts are given for %d shapes.", args.num_device_layouts,
                           args.num_shape_specs);
  if (args.num_device_layouts > 0) RETURN_IF_ERROR(Given(args.device_layouts, "device_layouts"));
  std::vector<HostToDeviceTransfers::Entry> entries;
  for (size_t i = 0; i < args.num_shape_specs; ++i) {
    const abi::ShapeSpec& spec = args.shape_specs[i];
    ASSIGN_OR_RETURN(hlo::Shape shape, ShapeFrom(spec.element_type, spec.dims, spec.num_dims));
    const abi::Buffer_MemoryLayout* const layout =
        args.num_device_layouts > 0 ? args.device_layouts[i] : nullptr;
    ASSIGN_OR_RETURN(DimensionOrder order, OrderFrom(layout, shape));
    entries.push_back({std::move(shape), std::move(order)});
  }
  args.transfer_manager = new HostToDeviceTransfers(*args.memory, std::move(entries));
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_Destroy_Args& args) {
  delete args.transfer_manager;
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_TransferData_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  RETURN_IF_ERROR(args.transfer_manager->Add(args.buffer_index, args.data, args.offset, args.transfer_size,
                                             args.is_last_transfer));
  args.done_with_h2d_transfer = new Event(Completion::Done(absl::OkStatus()));
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_TransferLiteral_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  ASSIGN_OR_RETURN(const hlo::Shape shape, ShapeFrom(args));
  Strides strides = shape.IsArray() ? RowMajorStrides(shape) : Strides();
  if (args.shape_layout != nullptr && shape.IsArray()) {
    ASSIGN_OR_RETURN(strides, StridesOf(*args.shape_layout, shape));
  }
  RETURN_IF_ERROR(args.transfer_manager->AddWhole(args.buffer_index, args.data, shape, strides));
  args.done_with_h2d_transfer = new Event(Completion::Done(absl::OkStatus()));
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_RetrieveBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  ASSIGN_OR_RETURN(args.buffer_out, args.transfer_manager->Retrieve(args.buffer_index));
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_Device_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  args.device_out = &args.transfer_manager->memory().device();
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_BufferCount_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  args.buffer_count = args.transfer_manager->count();
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_BufferSize_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  ASSIGN_OR_RETURN(args.buffer_size, args.transfer_manager->ByteSize(args.buffer_index));
  return absl::OkStatus();
}

absl::Status Serve(abi::AsyncHostToDeviceTransferManager_SetBufferError_Args& args) {
  RETURN_IF_ERROR(Given(args.transfer_manager, "transfer_manager"));
  return args.transfer_manager->Fail(args.buffer_index,
                                     ToStatus(args.error_code, args.error_message, args.error_message_size));
}

// Metadata is for the framework's own tracing.
absl::Status Serve(abi::AsyncHostToDeviceTransferManager_AddMetadata_Args& args) {
  return Given(args.transfer_manager, "transfer_manager");
}

}  // namespace hlod::pjrt
