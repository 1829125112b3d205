// The entries that make buffers without bytes of the host.
#include <memory>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/shape_from.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"

namespace hlod::pjrt {

absl::Status Serve(abi::Client_CreateErrorBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  RETURN_IF_ERROR(args.client->CheckOwn(args.memory->device()));
  ASSIGN_OR_RETURN(const hlo::Shape shape, ShapeFrom(args));
  absl::Status error = ToStatus(args.error_code, args.error_message, args.error_message_size);
  if (error.ok()) return InvalidArgument("The error of an error buffer is OK.");
  args.buffer = new Buffer(*args.memory, shape, std::move(error));
  return absl::OkStatus();
}

// The elements are zeros.
absl::Status Serve(abi::Client_CreateUninitializedBuffer_Args& args) {
  RETURN_IF_ERROR(Given(args.client, "client"));
  if (args.memory == nullptr) RETURN_IF_ERROR(Given(args.device, "memory"));
  if (args.memory == nullptr) {
    ASSIGN_OR_RETURN(args.memory, args.device->default_memory());
  }
  Memory& memory = *args.memory;
  RETURN_IF_ERROR(args.client->CheckOwn(memory.device()));
  ASSIGN_OR_RETURN(const hlo::Shape shape, ShapeFrom(args));
  ASSIGN_OR_RETURN(const Literal zeros,
                   Literal::Make(shape, args.client->runtime().limits().buffer_bytes_max));
  ASSIGN_OR_RETURN(hlod::Buffer value,
                   memory.device().runtime().Upload(zeros, Cause::kUpload, CurrentLine()));
  ASSIGN_OR_RETURN(DimensionOrder order, OrderFrom(args.shape_layout, shape));
  args.buffer = new Buffer(memory, std::move(value), /*end=*/nullptr, std::move(order));
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
