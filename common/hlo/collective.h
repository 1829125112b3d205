// What the members of a program do together: who is in which group, and what a group computes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// A program is run by replicas x partitions members. Member replica * partitions + partition is a partition
// of a replica.
struct Members {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
  // "member 3 (replica 1, partition 1)"
  std::string Name(int64_t member) const;
};

// As the module's configuration says. REQUIRES: CheckMembers.
Members MembersOf(const Module& module);
// INVALID_ARGUMENT or UNIMPLEMENTED when the counts are not positive or multiply beyond kMembersMax.
inline constexpr int64_t kMembersMax = 4096;
absl::Status CheckMembers(const Module& module);

// One collective among the members of its program.
struct Collective {
  Opcode opcode;  // Of a start: what it starts.
  // Lists of members, in the order of the program's groups; they have one size, but for those of copies.
  std::vector<std::vector<int>> groups;
  std::vector<int> group_of,
      rank_of;  // By member: its group, and its place there. -1: none, its result is zero.
  // Of a permutation or a broadcast, by member: whose operands it gets. -1: nobody's, zeros. Else empty.
  std::vector<int> sources;
};

// INVALID_ARGUMENT names what does not fit: a group's id beyond the members, members in no group. REQUIRES:
// verified, and not the end (-done) of a collective.
absl::StatusOr<Collective> ReadCollective(Instruction instruction, const Members& members);

// Whether the result of a start has its operands beside what it gives; words of context may follow.
bool KeepsOperands(Opcode start);
// The shape of what a collective gives a member, without kept operands.
const Shape& GivenShape(Instruction collective);

// Whether it is the end of a collective that was started before: its result is an element of its operand.
bool IsCollectiveEnd(Opcode opcode);

// What the members of one group compute, as a program that one member runs for all. Its parameters are the
// operands of the group's members, one member after the other; its result a tuple of theirs.
struct GroupProgram {
  enum class Results {
    kEach,      // Of each member.
    kShared,    // Of one: the others' are the same.
    kForFirst,  // Of the group's first member: the others' are zeros.
  };
  std::unique_ptr<Module> module;
  Results results = Results::kEach;
};
// How many instructions that has, about: an exchange among n members n times n pieces. 0 when there are sources.
int64_t GroupProgramSize(Instruction instruction, const Collective& collective);
// REQUIRES: `collective` was read from `instruction` of `module` and has no sources.
absl::StatusOr<GroupProgram> MakeGroupProgram(const Module& module, Instruction instruction,
                                              const Collective& collective);

}  // namespace hlod::hlo
