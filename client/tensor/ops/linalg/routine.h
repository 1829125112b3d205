// Linear algebra by LAPACK's routines, where LAPACK is available.
//
// In a trace such a routine is a custom-call, with JAX's name and shapes, that also calls a computation with
// the same results in basic operations. A program that leaves the trace calls that computation instead, with
// a note that names the routine: a backend that knows the routine (hlod does, common/lapack/routine_call.h)
// runs it, any other XLA runs the computation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns true for the types that LAPACK has routines for: f32, f64, c64 and c128.
bool HasRoutines(PrimitiveType type);
// Returns the custom-call target: "lapack_dgesdd_ffi" for "gesdd" and f64. REQUIRES: HasRoutines.
std::string RoutineTarget(std::string_view routine, PrimitiveType type);

// Returns the routine's results for x. `body` computes the same results in basic operations, except for
// elements that the routine leaves undefined, and infos, which are 0. `config` holds the routine's
// attributes, as in "{mode = 83 : ui8}".
std::vector<Op> CallRoutine(Lowering& l, const std::string& target, std::string_view config,
                            std::vector<Op> x,
                            absl::FunctionRef<std::vector<Op>(Lowering&, absl::Span<const Op>)> body);

// Replaces the results [batch, ...] of a matrix of x [batch, m, n] that contains a NaN by NaN, which some
// LAPACK factorizations lose.
std::vector<Op> KeepingNan(Lowering& l, Op x, std::vector<Op> results);
// Replaces the results by NaN where the routine's info, [batch], is not 0.
std::vector<Op> NanWhereFailed(Lowering& l, Op info, std::vector<Op> results);

// Returns true when the instruction is a custom-call made by CallRoutine().
bool IsRoutine(const hlo::Instruction& instruction);
// Appends a call like `like` with other operands and another computation.
std::vector<Op> CallRoutineLike(Lowering& l, const hlo::Instruction& like, absl::Span<const Op> operands,
                                hlo::ComputationId body);

}  // namespace hlod::lazy
