// Calls that are LAPACK routines: one frontend attribute of the call is the target of a custom call, as JAX
// writes it, and another holds its attributes. The callee computes the same results without LAPACK, so that
// any XLA can run it, ignoring these frontend attributes. (A composite with a tuple result would express the
// same, but XLA's own import does not read it.)
#pragma once

#include <cstdint>
#include <optional>

#include "common/hlo/module.h"

namespace hlod::lapack {

// Marks a call as a call of a routine.
void NameRoutine(hlo::Notes& notes, const hlo::CustomCallAttributes& routine);
// Returns the custom call that replaces a call with the routine's operands and results; nullopt for other
// calls, and without LAPACK.
std::optional<hlo::CustomCallAttributes> RoutineOf(hlo::Instruction call);

// A routine that computes only the values of a decomposition: `results` has a bit per result that it
// computes, and `routine` leaves the other results undefined.
struct ValuesOnly {
  uint32_t results;
  hlo::CustomCallAttributes routine;
};
std::optional<ValuesOnly> ValuesOnlyOf(const hlo::CustomCallAttributes& routine);

}  // namespace hlod::lapack
