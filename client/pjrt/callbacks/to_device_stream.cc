// Streams to a running program, and the entries about them.
#include "client/pjrt/callbacks/to_device_stream.h"

#include <utility>

#include "client/pjrt/abi/transfer.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/events/event.h"

namespace hlod::pjrt {

CopyToDeviceStream::CopyToDeviceStream(std::vector<Device*> devices, int64_t channel, hlo::Shape shape,
                                       Execution execution, std::shared_ptr<Completion> end)
    : client_(devices.front()->client().shared_from_this()),
      devices_(std::move(devices)),
      channel_(channel),
      shape_(std::move(shape)),
      total_(hlo::ByteSize(shape_).value_or(0)),
      execution_(std::move(execution)),
      line_(CurrentLine()),
      end_(std::move(end)) {}

CopyToDeviceStream::~CopyToDeviceStream() {
  absl::Status cut_short;
  {
    absl::MutexLock lock(&mu_);
    if (sent_) return;
    cut_short = FailedPrecondition("The stream to channel %d was destroyed after %d of %d bytes.", channel_,
                                   current_bytes_, total_);
  }
  Fail(std::move(cut_short));
}

void CopyToDeviceStream::Fail(absl::Status error) {
  if (end_->Set(std::move(error))) execution_.Cancel();
}

absl::Status CopyToDeviceStream::Add(const void* data, size_t size) {
  absl::Span<const std::byte> whole;
  {
    absl::MutexLock lock(&mu_);
    if (size > static_cast<size_t>(total_ - current_bytes_)) {
      return InvalidArgument("A chunk of %d bytes after %d is too large: the value has %d.", size,
                             current_bytes_, total_);
    }
    if (size > 0) RETURN_IF_ERROR(Given(data, "chunk.data"));
    if (sent_) return absl::OkStatus();
    const absl::Span<const std::byte> chunk(static_cast<const std::byte*>(data), size);
    const bool is_whole = static_cast<int64_t>(size) == total_;
    if (!is_whole) bytes_.insert(bytes_.end(), chunk.begin(), chunk.end());
    current_bytes_ += static_cast<int64_t>(size);
    if (current_bytes_ < total_) return absl::OkStatus();
    sent_ = true;  // From now on bytes_ stays as it is.
    whole = is_whole ? chunk : bytes_;
  }
  // A framework ends the process when a chunk fails, so the failure becomes the error of the execution.
  for (const Device* const device : devices_) {
    const absl::StatusOr<hlod::Buffer> value = device->runtime().Upload(whole, shape_, Cause::kUpload, line_);
    absl::Status sent = value.status();
    if (sent.ok()) sent = execution_.Send(device->runtime(), {&*value, 1}, channel_, line_);
    if (!sent.ok()) Fail(std::move(sent));
  }
  return absl::OkStatus();
}

int64_t CopyToDeviceStream::current_bytes() const {
  absl::MutexLock lock(&mu_);
  return current_bytes_;
}

absl::Status Serve(abi::CopyToDeviceStream_Destroy_Args& args) {
  delete args.stream;
  return absl::OkStatus();
}

absl::Status Serve(abi::CopyToDeviceStream_AddChunk_Args& args) {
  RETURN_IF_ERROR(Given(args.stream, "stream"));
  RETURN_IF_ERROR(Given(args.chunk, "chunk"));
  const abi::Chunk& chunk = *args.chunk;
  const absl::Status added = args.stream->Add(chunk.data, chunk.size);
  if (chunk.deleter != nullptr) chunk.deleter(chunk.data, chunk.deleter_arg);
  RETURN_IF_ERROR(added);
  args.transfer_complete = new Event(Completion::Done(absl::OkStatus()));
  return absl::OkStatus();
}

absl::Status Serve(abi::CopyToDeviceStream_TotalBytes_Args& args) {
  RETURN_IF_ERROR(Given(args.stream, "stream"));
  args.total_bytes = args.stream->total_bytes();
  return absl::OkStatus();
}

absl::Status Serve(abi::CopyToDeviceStream_GranuleSize_Args& args) {
  RETURN_IF_ERROR(Given(args.stream, "stream"));
  args.granule_size_in_bytes = 1;
  return absl::OkStatus();
}

absl::Status Serve(abi::CopyToDeviceStream_CurrentBytes_Args& args) {
  RETURN_IF_ERROR(Given(args.stream, "stream"));
  args.current_bytes = args.stream->current_bytes();
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
