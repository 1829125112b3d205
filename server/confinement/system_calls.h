// Takes from the process the system calls that it never needs, so that a fault by which a client gets into it
// gives that client less.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hlod {

// The system calls that a daemon may make: those that its service manager allows it, or without the forbidden
// ones.
enum class SystemCalls { kAll, kRestricted };
// "all" or "restricted". Returns INVALID_ARGUMENT for other texts.
absl::StatusOr<SystemCalls> ParseSystemCalls(std::string_view text);

// From now on system calls fail with EPERM in this thread, and in all threads and programs that it starts, if
// they start a program, look into other processes, change the machine, the user or the namespaces of the
// process, or lead into parts of the kernel that a daemon does not use and in which faults are found again
// and again (bpf, io_uring, keys, performance events, userfaultfd). Nothing can take that back. Must be
// called before other threads start. Returns FAILED_PRECONDITION if the kernel has no filters of system
// calls.
//
// It is a list of what is forbidden, because libraries and drivers make calls that no list of what is allowed
// would foresee; systemd's unit has such a list on top (deploy/systemd/hlod.service).
absl::Status ForbidSystemCalls();

}  // namespace hlod
