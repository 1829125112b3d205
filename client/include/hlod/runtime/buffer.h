// A buffer on a device, or a placeholder for one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/future.h"
#include "hlod/runtime/types.h"

namespace hlod {

class Device;

namespace runtime {
struct BufferState;
}

// Refers to one buffer. Copies refer to the same buffer; its memory is freed when the last copy is destroyed,
// or at Delete(). A buffer exists from the moment it is made, although the command that fills it may still be
// running. When that command fails, a read or use of the buffer reports its error. Thread-safe. Reading or
// using a placeholder, a deleted or a donated buffer is refused here, before anything is sent:
// FAILED_PRECONDITION or NOT_FOUND with the kind, the buffer's shape and line, and the line that deleted or
// donated it.
class Buffer {
 public:
  Buffer() = default;  // Refers to no buffer: only valid() may be called.
  explicit Buffer(std::shared_ptr<runtime::BufferState> state) : state_(std::move(state)) {}

  bool valid() const { return state_ != nullptr; }
  const Shape& shape() const;
  int64_t byte_size() const;  // The size of the dense array; of a result with dynamic dimensions, in the form
                              // of common/hlo/dynamic/dynamic_result.h.
  int device() const;         // The device's ordinal.
  uint64_t handle() const;    // The buffer's name on the wire: unique in the session, and unchanged by Fill.
  Origin origin() const;      // The line that made it.
  // True when it has a shape but no value. False for a buffer that is pending, failed, donated or deleted.
  bool is_placeholder() const;
  // OK while it can be used; otherwise an error of kind deleted, donated (with the command and its line),
  // failed, lost_session or lost_daemon. It uses only what is known here: the daemon is not asked.
  absl::Status state() const;
  // A description, without a read: "f32[2,3] handle 7 made at model.cc:8", "..., a placeholder".
  std::string ToString() const;

  // Returns a future that is ready when the command that produces it is done: OK, or its error.
  Future<void> ready() const;

  // Waits for the value and reads it. For a result with dynamic dimensions, such as f32[<=6], the literal has
  // the actual sizes.
  absl::StatusOr<Literal> ToLiteral(Cause cause = Cause::kDownload, Caller caller = Caller::Here()) const;
  // Reads into memory of the caller, which must be byte_size() long. Waits.
  absl::Status Download(absl::Span<std::byte> out, Cause cause = Cause::kDownload,
                        Caller caller = Caller::Here()) const;
  // Starts a read without waiting for it.
  Future<Literal> ToLiteralAsync(Cause cause = Cause::kDownload, Caller caller = Caller::Here()) const;
  // Reads the element of a scalar. T must be the type's storage (float for f32). The ledger records the cause
  // scalar_read.
  template <typename T>
  absl::StatusOr<T> Item(Caller caller = Caller::Here()) const;

  // Gives a placeholder its value; the handle stays. Fails for a buffer that is not a placeholder, and for a
  // value of another shape.
  absl::Status Fill(const Literal& value, Caller caller = Caller::Here()) const;
  absl::Status Fill(absl::Span<const std::byte> bytes, Caller caller = Caller::Here()) const;

  // Copies the buffer to a device, perhaps its own one. Returns the copy at once. The copy of a placeholder
  // is a placeholder. The ledger records the cause device_copy. To a device of another daemon of the cluster
  // the bytes go through this process: the call waits for them, and the ledgers record a download and an
  // upload.
  absl::StatusOr<Buffer> CopyTo(const Device& device, Caller caller = Caller::Here()) const;

  // The parts of an array that is divided among the devices of a mesh (hlod/runtime/shards.h), one per device
  // in the mesh's order; empty for a buffer on one device. handle() and device() are then names for this
  // process, and those of the first part.
  absl::Span<const Buffer> shards() const;
  // "{devices=[2,1]<=[2]}": how it is divided, as HLO writes it; empty for a buffer on one device.
  std::string sharding() const;

  // Frees the buffer now, for every copy. A second Delete is an error of kind deleted.
  absl::Status Delete(Caller caller = Caller::Here()) const;

  // For the library.
  const std::shared_ptr<runtime::BufferState>& internal_state() const { return state_; }

 private:
  absl::Status RefuseItem(PrimitiveType type, const Caller& caller) const;

  std::shared_ptr<runtime::BufferState> state_;
};

template <typename T>
absl::StatusOr<T> Buffer::Item(Caller caller) const {
  static_assert(hlo::kPrimitiveTypeOf<T> != hlo::kInvalid, "No element type of HLO is stored as T.");
  if (shape().type != hlo::kPrimitiveTypeOf<T> || byte_size() != sizeof(T)) {
    return RefuseItem(hlo::kPrimitiveTypeOf<T>, caller);
  }
  T value;
  absl::Status status =
      Download({reinterpret_cast<std::byte*>(&value), sizeof(T)}, Cause::kScalarRead, caller);
  if (!status.ok()) return status;
  return value;
}

}  // namespace hlod
