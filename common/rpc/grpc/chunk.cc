// Encodes and decodes hlod.v1.Chunk by hand: protobuf would copy each payload two more times.
#include "common/rpc/grpc/chunk.h"

#include "common/rpc/crc32c.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <vector>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/grpc/slice_reader.h"

namespace hlod::rpc {
namespace {

using google::protobuf::io::CodedOutputStream;

// Field tags of Chunk: number << 3 | wire type (2 length-delimited, 0 varint).
constexpr uint32_t kTransferTag = 1 << 3 | 2, kCrcTag = 2 << 3 | 0, kDataTag = 3 << 3 | 2;

absl::Status Malformed() {
  return MakeError(ErrorKind::kViolation, "A bulk chunk is not a well-formed hlod.v1.Chunk.");
}

}  // namespace

grpc::ByteBuffer EncodeChunk(const v1::TransferId* transfer, absl::Span<const std::byte> data) {
  return EncodeChunkSlice(transfer, grpc::Slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE));
}

grpc::ByteBuffer EncodeChunkSlice(const v1::TransferId* transfer, const grpc::Slice& data) {
  std::string header;
  uint8_t varint[10];
  const auto put = [&](uint64_t value) {
    header.append(reinterpret_cast<char*>(varint),
                  CodedOutputStream::WriteVarint64ToArray(value, varint) - varint);
  };
  if (transfer != nullptr) {
    const std::string bytes = transfer->SerializeAsString();
    put(kTransferTag);
    put(bytes.size());
    header += bytes;
  }
  put(kCrcTag);
  put(Crc32c({reinterpret_cast<const std::byte*>(data.begin()), data.size()}));
  put(kDataTag);
  put(data.size());
  const grpc::Slice slices[2] = {grpc::Slice(header), data};
  return grpc::ByteBuffer(slices, 2);
}

absl::StatusOr<ReceivedChunk> DecodeChunk(
    grpc::ByteBuffer& buffer,
    const std::function<absl::StatusOr<absl::Span<std::byte>>(const ReceivedChunk&)>& out) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return Malformed();
  SliceReader reader(slices);
  ReceivedChunk chunk;
  while (reader.left() > 0) {
    uint64_t tag, value;
    if (!reader.Varint(&tag) || !reader.Varint(&value)) return Malformed();
    if (tag == kCrcTag) {
      chunk.crc32c = static_cast<uint32_t>(value);
      continue;
    }
    if ((tag != kTransferTag && tag != kDataTag) || value > reader.left()) return Malformed();
    if (tag == kTransferTag) {
      if (value > 1024) return Malformed();
      std::string bytes;
      reader.Append(value, bytes);
      if (!chunk.transfer.ParseFromString(bytes)) return Malformed();
      chunk.has_transfer = true;
      continue;
    }
    chunk.size = static_cast<int64_t>(value);
    ASSIGN_OR_RETURN(const absl::Span<std::byte> target, out(chunk));
    if (target.size() < value) {
      return InvalidArgument("A chunk has %d bytes where at most %d are expected.", value, target.size());
    }
    uint32_t crc = 0;
    std::byte* at = target.data();
    reader.Take(value, [&](absl::Span<const std::byte> piece) {
      std::memcpy(at, piece.data(), piece.size());
      // The checksum is computed from the stored bytes, so that it also covers the copy.
      crc = Crc32c({at, piece.size()}, crc);
      at += piece.size();
    });
    if (crc != chunk.crc32c) {
      return MakeError(ErrorKind::kCorrupt,
                       absl::StrFormat("A chunk of %d bytes has the checksum %08x; %08x was sent.", value,
                                       crc, chunk.crc32c));
    }
  }
  return chunk;
}

}  // namespace hlod::rpc
