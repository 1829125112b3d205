// Applies a reduction's computation to whole arrays, with its derivative, for reducers without a simpler
// formula.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

// The left or the right operands of a reducer: arrays of the same shape, with their tangents (absent means
// zero).
struct Dual {
  std::vector<Op> values, tangents;
};

// Applies f to each array; absent tangents stay absent.
template <typename F>
Dual OfEach(const Dual& x, F f) {
  Dual result;
  for (const Op value : x.values) result.values.push_back(f(value));
  for (const Op tangent : x.tangents) result.tangents.push_back(IsZero(tangent) ? Op{} : f(tangent));
  return result;
}
// Returns x where `pred` is true, otherwise y.
Dual Where(Lowering& l, Op pred, const Dual& x, const Dual& y);

// Returns reducer(left, right), element by element, with its tangents.
Dual Combined(Lowering& l, hlo::ComputationId reducer, const Dual& left, const Dual& right);

// Returns the tangents of a reduction over `dimensions`. Neighbours are combined until one element is left;
// the initial values (scalars in `init`) are combined last, as left operands.
Tangents ReducedTangents(Lowering& l, hlo::ComputationId reducer, const Dual& x, const Dual& init,
                         const Dims& dimensions);

}  // namespace hlod::lazy
