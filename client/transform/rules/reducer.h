// The computation of a reduction, over whole arrays and with its derivative: for every reducer that has no
// shorter formula.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// The operands of a reducer on one side, arrays of one shape, with their tangents (absent: zero).
struct Dual {
  std::vector<Op> values, tangents;
};

// f of each array; absent ones stay absent.
template <typename F>
Dual OfEach(const Dual& x, F f) {
  Dual result;
  for (const Op value : x.values) result.values.push_back(f(value));
  for (const Op tangent : x.tangents) result.tangents.push_back(IsZero(tangent) ? Op{} : f(tangent));
  return result;
}
// x where `pred`, else y.
Dual Where(Lowering& l, Op pred, const Dual& x, const Dual& y);

// reducer(left, right), element by element.
Dual Combined(Lowering& l, hlo::ComputationId reducer, const Dual& left, const Dual& right);

// The tangents of a reduction over `dimensions`: neighbours are combined until one is left; the initial
// values (scalars in `init`) come in last, on the left.
Tangents ReducedTangents(Lowering& l, hlo::ComputationId reducer, const Dual& x, const Dual& init,
                         const Dims& dimensions);

}  // namespace hlod::lazy
