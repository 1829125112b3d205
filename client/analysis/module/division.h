// How arrays are likely to lie on several chips: the shardings of the entry's parameters, carried forward
// through operations that leave no choice. An estimate: a partitioner may choose otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Of one array.
struct Tiling {
  // Computed from constants alone: it can be made in the tiles that its users have.
  bool free = false;
  hlo::Dims tiles;  // By dimension: into how many. Of one that is free, 1 each.

  int64_t parts() const;
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

// What is not carried, and is in one part: what two operands disagree on, and results of operations not
// named here. Elementwise operations, copies: the tiles of their operands. Broadcasts, transposes,
// reductions, reshapes, slices, concatenations, updates: those of the dimensions that stay what they are.
// Dots: those of batch and free dimensions; what is divided along contracting ones is added up. Gathers:
// those of the indices. Loops, conditionals: what all of their iterations and branches have. An instruction's
// own sharding counts before all of that.
class Divisions {
 public:
  // Of a module that Canonical gave.
  Divisions(const hlo::Module& canonical, int64_t chips);

  // In how many parts the leaf of what an instruction makes is; at most one a chip.
  int64_t PartsOf(const hlo::Computation& computation, hlo::NodeId node, size_t leaf) const;

 private:
  using Leaves = std::vector<Tiling>;
  // The parameters' leaves, one after the other; gives the result's.
  Leaves Run(const hlo::Computation& computation, const Leaves& parameters);
  Leaves Visit(hlo::Instruction i, const std::vector<Leaves>& values);
  Leaves VisitCalls(hlo::Instruction i, const std::vector<Leaves>& values);

  const hlo::Module& module_;
  const int64_t chips_;
  // Loops within loops multiply iterations: beyond so many instructions, or so deep, nothing is carried.
  int64_t visits_left_;
  int depth_ = 0;
  absl::flat_hash_map<const hlo::Computation*, std::vector<Leaves>> values_;  // By instruction.
};

}  // namespace hlod::analysis
