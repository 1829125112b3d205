// The bytes that participants of a collective need of each other's operands. Only these go from one process
// to another: of a reduce-scatter, for example, the pieces that participants of the other process get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"

namespace hlod::engine {

class CollectiveRuns {
 public:
  // A run of bytes in one of a participant's operands.
  struct Run {
    size_t operand = 0;
    int64_t offset = 0, bytes = 0;
  };

  // `collective` was read from `instruction` of `module`.
  CollectiveRuns(const hlo::Module& module, hlo::Instruction instruction, const hlo::Collective& collective);

  // Returns the runs in the operands of `sender` on which the result of a receiver depends, without runs of
  // no bytes. `receivers` are participants of its group, in the group's order.
  std::vector<Run> Needed(int sender, absl::Span<const int> receivers) const;

 private:
  // Operands are divided into as many pieces as the group has participants: `rows` times, one behind the
  // other, for the dimensions before the divided one.
  struct Pieces {
    int64_t rows = 1, bytes = 0;
  };

  std::vector<int> positions_, sources_;  // Collective::rank_of and sources.
  std::vector<int64_t> operand_bytes_;
  std::vector<Pieces> pieces_;     // By operand; empty if a receiver needs more than its own piece.
  bool has_operand_each_ = false;  // True if operand number i is for the group's participant number i.
};

}  // namespace hlod::engine
