// Programs that XLA's partitioner divided among the devices of a mesh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/runtime/mesh/shards.h"
#include "client/runtime/session/state.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {

struct DividedProgram {
  Mesh mesh;
  std::vector<Division> arguments, results;  // By flat leaf.
  std::vector<Shape> takes, gives;           // The whole arrays.
};

// Divides a program (HLO or StableHLO, whose shardings are those of `mesh`) and compiles it. `whole` is the
// program in HLO if it was read already, else null. Waits for the partitioner.
absl::StatusOr<Executable> CompileDivided(const std::shared_ptr<Session>& session, const Module* whole,
                                          std::string program, const CompileOptions& options,
                                          const Caller& caller);

// Starts a divided program with whole arrays, each of which may be divided or not, and returns whole results.
absl::StatusOr<Execution> StartDivided(const std::shared_ptr<ExecutableState>& executable,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const Caller& caller);

}  // namespace hlod::runtime
