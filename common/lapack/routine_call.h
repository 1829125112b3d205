// Calls that are LAPACK's routines: a frontend attribute of the call is the target of a custom call, as JAX
// writes it, another its attributes. What is called computes the same results without LAPACK, so that every
// XLA, to which frontend attributes mean nothing, can run it. (A composite with a tuple for its result, which
// says just this, is not read by XLA's own import.)
#pragma once

#include <cstdint>
#include <optional>

#include "common/hlo/module.h"

namespace hlod::lapack {

// Makes a call one of a routine.
void NameRoutine(hlo::Notes& notes, const hlo::CustomCallAttributes& routine);
// The custom call in the place of a call with the routine's operands and results; nullopt for others,
// and where there is no LAPACK.
std::optional<hlo::CustomCallAttributes> RoutineOf(hlo::Instruction call);

// Of a routine that gives values and vectors: the results that are values, a bit each, and the routine that
// leaves the others undefined. nullopt for others.
struct ValuesOnly {
  uint32_t results;
  hlo::CustomCallAttributes routine;
};
std::optional<ValuesOnly> ValuesOnlyOf(const hlo::CustomCallAttributes& routine);

}  // namespace hlod::lapack
