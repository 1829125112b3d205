// One device of a session, on which buffers are made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/types.h"

namespace hlod {

namespace runtime {
class Session;
struct StagingState;
}  // namespace runtime

// Memory for the program to fill, which the daemon then reads directly: an upload with one copy less.
// Movable.
class StagedUpload {
 public:
  StagedUpload();
  StagedUpload(StagedUpload&&) noexcept;
  StagedUpload& operator=(StagedUpload&&) noexcept;
  ~StagedUpload();  // Does not send anything unless Commit was called.

  // Returns the memory to fill: writable, of the shape's byte size, contents unspecified. Must not be touched
  // after Commit.
  absl::Span<std::byte> bytes() const;
  template <typename T>
  absl::Span<T> data() const {
    return absl::Span<T>(reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T));
  }
  // True when the memory is shared with the daemon; otherwise Commit copies it, as an upload does.
  bool shared() const;
  // Sends the memory as a new buffer. May be called once.
  absl::StatusOr<Buffer> Commit(Cause cause = Cause::kUpload, Caller caller = Caller::Here());

 private:
  friend class Device;
  std::unique_ptr<runtime::StagingState> state_;
};

// Cheap to copy. Thread-safe.
class Device {
 public:
  // The host, whose tensors are ordinary values of this process. It does not have buffers.
  Device() : ordinal_(0) {}
  Device(std::shared_ptr<runtime::Session> session, int ordinal)
      : session_(std::move(session)), ordinal_(ordinal) {}

  bool is_host() const { return session_ == nullptr; }
  int ordinal() const { return ordinal_; }
  // "host", "hlod:0".
  std::string ToString() const;
  friend bool operator==(const Device&, const Device&) = default;
  // REQUIRES: the daemon has this device.
  const DeviceInfo& info() const;

  // Makes a buffer of `shape` (an array) from dense row-major bytes. Returns when `bytes` may be reused,
  // without waiting for the device or for an answer; errors that the daemon finds are reported where the
  // buffer is used. Up to 64 KiB are sent in the command; larger arrays use shared memory on the same host,
  // otherwise a stream.
  absl::StatusOr<Buffer> Upload(absl::Span<const std::byte> bytes, const Shape& shape,
                                Cause cause = Cause::kUpload, Caller caller = Caller::Here()) const;
  absl::StatusOr<Buffer> Upload(const Literal& literal, Cause cause = Cause::kUpload,
                                Caller caller = Caller::Here()) const;
  // Upload<float>(values, {8, 4}).
  template <typename T>
  absl::StatusOr<Buffer> Upload(absl::Span<const T> values, absl::Span<const int64_t> dims,
                                Caller caller = Caller::Here()) const {
    static_assert(hlo::kPrimitiveTypeOf<T> != hlo::kInvalid, "No element type of HLO is stored as T.");
    return Upload(absl::Span<const std::byte>(reinterpret_cast<const std::byte*>(values.data()),
                                              values.size() * sizeof(T)),
                  Shape::Array(hlo::kPrimitiveTypeOf<T>, dims), Cause::kUpload, caller);
  }

  // Returns memory to fill for an upload.
  absl::StatusOr<StagedUpload> Stage(const Shape& shape, Caller caller = Caller::Here()) const;

  // Makes a buffer with a shape and an identity, but without a value or storage.
  absl::StatusOr<Buffer> Placeholder(const Shape& shape, Caller caller = Caller::Here()) const;

  // The next two functions exchange values with programs of this session that run on the device (XLA:
  // TransferToInfeed, TransferFromOutfeed). `channel` is nullopt for infeed and outfeed, else the channel_id
  // of a recv from the host or of a send to it. Each channel passes its values in order, to or from programs
  // that are running or run later. Neither call waits.
  //
  // Sends a value: `arrays` are its array leaves, depth first, each on this device; they stay valid. A
  // program that finds the channel empty waits for limit channel_wait_us, and then fails (kind pending). An
  // array that failed or is a placeholder fails the program that takes the value.
  absl::Status TransferToInfeed(absl::Span<const Buffer> arrays,
                                std::optional<int64_t> channel = std::nullopt,
                                Caller caller = Caller::Here()) const;
  // Receives the channel's next value: returns buffers of `shapes` for its array leaves, which may be used at
  // once, like results of an execute. They fail (kind argument) when the program's value has other shapes. If
  // no program sends a value, they stay pending until the session ends.
  absl::StatusOr<std::vector<Buffer>> TransferFromOutfeed(absl::Span<const Shape> shapes,
                                                          std::optional<int64_t> channel = std::nullopt,
                                                          Caller caller = Caller::Here()) const;

  // For the library.
  const std::shared_ptr<runtime::Session>& internal_session() const { return session_; }

 private:
  std::shared_ptr<runtime::Session> session_;  // Null: the host.
  int ordinal_;
};

}  // namespace hlod
