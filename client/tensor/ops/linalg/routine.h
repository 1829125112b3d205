// Linear algebra by the routines of LAPACK, where there is LAPACK.
//
// In a trace such a routine is a custom-call, named and shaped as JAX's, that calls a computation of the same
// results by basic operations. A program that leaves the trace calls that computation in its place, with
// a note that names the routine: who knows the routine (hlod does, common/lapack/routine_call.h) runs it, any
// other XLA runs the computation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Whether there are routines for matrices of the type: f32, f64, c64 and c128.
bool HasRoutines(PrimitiveType type);
// "lapack_dgesdd_ffi" of "gesdd" and f64. REQUIRES: HasRoutines.
std::string RoutineTarget(std::string_view routine, PrimitiveType type);

// The routine's results of x: `body` computes the same, but for what the routine leaves undefined, and infos,
// which are 0. `config`: its attributes, "{mode = 83 : ui8}".
std::vector<Op> CallRoutine(Lowering& l, const std::string& target, std::string_view config,
                            std::vector<Op> x,
                            absl::FunctionRef<std::vector<Op>(Lowering&, absl::Span<const Op>)> body);

// Results [batch, ...] of matrices x [batch, m, n]: NaN of matrices that have a NaN, which some
// factorizations of LAPACK lose.
std::vector<Op> KeepingNan(Lowering& l, Op x, std::vector<Op> results);
// NaN where the routine's info, [batch], is not 0.
std::vector<Op> NanWhereFailed(Lowering& l, Op info, std::vector<Op> results);

// Whether it is such a custom-call.
bool IsRoutine(const hlo::Instruction& instruction);
// As that instruction, over other operands and with another computation.
std::vector<Op> CallRoutineLike(Lowering& l, const hlo::Instruction& like, absl::Span<const Op> operands,
                                hlo::ComputationId body);

}  // namespace hlod::lazy
