// Derivatives of reductions and windows.
#include <algorithm>

#include "client/tensor/ops/movement.h"
#include "client/transform/rules.h"

namespace hlod::lazy {
namespace {

using Order = hlo::ComparisonDirection;

// A reduced value beside every element it was made of.
Op Spread(Lowering& l, Op reduced, const Dims& to, const Dims& dimensions) {
  Dims kept;
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
    if (std::find(dimensions.begin(), dimensions.end(), dim) == dimensions.end()) kept.push_back(dim);
  }
  return l.b.Broadcast(reduced, to, kept);
}

// The tangent of a product over dimensions by halving: correct where elements are zero.
Op ProductTangent(Lowering& l, Op x, Op t, const Dims& dimensions) {
  for (const int64_t dim : dimensions) {
    for (int64_t size = l.dims(x)[dim]; size > 1; size = l.dims(x)[dim]) {
      const int64_t half = size / 2;
      const Op a = SliceDim(l, x, dim, 0, half), b = SliceDim(l, x, dim, half, 2 * half);
      const Op ta = SliceDim(l, t, dim, 0, half), tb = SliceDim(l, t, dim, half, 2 * half);
      Op next = a * b, tangent = ta * b + tb * a;
      if (size % 2 == 1) {
        const Op rest[] = {next, SliceDim(l, x, dim, size - 1, size)};
        const Op tangents[] = {tangent, SliceDim(l, t, dim, size - 1, size)};
        next = Joined(l, rest, dim);
        tangent = Joined(l, tangents, dim);
      }
      x = next;
      t = tangent;
    }
  }
  Dims kept;
  const Dims dims = l.dims(t);
  for (int64_t dim = 0; dim < static_cast<int64_t>(dims.size()); ++dim) {
    if (std::find(dimensions.begin(), dimensions.end(), dim) == dimensions.end()) kept.push_back(dims[dim]);
  }
  return l.Reshape(t, kept);
}

// Whether a computation gives one of the two groups of operands, as an arg max does: it has nothing but
// comparisons, their logic, and choices.
bool Selects(hlo::ComputationId id) {
  const hlo::Computation& reducer = Tracer::Get().callees().computation(id);
  for (NodeId node = 0; node < reducer.size(); ++node) {
    switch (reducer[node].opcode()) {
      case hlo::kParameter:
      case hlo::kConstant:
      case hlo::kCompare:
      case hlo::kAnd:
      case hlo::kOr:
      case hlo::kNot:
      case hlo::kSelect:
      case hlo::kTuple: break;
      default: return false;
    }
  }
  return true;
}

// Whether elements are what was selected: all operands are equal to all results, NaN to NaN.
Op IsSelected(Lowering& l, absl::Span<const Op> elements, absl::Span<const Op> selected) {
  Op all;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Op x = elements[i], y = selected[i];
    Op same = l.b.Compare(x, y, Order::kEq);
    if (IsDifferentiable(l.type(x))) {
      const Op nans = l.b.Binary(hlo::kAnd, l.b.Compare(x, x, Order::kNe), l.b.Compare(y, y, Order::kNe));
      same = l.b.Binary(hlo::kOr, same, nans);
    }
    all = IsZero(all) ? same : l.b.Binary(hlo::kAnd, all, same);
  }
  return all;
}

// Of a reduction of values and their places to one of them: the tangent of the element that is selected.
// Elements that are alike in all are alike in their places, so that there is one.
Tangents SelectedTangents(const TangentCase& c, const Dims& dimensions) {
  Lowering& l = c.l;
  if (!Selects(c.called[0]))
    Refuse("a reduction of several operands with this computation has no derivative rule");
  const size_t count = c.x.size() / 2;
  const Dims from = l.dims(c.x[0]);
  std::vector<Op> results;
  for (size_t i = 0; i < count; ++i) {
    results.push_back(Spread(l, l.b.GetTupleElement(c.y, static_cast<int64_t>(i)), from, dimensions));
  }
  const Op here = IsSelected(l, c.x.subspan(0, count), results);
  Tangents all;
  for (size_t i = 0; i < count; ++i) {
    if (IsZero(c.t[i])) {
      all.emplace_back();
      continue;
    }
    const Op only = l.b.Select(here, c.t[i], Zeros(l, l.shape(c.t[i])));
    all.push_back(l.Reduce(hlo::kAdd, only, dimensions));
  }
  return all;
}

