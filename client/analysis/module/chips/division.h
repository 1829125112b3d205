// Estimates how arrays are divided among several chips: the shardings of the entry's parameters are
// propagated through operations that determine the result's sharding. A partitioner may choose otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// The division of one array into tiles.
struct Tiling {
  // True when it is computed from constants alone, so that it can be computed in the tiles that its users
  // need.
  bool free = false;
  hlo::Dims tiles;  // The number of tiles by dimension; 1 each when it is free.

  int64_t parts() const;
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

// The tilings of all values of a module. They are determined by a sharding of the instruction itself,
// otherwise by its opcode:
//   elementwise, copies          the result has the operands' tiles
//   broadcasts, transposes, reductions, reshapes, slices, concatenations, updates
//                                the tiles of the dimensions that remain whole dimensions of the result
//   dots                         the tiles of batch and free dimensions; parts along contracting dimensions
//                                are added up
//   gathers                      the tiles of the indices
//   loops, conditionals          the tiles that all iterations and branches agree on
// A result of another opcode, and one whose operands disagree, is undivided (one part).
class Divisions {
 public:
  // `canonical` is a module that Canonical (placement.h) returned; it outlives this object.
  Divisions(const hlo::Module& canonical, int64_t chips);

  // Returns the number of parts of a leaf of the instruction's result; at most one per chip.
  int64_t PartsOf(const hlo::Computation& computation, hlo::NodeId node, size_t leaf) const;

 private:
  using Leaves = std::vector<Tiling>;
  // Computes the tilings in a computation. `parameters` has the leaves of all parameters, one after the
  // other; returns the leaves of the result.
  Leaves Run(const hlo::Computation& computation, const Leaves& parameters);
  Leaves Visit(hlo::Instruction i, const std::vector<Leaves>& values);
  Leaves VisitCalls(hlo::Instruction i, const std::vector<Leaves>& values);

  const hlo::Module& module_;
  const int64_t chips_;
  // The remaining visits of instructions, because nested loops multiply them. When none are left, or calls
  // are too deep, results count as undivided.
  int64_t visits_left_;
  int depth_ = 0;
  // The tilings by computation, then by instruction.
  absl::flat_hash_map<const hlo::Computation*, std::vector<Leaves>> values_;
};

}  // namespace hlod::analysis
