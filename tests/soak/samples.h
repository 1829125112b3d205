// The quantities of a daemon that must not grow.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "hlod/runtime/admin.h"
#include "hlod/testing.h"

namespace hlod::soak {

// Values by their names, such as "descriptors".
using Quantities = std::map<std::string, int64_t>;

// Returns a line of /proc/PID/status in bytes, such as that of "RssAnon"; 0 when the process has ended.
// RssAnon is its own memory; RssFile, that of programs and libraries, rises and falls with the machine's
// needs.
int64_t StatusBytes(pid_t pid, const std::string& name);
// Returns the bytes of all files in a folder.
int64_t FolderBytes(const std::string& folder);

// Reads a daemon's quantities: those that its statistics show, and those that the kernel knows.
Quantities SampleDaemon(const testing::Daemon& daemon, const Admin& admin, const std::string& cache);

// The quantities that the end of all sessions gives back to the last one, in the daemon's own words.
Quantities Held(const testing::Daemon& daemon, const Admin& admin);

}  // namespace hlod::soak
