// What the three ways of a transfer have in common, and the choice among them.
#include "client/runtime/transfer.h"

#include <immintrin.h>

#include <cstring>
#include <utility>

namespace hlod::internal {
namespace {

constexpr size_t kStreamingCopyMin = 256 << 10;

class Failed : public PendingDownload {
 public:
  explicit Failed(absl::Status status) : status_(std::move(status)) {}
  bool Ready() override { return true; }
  absl::Status Await(absl::Time) override { return status_; }

 private:
  const absl::Status status_;
};

}  // namespace

bool CommandDownload::Ready() {
  if (!command_->done.load(std::memory_order_acquire)) session_->Drain();
  return command_->done.load(std::memory_order_acquire);
}

Transfer& ChooseTransfer(Session& session, int64_t bytes) {
  if (bytes <= session.limits().inline_bytes_max) return InlineTransfer();
  return session.arena() != nullptr ? ArenaTransfer() : StreamTransfer();
}

Command AddUpload(Session::Sender& sender, UploadRequest& request,
                  absl::FunctionRef<void(v1::Upload&)> payload) {
  if (request.handle == 0) request.handle = sender.NewHandle();
  v1::Command command;
  v1::Upload& upload = *command.mutable_upload();
  upload = request.declaration;
  upload.set_handle(request.handle);
  payload(upload);
  return sender.Add(std::move(command));
}

v1::Command MakeDownload(uint64_t handle, Cause cause) {
  v1::Command command;
  command.mutable_download()->set_handle(handle);
  command.mutable_download()->set_cause(static_cast<int>(cause));
  return command;
}

std::unique_ptr<PendingDownload> FailedDownload(absl::Status status) {
  return std::make_unique<Failed>(std::move(status));
}

void CopyBulk(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes < kStreamingCopyMin || reinterpret_cast<uintptr_t>(to) % 16 != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  size_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + 16));
    const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + 32));
    const __m128i d = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + 48));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), a);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + 16), b);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + 32), c);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + 48), d);
  }
  _mm_sfence();
  std::memcpy(to + i, from + i, bytes - i);
}

}  // namespace hlod::internal
