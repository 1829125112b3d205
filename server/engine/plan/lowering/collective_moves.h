// The bytes of operands that participants of a collective take from one another, and where they go. Only
// these go from one process to another: of an all-to-all, for example, the pieces for participants of the
// other process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// Equally long runs of bytes at equal distances, from an operand of a sender to a result of a receiver.
struct CollectiveMove {
  size_t operand = 0, result = 0;  // Positions.
  int64_t rows = 1, bytes = 0;     // The number of the runs, and the length of each.
  int64_t from = 0, from_row = 0;  // The first run's place in the operand, and the distance to the next one.
  int64_t to = 0, to_row = 0;      // The same in the result.
  int64_t size() const { return rows * bytes; }
  bool TakesAdjacentBytes() const { return rows == 1 || from_row == bytes; }
  bool PutsAdjacentBytes() const { return rows == 1 || to_row == bytes; }
  friend bool operator==(const CollectiveMove&, const CollectiveMove&) = default;
};

class CollectiveMoves {
 public:
  enum class Results {
    kEach,     // Each receiver takes bytes of its own, and its results consist of them.
    kShared,   // All receivers take the same bytes, and their results consist of them.
    kReduced,  // Each receiver takes bytes of its own from each sender, and reduces them in the senders'
               // order.
  };

  // Returns nullopt for a collective whose participants need all of each other's operands, or do not know
  // before which bytes they need. `collective` was read from `instruction`.
  static std::optional<CollectiveMoves> Of(hlo::Instruction instruction, const hlo::Collective& collective);

  Results results() const { return results_; }
  // Returns the moves from one participant to another one of its group, or to itself, without moves of no
  // bytes. The moves of kReduced go to an array of the sender's bytes alone, in place of the result.
  std::vector<CollectiveMove> Between(int sender, int receiver) const;
  // Bounds the bytes of the runs between any two participants that lie apart in operands, or in results, and
  // are shorter than `shortest`. Each operand's are rounded up to 64.
  int64_t ApartInOperands(int64_t shortest) const;
  int64_t ApartInResults(int64_t shortest) const;

 private:
  CollectiveMoves(const hlo::Collective& collective, Results results)
      : results_(results), positions_(collective.rank_of), sources_(collective.sources) {}

  const Results results_;
  const std::vector<int> positions_, sources_;  // Collective::rank_of and sources.
  // By operand, the move from the group's first participant to itself: the move from participant number s to
  // number r begins s times to_step_ and r times from_step_ later. Operand number r of an all-to-all of
  // tuples goes to participant r as its result number s.
  std::vector<CollectiveMove> first_;
  std::vector<int64_t> from_step_, to_step_;
  bool has_operand_each_ = false;  // It is an all-to-all of tuples.
};

}  // namespace hlod::engine
