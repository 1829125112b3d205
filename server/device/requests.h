// What commands ask of a session device. Each has one field `refused`: what was found wrong with it before,
// by those who read the message. Then the rest may be incomplete; what it was to define is defined to hold
// that error.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/errors/compile_reason.h"
#include "common/base/kinds.h"
#include "common/base/sha256.h"
#include "common/hlo/literal.h"
#include "server/device/buffers/buffer.h"

namespace hlod::device {

struct PlaceholderRequest {
  CommandRef command;
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;
  absl::Status refused;
};

struct UploadRequest {
  CommandRef command;
  Handle handle = 0;
  uint32_t device = 0;
  hlo::Shape shape;
  uint64_t bytes = 0;  // As the client says; must be the shape's.
  Cause cause = Cause::kUpload;
  bool fill = false;                     // Gives a placeholder its value.
  std::optional<std::string_view> data;  // The bytes, when they came along.
  bool pieces = false;  // Else they come in pieces (NextPiece), or by one transfer (ClaimUpload).
  absl::Status refused;
};

struct CompileRequest {
  CommandRef command;
  Handle handle = 0;
  std::string program;                            // A serialized module ...
  std::optional<Digest> digest;                   // ... or the digest of one that this session has sent.
  CompileReason reason = CompileReason::kUnsaid;  // Why, as the client says ...
  std::string reason_text;                        // ... in a sentence. For the account.
  absl::Status refused;
};

struct ExecuteRequest {
  struct Argument {
    Handle handle = 0;                      // 0: the literal.
    std::unique_ptr<hlo::Literal> literal;  // Apart: a command may name millions of handles.
  };
  CommandRef command;
  Handle executable = 0;
  uint32_t device = 0;
  std::vector<Argument> arguments;
  std::vector<Handle> results;           // 0 drops one.
  std::vector<uint32_t> fills;           // Indices of results that fill a placeholder.
  std::vector<uint32_t> donated;         // Indices of arguments.
  std::vector<uint32_t> result_origins;  // Of the lines that made the results; 0 or missing: the command's.
  bool abstract = false;
  std::vector<uint32_t> absent;  // Of an abstract one: indices of results that are not to be computed.
  int64_t deadline_us = 0;       // 0: the limit.
  // Of each participant the device; empty: one participant, on `device`. Arguments and results go participant
  // by participant.
  std::vector<uint32_t> devices;
  absl::Status refused;

  size_t participants() const { return devices.empty() ? 1 : devices.size(); }
  uint32_t DeviceOf(size_t participant) const { return devices.empty() ? device : devices[participant]; }
  // Of place i of a list of arguments or of results.
  uint32_t DeviceAt(size_t i, size_t size) const {
    const size_t each = std::max<size_t>(1, size / participants());
    return DeviceOf(std::min(i / each, participants() - 1));
  }
};

// A channel between the host and programs on a device: the device's infeed or outfeed, or with an id that of
// recv or send.
struct ChannelRef {
  uint32_t device = 0;
  std::optional<int64_t> id;
};

struct InfeedRequest {
  CommandRef command;
  ChannelRef channel;
  std::vector<Handle> arguments;  // Of the value's arrays.
  absl::Status refused;
};

struct OutfeedRequest {
  CommandRef command;
  ChannelRef channel;
  std::vector<Handle> results;     // Of the value's arrays ...
  std::vector<hlo::Shape> shapes;  // ... of these shapes.
  absl::Status refused;
};

struct DownloadRequest {
  CommandRef command;
  Handle handle = 0;
  uint64_t offset = 0, length = 0;  // length 0: to the end.
  bool pin = false;  // The bytes are read as long as ReadyBytes::pin is held; else until Release.
};

// The bytes of a buffer, ready to be read.
struct ReadyBytes {
  std::shared_ptr<Buffer> buffer;
  hlo::Shape shape;
  const std::byte* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<Task> task;  // Release() finishes it.
  // When asked for: as long as a copy of it lives, the bytes stay in their place unchanged, whatever becomes
  // of the buffer and its handle. A reader of `data` holds one. The last one takes the session device's lock
  // as it goes.
  std::shared_ptr<const void> pin;
};
using DownloadDone = std::function<void(absl::StatusOr<ReadyBytes>)>;

}  // namespace hlod::device