Tangents Reduce(const TangentCase& c) {
  Lowering& l = c.l;
  const Dims& dimensions = c.Get<hlo::DimensionsAttributes>().dimensions;
  if (c.x.size() != 2) {
    if (std::all_of(c.t.begin(), c.t.end(), IsZero)) return Tangents(c.x.size() / 2);
    return SelectedTangents(c, dimensions);
  }
  if (!IsZero(c.t[1])) Refuse("a reduction whose initial value has a derivative has no derivative rule");
  const Dims from = l.dims(c.x[0]);
  switch (ReducerOpcode(c.called[0])) {
    case hlo::kAdd: return {l.Reduce(hlo::kAdd, c.t[0], dimensions)};
    case hlo::kMultiply: {
      if (Count(from) == 0) return {Op{}};
      return {ProductTangent(l, c.x[0], c.t[0], dimensions)};
    }
    case hlo::kMaximum:
    case hlo::kMinimum: {  // Shared equally by all that are the extreme.
      const Op here =
          l.Convert(l.b.Compare(c.x[0], Spread(l, c.y, from, dimensions), Order::kEq), c.shape.type);
      const Op count = l.Reduce(hlo::kAdd, here, dimensions);
      return {l.Reduce(hlo::kAdd, c.t[0] * (here / Spread(l, count, from, dimensions)), dimensions)};
    }
    default: Refuse("a reduction with this computation has no derivative rule");
  }
}

// init is constant in what is linear.
Cotangents TReduce(const TransposeCase& c) {
  return {Spread(c.l, c.ct, c.operands[0]->dims, c.Get<hlo::DimensionsAttributes>().dimensions), Op{}};
}

constexpr int64_t kWindowMax = 1024;  // Elements of a window that are looked at one by one.

// x padded and spread as the windows see it.
Op Padded(Lowering& l, Op x, Op value, const hlo::Window& window) {
  std::vector<hlo::PadDimension> padding;
  bool any = false;
  for (const hlo::WindowDimension& w : window) {
    padding.push_back({w.padding_low, w.padding_high, w.base_dilation - 1});
    any = any || !(padding.back() == hlo::PadDimension{});
  }
  return any ? l.b.Pad(x, value, padding) : x;
}

// The element of every window at one position in it.
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

// Of t, what stands where the extreme of each window of x is, found position by position; the first of equal
// ones counts. `init` is what x is padded with, `to` has as many elements as there are windows.
Op AtExtreme(Lowering& l, Op given, Op init, Op selected, const hlo::Window& window, const Dims& to,
             bool maximum) {
  int64_t count = 1;
  for (const hlo::WindowDimension& w : window) count *= w.size;
  if (count > kWindowMax) Refuse("a window of %d elements is too large for its derivative rule", count);
  const Op x = Padded(l, given, init, window);
  const Op t = Padded(l, selected, l.Number(l.type(selected), 0), window);
  Dims position(window.size(), 0);
  Op best = AtPosition(l, x, window, position, to);
  Op found = AtPosition(l, t, window, position, to);
  while (Next(position, window)) {
    const Op other = AtPosition(l, x, window, position, to);
    const Op better = l.b.Compare(other, best, maximum ? Order::kGt : Order::kLt);
    found = l.b.Select(better, AtPosition(l, t, window, position, to), found);
    best = l.b.Select(better, other, best);
  }
  return found;
}

