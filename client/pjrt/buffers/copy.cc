// The entries that copy a buffer to another memory or device.
#include <memory>

#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/programs/call_location.h"
#include "client/runtime/preflight/abstract_session.h"

namespace hlod::pjrt {
namespace {

// Within a device all memories are one, and values never change: the copy shares the value. To another device
// it goes by way of the host.
absl::StatusOr<Buffer*> CopyTo(const Buffer& buffer, Memory& memory) {
  const LineScope line(FoundLine());
  ASSIGN_OR_RETURN(const hlod::Buffer value, buffer.value());
  if (&memory.device() == &buffer.device()) {
    auto* const same = new Buffer(memory, value);
    same->set_lineage(buffer.lineage());
    return same;
  }
  if (&memory.device().client() != &buffer.client())
    return Unimplemented("A copy from one client of hlod to another.");
  if (value.is_placeholder()) {
    ASSIGN_OR_RETURN(hlod::Buffer copy, runtime::UploadWithoutBytes(memory.device().runtime(), value.shape(),
                                                                    Cause::kImplicitUpload, CurrentLine()));
    auto* const copied = new Buffer(memory, std::move(copy));
    copied->set_lineage(buffer.lineage());
    return copied;
  }
  ASSIGN_OR_RETURN(const Literal literal, value.ToLiteral(Cause::kImplicitDownload, CurrentLine()));
  ASSIGN_OR_RETURN(hlod::Buffer copy,
                   memory.device().runtime().Upload(literal, Cause::kImplicitUpload, CurrentLine()));
  return new Buffer(memory, std::move(copy));
}

}  // namespace

absl::Status Serve(abi::Buffer_CopyToDevice_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  RETURN_IF_ERROR(Given(args.dst_device, "dst_device"));
  ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, args.dst_device->default_memory()));
  return absl::OkStatus();
}

absl::Status Serve(abi::Buffer_CopyToMemory_Args& args) {
  RETURN_IF_ERROR(Given(args.buffer, "buffer"));
  RETURN_IF_ERROR(Given(args.dst_memory, "dst_memory"));
  ASSIGN_OR_RETURN(args.dst_buffer, CopyTo(*args.buffer, *args.dst_memory));
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
