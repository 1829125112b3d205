// Finds the field at the message's end; elsewhere its bytes could mean something else.
#include "common/rpc/grpc/checksum.h"

#include <algorithm>
#include <vector>

#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::rpc {
namespace {

// The field's tag: number << 3 | wire type (5: fixed32).
constexpr uint8_t kTag = v1::ClientMessage::kCrc32CFieldNumber << 3 | 5;
static_assert(kTag == (v1::ServerMessage::kCrc32CFieldNumber << 3 | 5));
static_assert(v1::ClientMessage::kCrc32CFieldNumber < 16, "The tag is one byte.");

}  // namespace

void WriteChecksum(uint32_t crc32c, uint8_t* to) {
  *to = kTag;
  for (int i = 0; i < 4; ++i) to[i + 1] = static_cast<uint8_t>(crc32c >> 8 * i);
}

absl::Status ChecksumReader::Check(const grpc::ByteBuffer& message) {
  if (!std::exchange(first_, false) && !seen_) return absl::OkStatus();  // This peer does not send checksums.
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return DataLoss("A message cannot be read.");
  size_t left = message.Length();
  if (left < kChecksumBytes)
    return seen_ ? DataLoss("A message ends without its checksum.") : absl::OkStatus();
  left -= kChecksumBytes;
  uint32_t crc = 0;
  uint8_t tail[kChecksumBytes], expected[kChecksumBytes];
  uint8_t* end = tail;
  for (const grpc::Slice& slice : slices) {
    const size_t covered = std::min(left, slice.size());
    crc = Crc32c({reinterpret_cast<const std::byte*>(slice.begin()), covered}, crc);
    left -= covered;
    end = std::copy(slice.begin() + covered, slice.end(), end);
  }
  WriteChecksum(crc, expected);
  if (std::equal(std::begin(tail), std::end(tail), std::begin(expected))) {
    seen_ = true;
    return absl::OkStatus();
  }
  if (!seen_) return absl::OkStatus();
  return DataLoss("A message of %d bytes does not have its checksum: it is not what was sent.",
                  message.Length());
}

}  // namespace hlod::rpc