// The same of windows: the element at each position counts where it is what was selected.
Tangents SelectedInWindows(const TangentCase& c) {
  Lowering& l = c.l;
  if (!Selects(c.called[0]))
    Refuse("windows of several operands with this computation have no derivative rule");
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  int64_t positions = 1;
  for (const hlo::WindowDimension& w : window) positions *= w.size;
  if (positions > kWindowMax) {
    Refuse("a window of %d elements is too large for its derivative rule", positions);
  }
  const size_t count = c.x.size() / 2;
  std::vector<Op> x, t(count), results;
  for (size_t i = 0; i < count; ++i) {
    x.push_back(Padded(l, c.x[i], c.x[count + i], window));
    if (!IsZero(c.t[i])) t[i] = Padded(l, c.t[i], l.Number(l.type(c.t[i]), 0), window);
    results.push_back(l.b.GetTupleElement(c.y, static_cast<int64_t>(i)));
  }
  const Dims to = l.dims(results[0]);
  Tangents all(count);
  Dims position(window.size(), 0);
  do {
    std::vector<Op> elements;
    for (const Op padded : x) elements.push_back(AtPosition(l, padded, window, position, to));
    const Op here = IsSelected(l, elements, results);
    for (size_t i = 0; i < count; ++i) {
      if (IsZero(t[i])) continue;
      const Op tangent = AtPosition(l, t[i], window, position, to);
      all[i] = l.b.Select(here, tangent, IsZero(all[i]) ? Zeros(l, l.shape(tangent)) : all[i]);
    }
  } while (Next(position, window));
  return all;
}

Tangents ReduceWindow(const TangentCase& c) {
  if (c.x.size() != 2) return SelectedInWindows(c);
  if (!IsZero(c.t[1])) Refuse("windows whose initial value has a derivative have no derivative rule");
  Lowering& l = c.l;
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  const hlo::Opcode join = ReducerOpcode(c.called[0]);
  switch (join) {
    case hlo::kAdd: return {l.b.ReduceWindow(c.t[0], l.Number(c.shape.type, 0), window, c.called[0])};
    case hlo::kMaximum:
    case hlo::kMinimum:
      return {AtExtreme(l, c.x[0], c.x[1], c.t[0], window, c.shape.dims, join == hlo::kMaximum)};
    default: Refuse("windows reduced with this computation have no derivative rule");
  }
}

int64_t Dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

// Sums over windows of the spread cotangent, after JAX's rule.
Cotangents TReduceWindow(const TransposeCase& c) {
  Lowering& l = c.l;
  const hlo::Window& window = c.Get<hlo::WindowAttributes>().window;
  std::vector<hlo::PadDimension> padding;
  hlo::Window back = window;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = window[i];
    const int64_t input = Dilated(c.operands[0]->dims[i], w.base_dilation);
    const int64_t reach = Dilated(w.size, w.window_dilation), output = Dilated(c.shape.dims[i], w.stride);
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

// Which element a window selects is constant almost everywhere: linear in what is scattered.
Tangents SelectAndScatter(const TangentCase& c) {
  if (!IsZero(c.t[2])) Refuse("windows whose initial value has a derivative have no derivative rule");
  if (ReducerOpcode(c.called[1]) != hlo::kAdd) {
    Refuse("a selection that is not scattered by a sum has no derivative rule");
  }
  if (IsZero(c.t[1])) return {Op{}};
  return {c.l.b.Add(c.opcode, {c.x[0], c.t[1], c.l.Number(c.shape.type, 0)}, c.attributes, c.called)};
}

// Gathers from where the windows scatter to.
Cotangents TSelectAndScatter(const TransposeCase& c) {
  Lowering& l = c.l;
  const hlo::Computation& select = Tracer::Get().callees().computation(c.called[0]);
  const bool compares = select.root().opcode() == hlo::kCompare;
  const Order order = compares ? select.root().attributes<hlo::CompareAttributes>().direction : Order::kEq;
  const bool maximum = order == Order::kGe || order == Order::kGt;
  if (!maximum && order != Order::kLe && order != Order::kLt) {
    Refuse("a selection with this computation has no transpose rule");
  }
  const PrimitiveType type = l.type(c.x[0]);
  const Op outside =
      l.graph.op(l.graph.Constant(NeutralLiteral(maximum ? hlo::kMaximum : hlo::kMinimum, type)));
  return {Op{},
          AtExtreme(l, c.x[0], outside, c.ct, c.Get<hlo::WindowAttributes>().window, c.operands[1]->dims,
                    maximum),
          Op{}};
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
