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

namespace internal {
struct BufferState;
}

// Refers to one buffer. Copies refer to the same one; its memory is freed when the last copy is gone, or at
// Delete(). A buffer exists from the moment it is made: what fills it may still be under way, and may fail,
// which a read or a use then reports. Thread-safe. Reading or using a placeholder, a deleted or a donated
// buffer is refused here, before anything is sent: FAILED_PRECONDITION or NOT_FOUND with the kind, the
// buffer's shape and line, and the line that deleted or donated it.
class Buffer {
 public:
  Buffer() = default;  // Refers to nothing: only valid() may be called.
  explicit Buffer(std::shared_ptr<internal::BufferState> state) : state_(std::move(state)) {}

  bool valid() const { return state_ != nullptr; }
  const Shape& shape() const;
  int64_t byte_size()
      const;  // Dense; of a result with dynamic dimensions, as common/hlo/dynamic/dynamic_result.h stores it.
  int device() const;       // Ordinal.
  uint64_t handle() const;  // The buffer's name on the wire: unique in the session, unchanged by Fill.
  Origin origin() const;    // The line that made it.
  // True when it has a shape but no value. False for a buffer that is pending, failed, donated or deleted.
  bool is_placeholder() const;
  // OK while it can be used; else why it cannot: kind deleted, donated (with the command and its line),
  // failed, lost_session. As far as is known here: the daemon is not asked.
  absl::Status state() const;
  // "f32[2,3] handle 7 made at model.cc:8", "..., a placeholder": a description; never reads.
  std::string ToString() const;

  // Returns a future that is ready when the command that produces it is done: OK, or its error.
  Future<void> ready() const;

  // Reads the value; waits for it. For a result with dynamic dimensions, f32[<=6], the literal has the sizes
  // of the actual value.
  absl::StatusOr<Literal> ToLiteral(Cause cause = Cause::kDownload, Caller caller = Caller::Here()) const;
  // Reads into memory of the caller, which must be byte_size() long. Waits.
  absl::Status Download(absl::Span<std::byte> out, Cause cause = Cause::kDownload,
                        Caller caller = Caller::Here()) const;
  // Asks for the value without waiting.
  Future<Literal> ToLiteralAsync(Cause cause = Cause::kDownload, Caller caller = Caller::Here()) const;
  // Reads the one element of a scalar. T must be its type's storage (float for f32). The ledger records it
  // under the cause scalar_read.
  template <typename T>
  absl::StatusOr<T> Item(Caller caller = Caller::Here()) const;

  // Gives a placeholder its value; the handle stays. Fails for a buffer that is not a placeholder, and for a
  // value of another shape.
  absl::Status Fill(const Literal& value, Caller caller = Caller::Here()) const;
  absl::Status Fill(absl::Span<const std::byte> bytes, Caller caller = Caller::Here()) const;

  // Frees it now; every copy is dead then. A second Delete is an error of kind deleted.
  absl::Status Delete(Caller caller = Caller::Here()) const;

  // For the library.
  const std::shared_ptr<internal::BufferState>& internal_state() const { return state_; }

 private:
  absl::Status RefuseItem(PrimitiveType type, const Caller& caller) const;

  std::shared_ptr<internal::BufferState> state_;
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
