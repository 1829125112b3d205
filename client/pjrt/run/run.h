// One call of Execute, as it was read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/abi/executable.h"
#include "client/pjrt/buffers/promised_value.h"
#include "client/pjrt/callbacks/callback_run.h"
#include "client/pjrt/programs/executable.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// An argument whose value is given later.
struct AwaitedArgument {
  size_t index;  // The position in Run::arguments.
  PromisedValue::Use promised;
  bool donated;
};

// An execution: the participants' arguments, one participant after another, and which of them are consumed.
struct Run {
  std::shared_ptr<const CompiledProgram> program;
  hlod::Executable runtime;
  std::vector<Device*> devices;  // One per participant that this process runs.
  // True for one participant of a program whose participants work together, when each is run by its own call.
  bool is_part = false;
  std::vector<Argument> arguments;
  std::vector<AwaitedArgument> awaited;
  std::vector<Buffer*> consumed;
  std::vector<ParticipantCallbacks> callbacks;  // One per participant.
  absl::Status poison;                          // The error of an argument, which its results have, too.
  ExecuteOptions options;
};

// Reads and checks a call. An argument whose value is an error does not fail the call: its results have that
// error.
absl::StatusOr<Run> ReadRun(const LoadedExecutable& executable,
                            const abi::LoadedExecutable_Execute_Args& args,
                            const abi::ExecuteOptions& options);

}  // namespace hlod::pjrt
