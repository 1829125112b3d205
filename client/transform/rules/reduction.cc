// Derivatives of reductions, reduce-windows and select-and-scatter.
#include <algorithm>

#include "absl/functional/function_ref.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/rules/reducer.h"

namespace hlod::lazy {
namespace {

using Order = hlo::ComparisonDirection;

// Broadcasts each reduced value to the elements that it was computed from.
Op BroadcastBack(Lowering& l, Op reduced, const Dims& to, const Dims& dimensions) {
  Dims kept;
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
    if (std::find(dimensions.begin(), dimensions.end(), dim) == dimensions.end()) kept.push_back(dim);
  }
  return l.b.Broadcast(reduced, to, kept);
}

// Returns the arrays of a reduction, and its initial values, with their tangents.
Dual DualOfOperands(const TangentArgs& c) {
  const size_t count = c.x.size() / 2;
  return {{c.x.begin(), c.x.begin() + static_cast<std::ptrdiff_t>(count)},
          {c.t.begin(), c.t.begin() + static_cast<std::ptrdiff_t>(count)}};
}
Dual DualOfInits(const TangentArgs& c) {
  const size_t count = c.x.size() / 2;
  return {{c.x.begin() + static_cast<std::ptrdiff_t>(count), c.x.end()},
          {c.t.begin() + static_cast<std::ptrdiff_t>(count), c.t.end()}};
}

// Returns the tangent of a maximum or minimum of one array. All elements that equal the result share it
// equally; no element has a share if only the initial value equals the result. For NaN the shares are 0 / 0,
// except in a reduction over no dimensions, whose result is the element itself.
Op ExtremeTangent(const TangentArgs& c, const Dims& dimensions) {
  Lowering& l = c.l;
  const Op x = c.x[0], spread = BroadcastBack(l, c.y, l.dims(x), dimensions);
  const Op same = l.b.Compare(x, spread, Order::kEq);
  if (dimensions.empty()) {
    const Op here = l.b.Binary(hlo::kOr, same, l.b.Compare(x, x, Order::kNe));
    return l.b.Select(here, c.t[0], Zeros(l, c.shape));
  }
  const Op here = l.Convert(same, c.shape.type), count = l.Reduce(hlo::kAdd, here, dimensions);
  const Op none = l.b.Binary(hlo::kAnd, l.b.Compare(count, Zeros(l, c.shape), Order::kEq),
                             l.b.Compare(c.y, c.y, Order::kEq));
  const Op shares = l.b.Select(none, l.Full(c.shape.type, c.shape.dims, 1), count);
  return l.Reduce(hlo::kAdd, c.t[0] * (here / BroadcastBack(l, shares, l.dims(x), dimensions)), dimensions);
}

Tangents Reduce(const TangentArgs& c) {
  Lowering& l = c.l;
  const Dims& dimensions = c.Get<hlo::DimensionsAttributes>().dimensions;
  const hlo::Opcode join = c.x.size() == 2 ? ReducerOpcode(c.called[0]) : hlo::kCustomCall;
  if (join == hlo::kAdd) {
    const Op sum = IsZero(c.t[0]) ? Op{} : l.Reduce(hlo::kAdd, c.t[0], dimensions);
    return {SumOf(l, sum, IsZero(c.t[1]) ? Op{} : l.b.Broadcast(c.t[1], c.shape.dims, {}))};
  }
  if ((join == hlo::kMaximum || join == hlo::kMinimum) && hlo::IsFloat(c.shape.type) && IsZero(c.t[1])) {
    return {ExtremeTangent(c, dimensions)};
  }
  return ReducedTangents(l, c.called[0], DualOfOperands(c), DualOfInits(c), dimensions);
}

// The initial value is a constant if the reduction is linear.
Cotangents TReduce(const TransposeArgs& c) {
  return {BroadcastBack(c.l, c.ct, c.operands[0]->dims, c.Get<hlo::DimensionsAttributes>().dimensions), Op{}};
}

// The maximum number of elements of a window whose positions are visited one by one.
constexpr int64_t kWindowMax = 1024;

// Returns x with the padding and the dilation of the windows.
Op Padded(Lowering& l, Op x, Op value, const hlo::Window& window) {
  std::vector<hlo::PadDimension> padding;
  bool any = false;
  for (const hlo::WindowDimension& w : window) {
    padding.push_back({w.padding_low, w.padding_high, w.base_dilation - 1});
    any = any || !(padding.back() == hlo::PadDimension{});
  }
  return any ? l.b.Pad(x, value, padding) : x;
}

// Returns the element at one position of every window.
Op AtPosition(Lowering& l, Op padded, const hlo::Window& window, const Dims& position, const Dims& to) {
  Dims start, limit, stride;
  for (size_t i = 0; i < window.size(); ++i) {
    start.push_back(position[i] * window[i].window_dilation);
    stride.push_back(window[i].stride);
    limit.push_back(start[i] + (to[i] == 0 ? 0 : (to[i] - 1) * window[i].stride + 1));
  }
  return l.b.Slice(padded, start, limit, stride);
}

bool Next(Dims& position, const hlo::Window& window) {
  for (size_t i = window.size(); i-- > 0;) {
    if (++position[i] < window[i].size) return true;
    position[i] = 0;
  }
  return false;
}

int64_t PositionsOf(const hlo::Window& window) {
  int64_t count = 1;
  for (const hlo::WindowDimension& w : window) count *= w.size;
  if (count > kWindowMax) Refuse("a window of %d elements is too large for its derivative rule", count);
  return count;
}

// Returns which windows have an element of an array with dimensions `from` at a position, as bits in `to`;
// null where all have. The others have padding there.
Op HaveElement(Lowering& l, const Dims& from, const hlo::Window& window, const Dims& position,
               const Dims& to) {
  Op have;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = window[i];
    const int64_t first = position[i] * w.window_dilation - w.padding_low;
    if (w.base_dilation == 1 && first >= 0 && first + (to[i] - 1) * w.stride < from[i]) continue;
    const Op place = IndexIota(l, {to[i]}, 0) * l.Number(hlo::kS64, w.stride) + l.Number(hlo::kS64, first);
    Op inside = l.b.Binary(hlo::kAnd, CompareOps(l, place, 0, Order::kGe),
                           CompareOps(l, place, DilatedSize(from[i], w.base_dilation), Order::kLt));
    if (w.base_dilation > 1) {
      const Op between = l.b.Binary(hlo::kRemainder, place, l.Full(hlo::kS64, {to[i]}, w.base_dilation));
      inside = l.b.Binary(hlo::kAnd, inside, CompareOps(l, between, 0, Order::kEq));
    }
    inside = l.b.Broadcast(inside, to, {static_cast<int64_t>(i)});
    have = IsZero(have) ? inside : l.b.Binary(hlo::kAnd, have, inside);
  }
  return have;
}

