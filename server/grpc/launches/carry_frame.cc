// Reads and writes hlod.v1.CarryFrame by hand where it has data: protobuf would copy them two more times.
#include "server/grpc/launches/carry_frame.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <string>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/grpc/slice_reader.h"
#include "server/grpc/launches/peer_channel.h"

namespace hlod::grpc_server {
namespace {

using google::protobuf::io::CodedOutputStream;

// Number << 3 | wire type.
constexpr uint32_t kDataTag = v1::CarryFrame::kDataFieldNumber << 3 | 2;

absl::Status Malformed() {
  return MakeError(ErrorKind::kViolation, "A message between daemons cannot be parsed.");
}

}  // namespace

grpc::ByteBuffer EncodeCarryFrame(v1::CarryFrame frame, const Pieces& pieces) {
  size_t size = 0;
  uint32_t crc = 0;
  for (const absl::Span<const std::byte> piece : pieces) {
    crc = rpc::Crc32c(piece, crc);
    size += piece.size();
  }
  frame.clear_data();
  if (size > 0) frame.set_crc32c(crc);
  std::string head = frame.SerializeAsString();
  if (size > 0) {
    uint8_t numbers[20];
    uint8_t* end = CodedOutputStream::WriteVarint32ToArray(kDataTag, numbers);
    end = CodedOutputStream::WriteVarint64ToArray(size, end);
    head.append(reinterpret_cast<const char*>(numbers), static_cast<size_t>(end - numbers));
  }
  // gRPC may read the frame after its call has been cancelled, so it has a copy of the data.
  const grpc::Slice slice(head.size() + size);
  auto* at = const_cast<uint8_t*>(slice.begin());
  std::memcpy(at, head.data(), head.size());
  at += head.size();
  for (const absl::Span<const std::byte> piece : pieces) {
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  return {&slice, 1};
}

absl::StatusOr<ReceivedCarry> DecodeCarryFrame(grpc::ByteBuffer& buffer) {
  RETURN_IF_ERROR(CheckPeerMessage(buffer.Length()));
  ReceivedCarry received;
  if (!buffer.Dump(&received.slices).ok()) return Malformed();
  rpc::SliceReader reader(received.slices);
  std::string fields;  // All but the data.
  while (reader.left() > 0) {
    uint64_t tag = 0, value = 0;
    std::string raw;
    if (!reader.Varint(&tag, &raw)) return Malformed();
    const bool has_length = (tag & 7) == 2;
    if ((!has_length && (tag & 7) != 0) || !reader.Varint(&value, &raw)) return Malformed();
    if (has_length && value > reader.left()) return Malformed();
    if (tag == kDataTag) {
      received.data.clear();
      received.size = static_cast<size_t>(value);
      reader.Take(value, [&](absl::Span<const std::byte> piece) { received.data.push_back(piece); });
      continue;
    }
    fields += raw;
    if (has_length) reader.Append(value, fields);
  }
  if (!received.frame.ParseFromString(fields)) return Malformed();
  return received;
}

}  // namespace hlod::grpc_server
