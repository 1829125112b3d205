// The collectives of a partitioned module: what one device exchanges with which others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/analysis/module/source_lines.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"
#include "common/hlo/text/shardy.h"

namespace hlod::analysis {

// A collective instruction. Bytes are a device's, each time that it runs.
struct CollectiveUse {
  hlo::Opcode opcode = hlo::kAllReduce;  // The opcode; for a start, the one that it starts.
  std::string name;                      // "all-reduce.12".
  std::string op_name;                   // The user's operation, as JAX writes it; may be empty.
  SourceLine source;
  // The mesh's axes along which its groups run, as numbers; empty when they do not run along whole axes.
  std::vector<size_t> axes;
  int64_t group_size = 1, group_count = 1;  // The devices of a group, and the groups.
  // The groups as lists of devices; without any when they cannot be read.
  hlo::Collective collective;
  double operand_bytes = 0;                 // The bytes of the operands.
  double result_bytes = 0;                  // The bytes of the results, without operands that a start keeps.
  double times = 1;  // The number of runs; a loop of unknown trip count counts as one iteration.

  // The bytes by which costs of collectives are stated: the whole array, which is the larger of the two (the
  // result of an all-gather, the operand of a reduce-scatter).
  double bytes() const { return operand_bytes > result_bytes ? operand_bytes : result_bytes; }
};

// Returns the collectives that the entry runs, in the order of computations and instructions. `mesh` has as
// many devices as the module has partitions.
std::vector<CollectiveUse> CollectivesOf(const hlo::Module& module, const hlo::Mesh& mesh);

// Collectives of one kind, axes and line.
struct CollectiveSum {
  hlo::Opcode opcode = hlo::kAllReduce;
  std::vector<size_t> axes;
  int64_t group_size = 1;
  SourceLine source;
  std::string op_name;  // The operation of the first.
  double times = 0;     // The number of runs.
  double bytes = 0;     // CollectiveUse::bytes() of all runs.
};
// Returns the sums, most bytes first.
std::vector<CollectiveSum> SumsOf(const std::vector<CollectiveUse>& collectives);

// Returns "over data" or "over data and model"; of groups that do not run along whole axes "among 4".
std::string AxesText(const std::vector<size_t>& axes, int64_t group_size, const hlo::Mesh& mesh);

}  // namespace hlod::analysis
