// A buffer as the framework holds it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/abi/buffer.h"
#include "client/pjrt/buffers/lineage.h"
#include "client/pjrt/buffers/memory_layout.h"
#include "client/pjrt/buffers/promised_value.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/events/completion.h"
#include "hlod/runtime/buffer.h"

namespace hlod::pjrt {

// Thread-safe. The properties that frameworks ask for often (memory, shape) are read without a lock.
class Buffer {
 public:
  // `end` is the completion of the work that makes the value, when that is more than one command. `order` is
  // the layout that the framework states; empty: row-major.
  Buffer(Memory& memory, hlod::Buffer value, std::shared_ptr<Completion> end = nullptr,
         DimensionOrder order = {});
  // Makes a buffer without a value. `make` is called when the value is first needed, on behalf of the line
  // that needs it; perhaps never.
  using Make = std::function<absl::StatusOr<hlod::Buffer>()>;
  Buffer(Memory& memory, const hlo::Shape& shape, Make make, DimensionOrder order);
  ~Buffer();
  // Makes a buffer without a value: every use of it, and its completion, report `error`.
  Buffer(Memory& memory, const hlo::Shape& shape, absl::Status error);
  // Makes a buffer that gets its value later.
  Buffer(Memory& memory, const hlo::Shape& shape, std::shared_ptr<PromisedValue> promised,
         DimensionOrder order);

  Memory& memory() const { return memory_; }
  Device& device() const { return memory_.device(); }
  Client& client() const { return *client_; }
  const hlo::Shape& shape() const { return shape_; }
  const DimensionOrder& minor_to_major() const { return minor_to_major_; }

  // Null unless the value is given later.
  const std::shared_ptr<PromisedValue>& promised() const { return promised_; }
  // Returns the value, or the error of a buffer that has none, has none yet, was deleted or was donated.
  absl::StatusOr<hlod::Buffer> value() const;
  // Returns the value of a buffer with bounded dynamic dimensions, which has its actual sizes. The first call
  // reads it, and waits. REQUIRES: shape().HasDynamicDimension().
  absl::StatusOr<std::shared_ptr<const Literal>> AtItsSizes() const;
  // Returns the completion of the work that makes the value; null when that is one command.
  const std::shared_ptr<Completion>& end() const { return end_; }
  // Null unless the buffer is a placeholder that a program made.
  const std::shared_ptr<const Lineage>& lineage() const { return lineage_; }
  // Must be called before others see the buffer.
  void set_lineage(std::shared_ptr<const Lineage> lineage) { lineage_ = std::move(lineage); }
  // Returns the completion of the work that makes the value.
  std::shared_ptr<Completion> ready() const;
  bool IsDeleted() const;
  // A number that identifies the buffer's memory, as an address would; it is not an address of this process.
  // A result that a program wrote over a donated argument has the argument's number.
  uintptr_t identity() const { return identity_; }
  void TakeIdentity(const Buffer& donated) { identity_ = donated.identity_; }
  // Releases the value. A second call does nothing.
  void Delete();

  // Returns true when this buffer and `value`, the caller's copy of its value, are all that refers to the
  // value. Otherwise (a read is under way, a buffer in another memory shares it, or there is a reference from
  // outside) a program that consumes the value must be given a copy.
  bool IsSoleUser(const hlod::Buffer& value) const;
  // References from outside to the value's memory.
  void AddHold();
  absl::Status RemoveHold();

 private:
  static uintptr_t NextIdentity();

  const std::shared_ptr<Client> client_;  // The memory is the client's.
  Memory& memory_;
  const hlo::Shape shape_;
  const DimensionOrder minor_to_major_;
  const absl::Status error_;
  const std::shared_ptr<PromisedValue> promised_;
  const std::shared_ptr<Completion> end_;
  uintptr_t identity_ = NextIdentity();
  std::shared_ptr<const Lineage> lineage_;
  mutable absl::Mutex mu_;
  mutable Make make_ ABSL_GUARDED_BY(mu_);  // Null when the value was made, or needs not be made.
  mutable absl::Status make_error_ ABSL_GUARDED_BY(mu_);
  mutable std::optional<hlod::Buffer> value_ ABSL_GUARDED_BY(mu_);
  mutable std::shared_ptr<const Literal> at_its_sizes_ ABSL_GUARDED_BY(mu_);  // Null before it is read.
  bool deleted_ ABSL_GUARDED_BY(mu_) = false;
  int holds_ ABSL_GUARDED_BY(mu_) = 0;
};

// Returns the session with the daemon that has the buffer.
const std::shared_ptr<runtime::Session>& SessionOf(const hlod::Buffer& buffer);
// Returns the command of that session that makes the buffer's value.
runtime::Command ProducerOf(const hlod::Buffer& buffer);

}  // namespace hlod::pjrt
