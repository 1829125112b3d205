// The calls of foreign functions in a program, served from this process.
//
// The daemon does not have the user's functions. So each call becomes an exchange with the host, as those of
// host callbacks are: its operands are sent, one per channel, and its results are received, one per channel.
// After the last operand the function runs here, on the thread that serves the execution's callbacks.
//
//   y = f32[4] custom-call(a, b), target "f"   becomes   send a on channel 8, send b on 9, y = receive on 10
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "client/import/program/operation.h"
#include "client/pjrt/callbacks/callback_run.h"
#include "client/pjrt/ffi/call.h"
#include "common/hlo/module.h"

namespace hlod::pjrt {

// A call, and its channels: those of its operands, then those of its results. A call without operands sends
// one value without a meaning, to ask for its results.
struct ForeignCall {
  std::shared_ptr<const ffi::Call> call;
  int64_t first_channel = 0;
  size_t sends() const { return std::max<size_t>(1, call->operands().size()); }
};

// Notes which results of a call share an operand's memory, in an attribute that the conversion to HLO keeps.
void NoteAliases(stablehlo::Program& program);

// Replaces the calls of registered functions in the module.
absl::Status ReplaceForeignCalls(std::unique_ptr<hlo::Module>& module, std::vector<ForeignCall>& calls);

// Adds to the callbacks of a participant those that serve the calls.
void ServeForeignCalls(const std::vector<ForeignCall>& calls, const ffi::UserData& user_data,
                       ParticipantCallbacks& participant);

}  // namespace hlod::pjrt
