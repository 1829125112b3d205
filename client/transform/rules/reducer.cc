// Differentiates reducers in forward mode. A reducer of scalars is batched to one of vectors and
// differentiated like a body, and its instructions are appended in place of the reduction. So any reducer has
// a derivative, such as a minimum of one operand together with a maximum of another, or a product that starts
// at 2; the cost is about log2(n) copies of the reducer for n elements.
#include "client/transform/rules/reducer.h"

#include <algorithm>

#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/batch/batch.h"

namespace hlod::lazy {
namespace {

bool AllAreZero(absl::Span<const Op> tangents) {
  return std::all_of(tangents.begin(), tangents.end(), [](Op t) { return IsZero(t); });
}

Op TangentOrZeros(Lowering& l, const Dual& x, size_t i) {
  return IsZero(x.tangents[i]) ? Zeros(l, l.shape(x.values[i])) : x.tangents[i];
}

}  // namespace

Dual Where(Lowering& l, Op pred, const Dual& x, const Dual& y) {
  Dual result;
  for (size_t i = 0; i < x.values.size(); ++i) {
    result.values.push_back(l.b.Select(pred, x.values[i], y.values[i]));
    const bool none = IsZero(x.tangents[i]) && IsZero(y.tangents[i]);
    result.tangents.push_back(none ? Op{}
                                   : l.b.Select(pred, TangentOrZeros(l, x, i), TangentOrZeros(l, y, i)));
  }
  return result;
}

Dual Combined(Lowering& l, hlo::ComputationId reducer, const Dual& left, const Dual& right) {
  const CalleeBody scalar = BodyOf(reducer);
  const Dims dims = l.dims(left.values[0]), flat = {Count(dims)};
  Trace scratch(l.graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  std::vector<Batched> parameters;
  std::vector<NodeId> inputs;
  std::vector<Op> values, tangents;
  for (const Dual* const side : {&left, &right}) {
    for (size_t i = 0; i < side->values.size(); ++i) {
      const Shape shape = Shape::Array(l.type(side->values[i]), flat);
      inputs.push_back(scratch.ArgumentParameter(shape));
      parameters.push_back({scratch.op(inputs.back()), true});
      values.push_back(l.Reshape(side->values[i], flat));
      tangents.push_back(IsZero(side->tangents[i]) ? Op{} : l.Reshape(side->tangents[i], flat));
    }
  }
  std::vector<NodeId> outputs;
  for (const Batched& output : Batch(inner, scalar.computation, flat[0], parameters, scalar.outputs, {})) {
    outputs.push_back((output.has_batch ? output.op : inner.b.Broadcast(output.op, flat, {})).id);
  }
  if (!inner.b.status().ok()) throw Refusal{inner.b.TakeStatus()};
  std::vector<bool> wanted;
  for (const Op tangent : tangents) wanted.push_back(!IsZero(tangent));
  const Subgraph part{scratch.computation(), 0, scratch.computation().size(), inputs, wanted};
  RecomputedPrimals copies(l, scratch.computation(), values);
  Dual result;
  for (const Op tangent : AppendJvp(l, part, copies, tangents, outputs)) {
    result.tangents.push_back(IsZero(tangent) ? Op{} : l.Reshape(tangent, dims));
  }
  for (const NodeId output : outputs) result.values.push_back(l.Reshape(copies.Of(output), dims));
  return result;
}

Tangents ReducedTangents(Lowering& l, hlo::ComputationId reducer, const Dual& given, const Dual& init,
                         const Dims& dimensions) {
  if (AllAreZero(given.tangents) && AllAreZero(init.tangents)) return Tangents(given.values.size());
  // The reduced dimensions become dimension 0.
  const Dims from = l.dims(given.values[0]);
  Dims order = dimensions, rows = {1}, rest;
  std::sort(order.begin(), order.end());
  for (const int64_t dim : dimensions) rows[0] *= from[dim];
  for (int64_t dim = 0; dim < static_cast<int64_t>(from.size()); ++dim) {
    if (std::find(dimensions.begin(), dimensions.end(), dim) != dimensions.end()) continue;
    order.push_back(dim);
    rest.push_back(from[dim]);
  }
  rows.insert(rows.end(), rest.begin(), rest.end());
  const Dual start = OfEach(init, [&](Op x) { return l.b.Broadcast(x, rest, {}); });
  if (Count(rows) == 0) return start.tangents;
  Dual x = OfEach(given, [&](Op x) { return l.Reshape(l.b.Transpose(x, order), rows); });
  // Returns the slices of rows begin, begin + step, ... before end.
  const auto part = [&](int64_t begin, int64_t end, int64_t step) {
    return OfEach(x, [&](Op x) {
      Dims start(rows.size(), 0), limit = l.dims(x), stride(rows.size(), 1);
      start[0] = begin, limit[0] = end, stride[0] = step;
      return l.b.Slice(x, start, limit, stride);
    });
  };
  // Combines neighbours in order, so that a reducer need not be commutative.
  for (int64_t size = rows[0]; size > 1; size = (size + 1) / 2) {
    const int64_t even = size - size % 2;
    Dual next = Combined(l, reducer, part(0, even, 2), part(1, even, 2));
    if (size > even) {
      const Dual last = part(even, size, 1);
      for (size_t i = 0; i < next.values.size(); ++i) {
        const Op values[] = {next.values[i], last.values[i]};
        next.values[i] = Joined(l, values, 0);
        if (IsZero(next.tangents[i]) && IsZero(last.tangents[i])) continue;
        const Op tangents[] = {TangentOrZeros(l, next, i), TangentOrZeros(l, last, i)};
        next.tangents[i] = Joined(l, tangents, 0);
      }
    }
    x = std::move(next);
  }
  return Combined(l, reducer, start, OfEach(x, [&](Op x) { return l.Reshape(x, rest); })).tangents;
}

}  // namespace hlod::lazy
