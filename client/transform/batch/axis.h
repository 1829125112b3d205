// Collectives over the examples of a Vmap, as instructions of the traced function. They exist only there: the
// batching of the function replaces each by moves and sums along the dimension of the examples.
//
// An instruction is a custom call of two operands: x, and the index of the example, which Vmap passes as an
// argument of its own. The second operand makes the call depend on the examples even where x is the same for
// all of them, so that loops and branches around it are batched, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/tensor/dispatch/lowering.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/batch/batch.h"

namespace hlod::lazy {

// With n examples, where x_j is example j's operand and y_i example i's result.
enum class AxisCall {
  kSum,      // y_i = the sum of all x_j; every example's is the same.
  kGather,   // y_i[j] = x_j; every example's is the same.
  kScatter,  // y_i = the sum of all x_j[i], where x has n slices.
  kPermute,  // y_i = x_j for the j that sends to i, or zeros.
  kSwap,     // y_i[j] = x_j[i], where x has n slices.
};

// Appends a collective over the examples of the axis `name`, of `size` examples. `sources`, of kPermute: the
// sender of each example, -1 without one.
Op AppendAxisCall(Lowering& l, AxisCall call, Op x, Op index, std::string_view name, int64_t size,
                  const std::vector<int64_t>& sources = {});

bool IsAxisCall(const hlo::Instruction& instruction);
bool IsAxisTarget(std::string_view target);
// Refuses a computation with a collective over the axis `name` in it or in what it calls. `where` says where
// it stands, and that only some examples come there: the others' values would be missing from the sum, or
// their cotangents in it.
void RefuseAxisCalls(const hlo::Computation& computation, std::string_view name, const char* where);
// Returns the result of a collective over `size` examples of the axis `name`: along the examples, where the
// collective is over that axis, else for each example.
Batched BatchedAxisCall(Lowering& l, const hlo::Instruction& instruction, const Batched& x,
                        const Batched& index, int64_t size, std::string_view name);

// The collectives are linear in x; kGather and kScatter are each other's transpose, kPermute's is the inverse
// permutation, and the others are their own.
Tangents AxisTangents(const TangentArgs& c);
Cotangents AxisCotangents(const TransposeArgs& c);

}  // namespace hlod::lazy
