// The derivative of what runs along a dimension: y_i = x_0 * x_1 * ... * x_i for any associative `*`, which
// is a window that grows from the one end (lax.cumprod, lax.cumlogsumexp). The reducer and its derivative are
// one function of two numbers and their tangents. Over whole arrays it is applied log2(n) times: after the
// step of distance d, element i has joined the 2 d elements that end at i.
#include <optional>
#include <utility>

#include "client/tensor/ops/movement.h"
#include "client/transform/batch.h"
#include "client/transform/control_rules.h"

namespace hlod::lazy {
namespace {

struct Along {
  int64_t dim;
  bool backward;  // From the last element on.
};

// The dimension along which windows over `dims` grow; nullopt: these are other windows.
std::optional<Along> GrowingAlong(const hlo::Window& window, const Dims& dims) {
  std::optional<Along> along;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = window[i];
    const int64_t others = dims[i] - 1;
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const bool forward = w.padding_low == others && w.padding_high == 0;
    const bool backward = w.padding_low == 0 && w.padding_high == others;
    if (along.has_value() || w.size != dims[i] || (!forward && !backward)) return std::nullopt;
    along = Along{static_cast<int64_t>(i), backward};
  }
  return along.has_value() ? along : Along{0, false};
}

struct Dual {
  Op value, tangent;
};

// The reducer of a and b, element by element.
Dual Reduced(Lowering& l, const CalleeBody& reducer, const Dual& a, const Dual& b) {
  const Dims dims = l.dims(a.value);
  Graph scratch(l.graph.place, Graph::Kind::kFunction);
  Lowering inner{scratch};
  std::vector<Op> parameters;
  std::vector<Batched> arguments;
  for (const Op x : {a.value, b.value, a.tangent, b.tangent}) {
    parameters.push_back(scratch.op(scratch.ArgumentParameter(Shape::Scalar(l.type(x)))));
    arguments.push_back({l.Reshape(x, {Count(dims)}), true});
  }
  const Part nowhere{reducer.computation};
  const Pushed pushed =
      PushBody(inner, reducer, {parameters[0], parameters[1]}, {parameters[2], parameters[3]}, nowhere, 0);
  const Op tangent =
      IsZero(pushed.tangents[0]) ? Zeros(inner, inner.shape(parameters[2])) : pushed.tangents[0];
  const NodeId outputs[] = {pushed.values[0].id, tangent.id};
  const std::vector<Batched> both =
      Batch(l, scratch.computation(), Count(dims), arguments, outputs, /*random_different=*/false);
  const auto whole = [&](const Batched& x) {
    return x.has_batch ? l.Reshape(x.op, dims) : l.b.Broadcast(x.op, dims, {});
  };
  return {whole(both[0]), whole(both[1])};
}

}  // namespace

bool IsRunning(const TangentCase& c) {
  return GrowingAlong(c.Get<hlo::WindowAttributes>().window, c.l.dims(c.x[0])).has_value();
}

Op RunningTangent(const TangentCase& c) {
  Lowering& l = c.l;
  const Dims dims = c.shape.dims;
  const std::optional<Along> along = GrowingAlong(c.Get<hlo::WindowAttributes>().window, dims);
  if (Count(dims) == 0) return Op{};
  const CalleeBody reducer = BodyOf(c.called[0]);
  const int64_t dim = along->dim, size = dims[dim];
  Dual all{c.x[0], c.t[0]};
  for (int64_t distance = 1; distance < size; distance *= 2) {
    const auto part = [&](int64_t from, int64_t to) {
      return Dual{SliceDim(l, all.value, dim, from, to), SliceDim(l, all.tangent, dim, from, to)};
    };
    const Dual joined = Reduced(l, reducer, part(0, size - distance), part(distance, size));
    const Dual rest = along->backward ? part(size - distance, size) : part(0, distance);
    const auto beside = [&](Op kept, Op made) {
      const Op parts[] = {along->backward ? made : kept, along->backward ? kept : made};
      return Joined(l, parts, dim);
    };
    all = {beside(rest.value, joined.value), beside(rest.tangent, joined.tangent)};
  }
  return all.tangent;
}

}  // namespace hlod::lazy
