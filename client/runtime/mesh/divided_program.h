// Programs that XLA's partitioner divided among the devices of a mesh.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/partition/partition.h"
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
// program in HLO if it was read already, else null, and `program` has its bytes. Waits for the partitioner.
absl::StatusOr<Executable> CompileDivided(const std::shared_ptr<Session>& session, const Module* whole,
                                          std::string program, const CompileOptions& options,
                                          const Caller& caller);

// Returns the request for `whole` that CompileDivided() makes to the partitioner. REQUIRES: the options have
// a mesh.
partition::Request RequestFor(const Session& session, const Module& whole, const CompileOptions& options);

// The partitioner's answer to a request, asked for by a thread that holds no lock. While it exists, the
// thread's first CompileDivided() with the same request takes the answer and does not wait.
class PartitionAhead {
 public:
  // Waits for the partitioner.
  explicit PartitionAhead(partition::Request request);
  ~PartitionAhead();
  PartitionAhead(const PartitionAhead&) = delete;
  PartitionAhead& operator=(const PartitionAhead&) = delete;

  // Returns true when this thread has the answer to this request.
  static bool Has(const partition::Request& request);
  // Returns this thread's answer to the request, or asks for one.
  static absl::StatusOr<partition::Partitioned> Take(const partition::Request& request);

 private:
  partition::Request request_;
  std::optional<absl::StatusOr<partition::Partitioned>> answer_;
  PartitionAhead* const around_;
};

// Starts a divided program with whole arrays, each of which may be divided or not, and returns whole results.
absl::StatusOr<Execution> StartDivided(const std::shared_ptr<ExecutableState>& executable,
                                       absl::Span<const Argument> arguments, const ExecuteOptions& options,
                                       const Caller& caller);

}  // namespace hlod::runtime
