// The computation of a collective among the participants of a group, as a program that one of them runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// The computation of a group, as a program that one participant runs for all. Its parameters are the
// operands of the group's first participant, then those of the second, and so on; its result is a tuple of
// their results.
struct GroupProgram {
  enum class Results {
    kEach,      // One result per participant.
    kShared,    // One result, which is the same for all participants.
    kForFirst,  // One result, for the group's first participant; the others get zeros.
  };
  std::unique_ptr<Module> module;
  Results results = Results::kEach;
};
// Returns the approximate number of instructions of the group programs of all sizes: n times n pieces for an
// all-to-all among n participants. 0 when `collective` has sources.
int64_t GroupProgramSize(Instruction instruction, const Collective& collective);
// Returns the program of the groups of `size` participants. REQUIRES: `collective` was read from
// `instruction` of `module`, has no sources, and has a group of this size.
absl::StatusOr<GroupProgram> MakeGroupProgram(const Module& module, Instruction instruction,
                                              const Collective& collective, size_t size);
// Returns the program of an all-reduce or a reduce-scatter among `size` participants for operand number
// `operand` alone, with a vector of `elements` elements in its place: each element is computed as in the
// whole program, so a part of the operand can be reduced apart from the rest.
absl::StatusOr<std::unique_ptr<Module>> MakePartProgram(const Module& module, Instruction instruction,
                                                        uint32_t operand, size_t size, int64_t elements);

}  // namespace hlod::hlo
