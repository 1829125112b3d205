// Buffers whose bytes come piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/buffers/buffer.h"
#include "client/pjrt/buffers/promised_value.h"
#include "client/pjrt/buffers/strides.h"

namespace hlod::pjrt {

// Collects the pieces of each buffer in this process, and uploads the buffer with its last piece. A buffer
// can be retrieved before; programs that take it wait for that piece. Thread-safe.
class HostToDeviceTransfers {
 public:
  struct Entry {
    hlo::Shape shape;
    DimensionOrder order;  // The layout of the pieces, and of the buffer.
  };
  HostToDeviceTransfers(Memory& memory, std::vector<Entry> entries);
  // Fails the buffers that are not complete.
  ~HostToDeviceTransfers();

  Memory& memory() const { return memory_; }
  size_t count() const { return transfers_.size(); }
  absl::StatusOr<size_t> ByteSize(int index) const;
  // Returns a new buffer, once per index.
  absl::StatusOr<Buffer*> Retrieve(int index);
  // Copies a piece; `is_last` sends the buffer. Bytes that no piece contained are zeros.
  absl::Status Add(int index, const void* data, int64_t offset, int64_t size, bool is_last);
  // Sends a whole buffer, whose elements have these strides.
  absl::Status AddWhole(int index, const void* data, const hlo::Shape& shape, const Strides& strides);
  absl::Status Fail(int index, absl::Status error);

 private:
  struct Transfer {
    Entry entry;
    const std::shared_ptr<PromisedValue> value = std::make_shared<PromisedValue>();
    std::vector<std::byte> bytes;
    bool retrieved = false, sent = false;
  };
  absl::StatusOr<Transfer*> Find(int index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Uploads a buffer that is marked as sent. Is called without the lock, because callbacks that wait for the
  // value run here, and may use or destroy this manager.
  absl::Status Send(const Transfer& transfer, const std::byte* data, const Strides& strides)
      ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<Client> client_;  // The memory is the client's.
  Memory& memory_;
  absl::Mutex mu_;
  std::vector<Transfer> transfers_;  // The number of entries, their shapes and values are constant.
};

}  // namespace hlod::pjrt
