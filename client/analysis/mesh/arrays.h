// The arrays of a program with their shardings, as a partitioner decided them: the whole arrays, and which of
// one device's arrays are parts of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/analysis/mesh/axes.h"
#include "client/analysis/module/peak.h"
#include "client/analysis/module/source_lines.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// An array of the annotated module.
struct ShardedArray {
  std::string name;     // The instruction that makes it.
  std::string op_name;  // The user's operation; may be empty.
  SourceLine source;
  hlo::Shape shape;  // The whole array's.
  hlo::Shape part;   // One device's share, with sizes that do not divide rounded up.
  AxisSpec spec;
  int64_t bytes = 0, part_bytes = 0;
};

// Returns the arrays that instructions of the module with whole arrays make, largest first. An instruction
// without a sharding is not listed.
std::vector<ShardedArray> ShardedArraysOf(const hlo::Module& annotated, const hlo::Mesh& mesh);

// An array at the peak of one device that others hold, too.
struct Replicated {
  Contributor array;
  size_t axis = 0;       // The axis over which it is the same.
  double saved = 0;      // The bytes that dividing it over this axis saves on each device.
  std::string division;  // The division now, as ToString(AxisSpec) writes it.
};

// Returns the arrays at the peak that are the same over an axis, most saved first; each with the axis that
// saves most. An array at the peak is found in the annotated module by its operation, line and part.
std::vector<Replicated> ReplicatedAtPeak(const Peak& peak, const std::vector<ShardedArray>& arrays,
                                         const hlo::Mesh& mesh);

}  // namespace hlod::analysis