// The element that each window selects, and the element of t at the same position.
struct Selected {
  Op value, of_t;
};
// Finds the selected elements, one position of the windows after another: the best element so far is kept
// where stays(best, next) is true. Padding is never selected: a window that has nothing else selects
// `outside`, and 0 of t. `to` has the dimensions of the result, an element per window.
Selected AtSelected(Lowering& l, Op given, Op outside, Op t_given, const hlo::Window& window, const Dims& to,
                    absl::FunctionRef<Op(Op, Op)> stays) {
  static_cast<void>(PositionsOf(window));
  const Op x = Padded(l, given, outside, window);
  const Op t = Padded(l, t_given, l.Number(l.type(t_given), 0), window);
  const auto either = [&](hlo::Opcode opcode, Op a, Op b) { return l.b.Binary(opcode, a, b); };
  Dims position(window.size(), 0);
  Selected best = {AtPosition(l, x, window, position, to), AtPosition(l, t, window, position, to)};
  Op found = HaveElement(l, l.dims(given), window, position, to);
  while (Next(position, window)) {
    const Op other = AtPosition(l, x, window, position, to);
    const Op here = HaveElement(l, l.dims(given), window, position, to);
    Op stay = stays(best.value, other);
    if (!IsZero(found)) stay = either(hlo::kAnd, found, stay);
    if (!IsZero(here)) stay = either(hlo::kOr, stay, l.b.Unary(hlo::kNot, here));
    if (!IsZero(found)) found = IsZero(here) ? here : either(hlo::kOr, found, here);
    best.of_t = l.b.Select(stay, best.of_t, AtPosition(l, t, window, position, to));
    best.value = l.b.Select(stay, best.value, other);
  }
  return best;
}

// Returns the tangent of a maximum or minimum over windows of one array: that of the first of equal elements,
// that of the last NaN, or 0 where the initial value is beyond all elements. PyTorch's max_pool.
Op ExtremeInWindows(const TangentArgs& c, const hlo::Window& window, bool maximum) {
  Lowering& l = c.l;
  const Order beyond = maximum ? Order::kGt : Order::kLt;
  const auto stays = [&](Op best, Op other) {
    const Op next = l.b.Binary(hlo::kOr, l.b.Compare(other, best, beyond), NanOps(l, other));
    return l.b.Unary(hlo::kNot, next);
  };
  const Selected best = AtSelected(l, c.x[0], c.x[1], c.t[0], window, c.shape.dims, stays);
  const Op init = l.b.Broadcast(c.x[1], c.shape.dims, {});
  return l.b.Select(l.b.Compare(init, best.value, beyond), Zeros(l, c.shape), best.of_t);
}

