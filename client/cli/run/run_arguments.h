// The arguments of hloctl run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "hlod/runtime/client.h"

namespace hlod::cli {

// Maps parameters to the files of --arg FILE and --arg N=FILE, in a program of several participants also
// those of --arg M:N=FILE, which sets parameter N of participant M alone.
absl::StatusOr<std::map<size_t, std::string>> AssignFiles(const std::vector<std::string>& arguments,
                                                          size_t parameters, size_t participants,
                                                          size_t participant);

// Returns the arguments of one participant.
absl::StatusOr<std::vector<Argument>> MakeArguments(const Device& device, const Executable& executable,
                                                    const RunOptions& options, size_t participant);

// Returns the whole arguments of a program that is divided among the devices of a mesh. Each file is cut as
// the program takes it; a parameter with --arg M:N=FILE takes its participants' parts from these files.
absl::StatusOr<std::vector<Argument>> MakeMeshArguments(const Client& client, const Executable& executable,
                                                        const RunOptions& options);

}  // namespace hlod::cli
