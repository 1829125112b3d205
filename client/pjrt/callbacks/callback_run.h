// The host's side of one execution of a program with callbacks.
//
// A thread asks the daemon for the next value of each channel to the host and calls the framework's callback
// with each value that comes, one at a time. After the last operand of a callback (the channel before those
// of its results: frameworks number them so) it opens a stream for each result. When the program has ended it
// takes the values that still wait. It is the thread of the call for a framework that wants this (JAX: its
// CPU does the same, so that what a callback prints, and its error, come with the call), else one of its own.
//
// Each execution has channels of its own (hlod::ExecuteOptions::line), so that a callback may itself run
// programs with callbacks, and several threads may. The executions that one thread starts run one after
// another: their callbacks print in the order of the program.
#pragma once

#include <memory>
#include <vector>

#include "client/pjrt/abi/executable.h"
#include "client/pjrt/callbacks/host_channels.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/events/completion.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// Returns the number that identifies the line of executions with callbacks that this thread starts. Within a
// callback that the thread serves it is another one.
uint64_t LineOfThisThread();

// The callbacks of one participant, by channel.
struct ParticipantCallbacks {
  Device* device = nullptr;
  std::vector<abi::SendCallbackInfo> sends;
  std::vector<abi::RecvCallbackInfo> receives;
  std::shared_ptr<const void> served;  // Keeps what callbacks of the plugin's own refer to.
};

// Starts to serve the callbacks of an execution that has been sent with a line, on a new thread. Returns its
// end, which comes after the last callback and carries the first error of a callback.
std::shared_ptr<Completion> ServeCallbacks(const HostChannels& channels,
                                           std::vector<ParticipantCallbacks> participants,
                                           const Execution& execution);

// Serves the callbacks of such an execution on this thread until it has ended. Returns the first error of a
// callback, else the one of the execution.
absl::Status ServeCallbacksHere(const HostChannels& channels, std::vector<ParticipantCallbacks> participants,
                                const Execution& execution);

}  // namespace hlod::pjrt
