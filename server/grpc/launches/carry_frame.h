// Frames of Carrier.Carry as raw gRPC byte buffers: data is copied once where it is sent, and once where it
// is received.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/hlod/v1/carry.pb.h"

namespace hlod::grpc_server {

// The most bytes of data in a frame that is sent. The receiver's room for a connection (receive_quota.h)
// holds such frames of many messages at once: gRPC grants each message that is being read all of its frame,
// and resets calls for which there is no room.
inline constexpr size_t kCarryFrameBytes = size_t{64} << 10;
// A message of up to this size is one frame, so that it costs one way. The first frame of a longer one only
// names it: so little is held for a message that comes before anybody waits for it.
inline constexpr size_t kCarryWholeBytes = size_t{4} << 10;

using Pieces = std::vector<absl::Span<const std::byte>>;

// Returns a serialized frame: the fields of `frame`, and the pieces as its data, with their checksum.
grpc::ByteBuffer EncodeCarryFrame(v1::CarryFrame frame, const Pieces& pieces);

// A received frame: its fields without data, and the data in the received buffer.
struct ReceivedCarry {
  v1::CarryFrame frame;
  std::vector<grpc::Slice> slices;  // They keep the bytes of `data`.
  Pieces data;
  size_t size = 0;  // The bytes of `data`.
};
// Returns an error of kind violation for bytes that are no frame, or one that is too long.
absl::StatusOr<ReceivedCarry> DecodeCarryFrame(grpc::ByteBuffer& buffer);

}  // namespace hlod::grpc_server
