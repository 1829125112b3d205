// The entries that copy a buffer to another memory or device.
#include <memory>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/runtime/preflight/abstract_session.h"

namespace hlod::pjrt {
namespace {

// Copies a value once it is given.
absl::StatusOr<Buffer*> CopyLater(const Buffer& buffer, Memory& memory) {
  const auto copy = std::make_shared<PromisedValue>();
  const auto use = std::make_shared<PromisedValue::Use>(buffer.promised());
  buffer.promised()->OnGiven([=, here = &memory.device() == &buffer.device(), line = CurrentLine(),
                              client = buffer.client().shared_from_this(), &memory] {
    absl::StatusOr<hlod::Buffer> value = (*use)->Get();
    if (value.ok() && !here) value = value->CopyTo(memory.device().runtime(), line);
    // Fail() returns an error only if the promise was kept or failed before.
    if (!value.ok()) (void)copy->Fail(value.status());
    else
      (void)copy->Give(*value,
                       here ? (*use)->end() : client->AwaitedEndOf(SessionOf(*value), ProducerOf(*value)));
  });
  return new Buffer(memory, buffer.shape(), copy, buffer.minor_to_major());
}

// Within a device, all memories are one and values never change, so the copy shares the value, and the
// completion of one that is not computed yet.
absl::StatusOr<Buffer*> CopyTo(const Buffer& buffer, Memory& memory) {
  const LineScope line(FoundLine());
  if (&memory.device().client() != &buffer.client())
    return Unimplemented("A copy from one client of hlod to another.");
  if (buffer.promised() != nullptr && !buffer.IsDeleted() && !buffer.promised()->IsGiven())
    return CopyLater(buffer, memory);
  ASSIGN_OR_RETURN(const hlod::Buffer value, buffer.value());
  const bool here = &memory.device() == &buffer.device();
  std::unique_ptr<Buffer> copied;
  if (here) {
    copied = std::make_unique<Buffer>(memory, value, buffer.end(), buffer.minor_to_major());
  } else {
    ASSIGN_OR_RETURN(hlod::Buffer copy, value.CopyTo(memory.device().runtime(), CurrentLine()));
    copied = std::make_unique<Buffer>(memory, std::move(copy), nullptr, buffer.minor_to_major());
  }
  if (here || value.is_placeholder()) copied->set_lineage(buffer.lineage());
  return copied.release();
}

}  // namespace

absl::Status Serve(abi::Buffer_CopyToDevice_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  RETURN_IF_ERROR(Given(args.dst_device, "dst_device"));
  ASSIGN_OR_RETURN(Memory* const memory, args.dst_device->default_memory());
  ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, *memory));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_CopyToMemory_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  RETURN_IF_ERROR(Given(args.dst_memory, "dst_memory"));
  ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, *args.dst_memory));
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
