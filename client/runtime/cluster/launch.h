// Programs whose participants are on several daemons: each daemon is sent its part, and all of them start or
// none does. In a group (hlod/runtime/group.h) a process sends only the part of its own daemon.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/runtime/handles/execute_call.h"
#include "client/runtime/session/state.h"
#include "hlod/runtime/executable.h"

namespace hlod::runtime {

// The participants of a program that are on one daemon.
struct LaunchedPart {
  std::shared_ptr<Session> session;
  std::vector<size_t> participants;  // Ascending.
  std::vector<int> devices = {};
  std::vector<Argument> arguments = {};
  ExecuteOptions options = {};
  std::unique_ptr<ExecuteCall> call = nullptr;
};

// Returns the parts by daemon; the first one has participant 0.
absl::StatusOr<std::vector<LaunchedPart>> PartsOf(const ExecutableState& state,
                                                  const std::vector<int>& devices);

// Starts the parts of a program, one per daemon. `prepare` may change the first part's call before it is
// sent.
absl::StatusOr<Execution> StartLaunch(const std::shared_ptr<ExecutableState>& state,
                                      absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                      bool is_abstract, const std::vector<int>& devices,
                                      std::vector<LaunchedPart> parts,
                                      absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller);

// Starts this process's part of a program whose other participants other processes of the group run. `own`
// are the devices of this process.
absl::StatusOr<Execution> StartOwnPart(const std::shared_ptr<ExecutableState>& state,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const std::vector<int>& devices, const std::vector<int>& own,
                                       absl::FunctionRef<void(ExecuteCall&)> prepare, const Caller& caller);

// Tells the other processes of a group for what reason this one does not run its part of their launch: the
// launch is counted here, too, and fails there at once.
void RefuseOwnPart(const std::shared_ptr<ExecutableState>& state, const std::vector<int>& devices,
                   const std::vector<int>& own, const absl::Status& why, const Caller& caller);

}  // namespace hlod::runtime
