// Reads a serialized protobuf message across the slices of a gRPC buffer, for messages whose large field is
// not copied by protobuf.
#pragma once

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace hlod::rpc {

// Walks over bytes in `slices`, which outlive it.
class SliceReader {
 public:
  explicit SliceReader(const std::vector<grpc::Slice>& slices) : slices_(slices) {
    for (const grpc::Slice& slice : slices) left_ += slice.size();
    Settle();
  }

  // The bytes that were not read yet.
  size_t left() const { return left_; }

  // Reads a base-128 number, and appends its bytes to `raw` unless that is null. False where the buffer ends
  // within it, or where it is longer than 64 bits.
  bool Varint(uint64_t* value, std::string* raw = nullptr) {
    *value = 0;
    for (int shift = 0; shift < 64 && left_ > 0; shift += 7) {
      const uint8_t byte = slices_[slice_].begin()[offset_];
      if (raw != nullptr) raw->push_back(static_cast<char>(byte));
      Advance(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  // Reads `bytes` bytes, at most left(), and calls each(absl::Span<const std::byte>) per contiguous piece.
  template <typename F>
  void Take(size_t bytes, F each) {
    while (bytes > 0) {
      const size_t run = std::min(bytes, slices_[slice_].size() - offset_);
      each(absl::MakeConstSpan(reinterpret_cast<const std::byte*>(slices_[slice_].begin()) + offset_, run));
      Advance(run);
      bytes -= run;
    }
  }
  // Reads `bytes` bytes, at most left(), and appends them to `out`.
  void Append(size_t bytes, std::string& out) {
    Take(bytes, [&](absl::Span<const std::byte> piece) {
      out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
  }

 private:
  void Advance(size_t bytes) {
    offset_ += bytes;
    left_ -= bytes;
    Settle();
  }
  // Goes on to the next slice that has bytes.
  void Settle() {
    while (slice_ < slices_.size() && offset_ == slices_[slice_].size()) {
      ++slice_;
      offset_ = 0;
    }
  }

  const std::vector<grpc::Slice>& slices_;
  size_t slice_ = 0, offset_ = 0, left_ = 0;
};

}  // namespace hlod::rpc
