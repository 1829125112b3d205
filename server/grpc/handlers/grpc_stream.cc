// Writes messages to the ring while they fit, else to the call, and tells the client which way comes next.
#include "server/grpc/handlers/grpc_stream.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/grpc/checksum.h"

namespace hlod::grpc_server {
namespace {

// The field `ring` of a ServerMessage, true. Fields may come in any order, except the checksum.
constexpr uint8_t kRingField[] = {v1::ServerMessage::kRingFieldNumber << 3, 1};

}  // namespace

void GrpcStream::UseRing(rpc::RingPlace place, std::function<void(const absl::Status&)> broken) {
  MutexLock lock(&mu_);
  ring_ = std::make_unique<rpc::RingWriter>(place);
  uses_ring_ = true;
  broken_ = std::move(broken);
}

void GrpcStream::DropRing() {
  MutexLock lock(&mu_);
  uses_ring_ = false;
  ring_.reset();
  broken_ = nullptr;
  in_ring_ = false;
}

bool GrpcStream::Write(const v1::ServerMessage& message) {
  MutexLock lock(&mu_);
  bool next_in_ring = false;
  if (ring_ != nullptr) {
    absl::StatusOr<bool> written = WriteToRing(message);
    if (written.ok() && *written) return true;
    if (written.ok()) written = ring_->IsHalfFree();
    if (!written.ok()) {
      OnBroken(written.status());
    } else {
      next_in_ring = *written;
    }
  }
  in_ring_ = next_in_ring;
  grpc::ByteBuffer bytes = Encode(message, next_in_ring);
  registry_.wire_bytes_out += static_cast<int64_t>(bytes.Length());
  call_->Write(std::move(bytes));
  return false;
}

absl::StatusOr<bool> GrpcStream::WriteToRing(const v1::ServerMessage& message) {
  if (!in_ring_) return false;
  const size_t size = message.ByteSizeLong();
  if (size <= rpc::RingPair::kMessageBytes) {
    bytes_.resize(size);
    message.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(bytes_.data()));
    const absl::Span<const std::byte> part(reinterpret_cast<const std::byte*>(bytes_.data()), size);
    ASSIGN_OR_RETURN(const bool written, ring_->Write({&part, 1}));
    if (written) {
      registry_.wire_bytes_out += static_cast<int64_t>(size);
      return true;
    }
  }
  RETURN_IF_ERROR(ring_->WriteElsewhere());
  return false;
}

void GrpcStream::OnBroken(const absl::Status& status) {
  ring_.reset();
  std::exchange(broken_, nullptr)(status);
}

void GrpcStream::Finish(const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    // Wakes a client that waits in the ring. If that is broken, the client finds the end by itself.
    if (ring_ != nullptr && in_ring_) ring_->WriteElsewhere().IgnoreError();
    in_ring_ = false;
    ring_.reset();
  }
  call_->Finish(status);
}

grpc::ByteBuffer GrpcStream::Encode(const v1::ServerMessage& message, bool ring) const {
  const size_t size = message.ByteSizeLong(), field = ring ? sizeof(kRingField) : 0;
  const grpc::Slice slice(size + field + (checksums_ ? rpc::kChecksumBytes : 0));
  auto* const begin = const_cast<uint8_t*>(slice.begin());
  message.SerializeWithCachedSizesToArray(begin);
  std::copy_n(kRingField, field, begin + size);
  if (checksums_) {
    const uint32_t crc = rpc::Crc32c({reinterpret_cast<const std::byte*>(begin), size + field});
    rpc::WriteChecksum(crc, begin + size + field);
  }
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace hlod::grpc_server