// Differentiates by the reducer itself: combines the positions of each window, beginning with the initial
// values. Padding is not included.
Tangents FoldedWindows(const TangentArgs& c, const hlo::Window& window) {
  Lowering& l = c.l;
  static_cast<void>(PositionsOf(window));
  const Dims to = c.shape.IsTuple() ? c.shape.tuple[0].dims : c.shape.dims;
  const Dual x = DualOfOperands(c);
  if (Count(to) == 0) return Tangents(x.values.size());
  const auto padded = [&](Op x) { return Padded(l, x, l.Number(l.type(x), 0), window); };
  const auto to_all = [&](Op x) { return l.b.Broadcast(x, to, {}); };
  const Dual spread = OfEach(x, padded);
  const Op inside = padded(l.Full(hlo::kPred, l.dims(x.values[0]), true));
  Dual folded = OfEach(DualOfInits(c), to_all);
  Dims position(window.size(), 0);
  do {
    const auto here = [&](Op x) { return AtPosition(l, x, window, position, to); };
    const Dual next = Combined(l, c.called[0], folded, OfEach(spread, here));
    folded = Where(l, here(inside), next, folded);
  } while (Next(position, window));
  return folded.tangents;
}

Tangents ReduceWindow(const TangentArgs& c) {
  Lowering& l = c.l;
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  const bool one = c.x.size() == 2 && IsZero(c.t[1]);
  const hlo::Opcode join = one ? ReducerOpcode(c.called[0]) : hlo::kCustomCall;
  if (join == hlo::kAdd) {
    return {l.b.ReduceWindow(c.t[0], l.Number(c.shape.type, 0), window, c.called[0])};
  }
  if (one && IsRunning(c)) return {RunningTangent(c)};
  if ((join == hlo::kMaximum || join == hlo::kMinimum) && hlo::IsFloat(c.shape.type)) {
    return {ExtremeInWindows(c, window, join == hlo::kMaximum)};
  }
  return FoldedWindows(c, window);
}

// Sums windows of the cotangent, which is dilated by the strides; follows JAX's rule.
Cotangents TReduceWindow(const TransposeArgs& c) {
  Lowering& l = c.l;
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  std::vector<hlo::PadDimension> padding;
  hlo::Window back = window;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = window[i];
    const int64_t input = DilatedSize(c.operands[0]->dims[i], w.base_dilation);
    const int64_t reach = DilatedSize(w.size, w.window_dilation),
                  output = DilatedSize(c.shape.dims[i], w.stride);
    const int64_t low = reach - w.padding_low - 1;
    padding.push_back({low, input + reach - 1 - output - low, w.stride - 1});
    back[i] = {};
    back[i].size = w.size;
    back[i].stride = w.base_dilation;
    back[i].window_dilation = w.window_dilation;
  }
  const Op zero = l.Number(c.shape.type, 0);
  return {l.b.ReduceWindow(l.b.Pad(c.ct, zero, padding), zero, back, l.Reducer(hlo::kAdd, c.shape.type)),
          Op{}};
}

// The index of the element that a window selects is constant almost everywhere, so the result is linear in
// the source.
Tangents SelectAndScatter(const TangentArgs& c) {
  if (!IsZero(c.t[2])) Refuse("windows whose initial value has a derivative have no derivative rule");
  if (ReducerOpcode(c.called[1]) != hlo::kAdd) {
    Refuse("a selection that is not scattered by a sum has no derivative rule");
  }
  if (IsZero(c.t[1])) return {Op{}};
  return {c.l.b.Add(c.opcode, {c.x[0], c.t[1], c.l.Number(c.shape.type, 0)}, c.attributes, c.called)};
}

// Gathers the cotangent from the elements that the windows scatter to.
Cotangents TSelectAndScatter(const TransposeArgs& c) {
  Lowering& l = c.l;
  const hlo::Computation& select = TraceTables::Get().callees().computation(c.called[0]);
  const bool compares = ReducerOpcode(c.called[0]) == hlo::kCompare;
  const Order order = compares ? select.root().attributes<hlo::CompareAttributes>().direction : Order::kEq;
  const bool maximum = order == Order::kGe || order == Order::kGt;
  if (!maximum && order != Order::kLe && order != Order::kLt) {
    Refuse("a selection with this computation has no transpose rule");
  }
  const PrimitiveType type = l.type(c.x[0]);
  const Op outside =
      l.graph.op(l.graph.Constant(NeutralLiteral(maximum ? hlo::kMaximum : hlo::kMinimum, type)));
  const auto stays = [&](Op best, Op other) { return l.b.Compare(best, other, order); };
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  return {Op{}, AtSelected(l, c.x[0], outside, c.ct, window, c.operands[1]->dims, stays).of_t, Op{}};
}

}  // namespace

void AddReductionRules(Rules& rules) {
  rules.tangent[static_cast<size_t>(hlo::kReduce)] = Reduce;
  rules.transpose[static_cast<size_t>(hlo::kReduce)] = TReduce;
  rules.tangent[static_cast<size_t>(hlo::kReduceWindow)] = ReduceWindow;
  rules.transpose[static_cast<size_t>(hlo::kReduceWindow)] = TReduceWindow;
  rules.tangent[static_cast<size_t>(hlo::kSelectAndScatter)] = SelectAndScatter;
  rules.transpose[static_cast<size_t>(hlo::kSelectAndScatter)] = TSelectAndScatter;
}

}  // namespace hlod::lazy
