// Collectives among the participants of a program: the groups that they form.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// A program is run by replicas x partitions participants. Participant replica * partitions + partition runs
// that partition of that replica.
struct Participants {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
  // Returns "participant 3 (replica 1, partition 1)".
  std::string Name(int64_t participant) const;
};

// Returns the counts of the module's configuration. REQUIRES: CheckParticipants.
Participants ParticipantsOf(const Module& module);
// The limit of replicas times partitions. CheckParticipants returns INVALID_ARGUMENT when a count is not
// positive or their product exceeds it.
inline constexpr int64_t kParticipantsMax = 4096;
absl::Status CheckParticipants(const Module& module);

// One collective among the participants of its program.
struct Collective {
  Opcode opcode;  // The opcode; for a start (all-reduce-start), the opcode that it starts.
  // Lists of participants, in the order of the program's groups. They have the same size, except those of
  // an all-reduce.
  std::vector<std::vector<int>> groups;
  std::vector<int> group_of,
      // By participant: its group, and its position in it. -1 when it is in no group; then its result is
      // zeros.
      rank_of;
  // For a permutation or a broadcast, by participant: the participant whose operands it receives, or -1 when
  // it receives zeros. Empty for other collectives.
  std::vector<int> sources;
};

// INVALID_ARGUMENT, with the reason, when an id of a group exceeds the participants or a participant is in no
// group. REQUIRES: `instruction` is verified and not the end (-done) of a collective.
absl::StatusOr<Collective> ReadCollective(Instruction instruction, const Participants& participants);

// Returns the sizes of a collective's groups, each once.
std::set<size_t> GroupSizes(const Collective& collective);
// Returns true when the result of a start has its operands beside its results; words of context may follow.
bool KeepsOperands(Opcode start);
// Returns the shape of the result that a participant gets from a collective, without kept operands.
const Shape& GivenShape(Instruction collective);

// Returns true for the end (-done) of a collective that was started before: its result is an element of its
// operand.
bool IsCollectiveEnd(Opcode opcode);

}  // namespace hlod::hlo
