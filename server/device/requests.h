// The requests of commands to a SessionDevice. The field `refused` of each holds an error found by the reader
// of the message. Then other fields may be incomplete, and the handles that the command would have defined
// are defined with that error.
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
#include "server/device/execution/launches.h"
#include "server/engine/plan/run_profile.h"
#include "server/engine/run/machine_speed.h"
#include "server/engine/run/step_times.h"

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
  uint64_t bytes = 0;  // The size that the client states; it must equal the byte size of `shape`.
  Cause cause = Cause::kUpload;
  bool fill = false;                     // True to fill a placeholder.
  std::optional<std::string_view> data;  // The bytes, if they are in the command.
  // True: the bytes follow in pieces (NextPiece); false: by one transfer (ClaimUpload).
  bool pieces = false;
  absl::Status refused;
};

struct CompileRequest {
  CommandRef command;
  Handle handle = 0;
  std::string program;           // A serialized module, or empty when `digest` is set.
  std::optional<Digest> digest;  // The digest of a module that this session has sent before.
  // The reason for the compile, as stated by the client; for the account.
  CompileReason reason = CompileReason::kUnsaid;
  std::string reason_text;  // The reason as a sentence.
  absl::Status refused;
};

// The profile of an execute.
struct RunReport {
  bool measure_machine = false;  // Set by the request: the speed of the machine is wanted, too.
  engine::StepTimes times;
  engine::RunProfile profile;
  engine::MachineSpeed machine;
};

struct ExecuteRequest {
  struct Argument {
    Handle handle = 0;  // 0: the argument is `literal`.
    // Allocated separately, because a command may name millions of handles.
    std::unique_ptr<hlo::Literal> literal;
  };
  CommandRef command;
  Handle executable = 0;
  uint32_t device = 0;
  std::vector<Argument> arguments;
  std::vector<Handle> results;    // 0 drops the result.
  std::vector<uint32_t> fills;    // Indices of results that fill a placeholder.
  std::vector<uint32_t> donated;  // The indices of donated arguments.
  // By result, the line that made it; 0 or missing: the line of the command.
  std::vector<uint32_t> result_origins;
  bool abstract = false;
  std::vector<uint32_t> absent;  // Indices of results that an abstract execute does not compute.
  int64_t deadline_us = 0;       // 0: the configured limit applies.
  // The line in which programs with channels to the client wait for each other. Unless it is 0, the execute
  // has channels of its own.
  uint64_t line = 0;
  // The device of each participant; empty: there is one participant, on `device`. Arguments and results are
  // in the order of the participants.
  std::vector<uint32_t> devices;
  // Set when participants of the program run on other daemons; those above are this daemon's own.
  std::shared_ptr<LaunchRequest> launch;
  // Set when a profile is wanted. The run fills it before the command is answered.
  std::shared_ptr<RunReport> report;
  absl::Status refused;

  size_t participants() const { return devices.empty() ? 1 : devices.size(); }
  // Returns the number of a participant in the whole program.
  size_t NumberOf(size_t participant) const {
    return launch == nullptr ? participant : launch->own[participant];
  }
  uint32_t DeviceOf(size_t participant) const { return devices.empty() ? device : devices[participant]; }
  // Returns the device of element i of a list of `size` arguments or results.
  uint32_t DeviceAt(size_t i, size_t size) const {
    const size_t each = std::max<size_t>(1, size / participants());
    return DeviceOf(std::min(i / each, participants() - 1));
  }
};

// A channel between the host and the programs on a device: the device's infeed or outfeed, or, with an id, a
// recv or send.
struct ChannelRef {
  uint32_t device = 0;
  std::optional<int64_t> id;
  uint64_t execution = 0;  // The command of the execute whose own channel it is; 0: the device's.
};

struct InfeedRequest {
  CommandRef command;
  ChannelRef channel;
  std::vector<Handle> arguments;  // The arrays of the value.
  absl::Status refused;
};

struct OutfeedRequest {
  CommandRef command;
  ChannelRef channel;
  std::vector<Handle> results;     // The arrays of the value.
  std::vector<hlo::Shape> shapes;  // The arrays' shapes.
  absl::Status refused;
};

struct CopyRequest {
  CommandRef command;
  Handle source = 0;
  Handle handle = 0;
  uint32_t device = 0;  // The device of the copy.
  absl::Status refused;
};

struct DownloadRequest {
  CommandRef command;
  Handle handle = 0;
  uint64_t offset = 0, length = 0;  // A length of 0 means up to the end.
  bool pin = false;  // True: the bytes are read while ReadyBytes::pin is held; false: until Release().
};

// The bytes of a buffer, ready for reading.
struct ReadyBytes {
  std::shared_ptr<Buffer> buffer;
  hlo::Shape shape;
  const std::byte* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<Task> task;  // Finished by Release().
  // Set when a pin was requested. While a copy of it exists, the bytes stay in place unchanged, even if the
  // buffer is consumed or its handle is freed. A reader of `data` holds a copy. Destroying the last copy
  // takes the session device's lock.
  std::shared_ptr<const void> pin;
};
using DownloadDone = std::function<void(absl::StatusOr<ReadyBytes>)>;

}  // namespace hlod::device
