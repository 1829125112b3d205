// The place of a daemon in its cluster as a launcher states it: Slurm, mpirun, torchrun, Kubernetes, or
// variables of hlod's own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod {

// Returns the value of an environment variable; empty if it is not set.
using Variables = std::function<std::string(const std::string& name)>;

struct Place {
  std::string launcher;           // "Slurm"; for messages.
  std::string cluster;            // The name of the cluster: "slurm-77".
  int64_t rank = 0, size = 0;     // `size` is 0 if the launcher does not state it.
  std::string host, coordinator;  // The names by which others reach this daemon, and the one with rank 0.
  int64_t port = 0, coordinator_port = 0;
};

// The port of a daemon that is alone on its host, where a launcher chooses none.
inline constexpr int64_t kClusterPort = 9517;

// Reads the place from the variables of the first launcher that has set its own. `host` is this machine's
// name. FAILED_PRECONDITION: no launcher has; INVALID_ARGUMENT names the variable that is missing or wrong.
absl::StatusOr<Place> FindPlace(const Variables& variables, const std::string& host);

// Returns the first host of a list of Slurm: "n[08-11,20],m1" -> "n08"; empty if it cannot be read.
std::string FirstHost(std::string_view list);

}  // namespace hlod
