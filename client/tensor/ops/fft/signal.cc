// Convolution and correlation of vectors, computed as those of images with one row and one channel; interp,
// as a composition of other operations.
#include "hlod/ops/signal.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "common/hlo/shape.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/sorting.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

constexpr lazy::Operation kConvolve = {"Convolve", "convolve", lazy::Promotion::kFloat,
                                       "the convolution of two vectors"};
constexpr lazy::Operation kCorrelate = {"Correlate", "correlate", lazy::Promotion::kFloat,
                                        "the cross-correlation of two vectors"};
constexpr lazy::Operation kInterp = {"Interp", "interp", lazy::Promotion::kNone,
                                     "values on the lines between points"};

// Returns the padding on each side of the longer signal for a kernel of `size`.
std::pair<int64_t, int64_t> PaddingOf(ConvolveMode mode, int64_t size) {
  switch (mode) {
    case ConvolveMode::kFull: return {size - 1, size - 1};
    case ConvolveMode::kSame: return {size / 2, size - size / 2 - 1};
    case ConvolveMode::kValid: break;
  }
  return {0, 0};
}

// Slides the shorter vector over the longer one; it is reversed when `flipped`.
Op Slide(Lowering& l, Op longer, Op shorter, ConvolveMode mode, bool flipped) {
  const int64_t size = l.dims(shorter)[0];
  hlo::ConvolutionAttributes numbers;
  numbers.input_feature = numbers.output_feature = numbers.kernel_input_feature = 1;
  numbers.input_spatial = numbers.kernel_spatial = numbers.output_spatial = {2};
  hlo::WindowDimension& window = numbers.window.emplace_back();
  window.size = size;
  std::tie(window.padding_low, window.padding_high) = PaddingOf(mode, size);
  window.reversal = flipped;
  const Op result = l.b.Convolution(l.Reshape(longer, {1, 1, l.dims(longer)[0]}),
                                    l.Reshape(shorter, {1, 1, size}), numbers);
  return l.Reshape(result, {l.dims(result)[2]});
}

void CheckVectors(Lowering& l, Operands o) {
  for (const Op operand : o) {
    if (l.dims(operand).size() != 1 || l.dims(operand)[0] == 0)
      Refuse("vectors of at least one element are needed, not shape %s", lazy::ListText(l.dims(operand)));
  }
}

// The arguments of Interp(), checked and converted to one floating type.
struct Lines {
  Tensor x, points, values;
};

Tensor Floating(const Tensor& tensor, const Caller& caller) {
  const PrimitiveType type = tensor.dtype();
  return hlo::IsFloat(type) || hlo::IsComplex(type) ? tensor : tensor.To(kF32, caller);
}

void Check(const Operand& x, const Tensor& points, const Tensor& values, std::optional<double> period) {
  lazy::Explain(kInterp, {&x, 1}, x.caller(), [&] {
    if (!points.defined() || !values.defined()) Refuse("points or values are an undefined tensor");
    if (points.rank() != 1 || values.dims() != points.dims() || points.numel() == 0) {
      Refuse("points and values are vectors of one size, at least 1, not of shapes %s and %s",
             lazy::ListText(points.dims()), lazy::ListText(values.dims()));
    }
    if (hlo::IsComplex(points.dtype()) || (x.tensor() != nullptr && hlo::IsComplex(x.tensor()->dtype())))
      Refuse("complex numbers have no order");
    if (period.has_value() && !(std::abs(*period) > 0)) Refuse("the period is %g; it must not be 0", *period);
  });
}

// Maps x and the points into one period, sorts the points, and adds a neighbour from the period on each side.
void Wrap(Lines& lines, double period, const Caller& caller) {
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  lines.x = Remainder(of(lines.x), of(period));
  const Tensor points = Remainder(of(lines.points), of(period));
  const Tensor order = Argsort(of(points), 0);
  const Tensor sorted = IndexSelect(of(points), 0, of(order));
  const Tensor values = IndexSelect(of(lines.values), 0, of(order));
  const Tensor last = sorted.Slice(0, -1, {}, 1, caller), first = sorted.Slice(0, 0, 1, 1, caller);
  lines.points = Cat({Sub(of(last), of(period)), sorted, Add(of(first), of(period))}, 0, caller);
  lines.values =
      Cat({values.Slice(0, -1, {}, 1, caller), values, values.Slice(0, 0, 1, 1, caller)}, 0, caller);
}

// Returns the distance up to which two points are treated as equal.
double LeastDistance(PrimitiveType type) {
  const double epsilon = type == kF64 ? 0x1p-52 : type == kBF16 ? 0x1p-7 : type == kF16 ? 0x1p-10 : 0x1p-23;
  return epsilon * epsilon;
}

}  // namespace

Tensor Convolve(const Operand& a, const Operand& v, ConvolveMode mode) {
  const CallerScope scope(a.caller());
  return lazy::Call(kConvolve, {a, v}, [&](Lowering& l, Operands o) {
    CheckVectors(l, o);
    const bool swapped = l.dims(o[0])[0] < l.dims(o[1])[0];
    return Slide(l, o[swapped ? 1 : 0], o[swapped ? 0 : 1], mode, /*flipped=*/true);
  });
}

Tensor Correlate(const Operand& a, const Operand& v, ConvolveMode mode) {
  const CallerScope scope(a.caller());
  return lazy::Call(kCorrelate, {a, v}, [&](Lowering& l, Operands o) {
    CheckVectors(l, o);
    Op conjugated = o[1];
    if (hlo::IsComplex(l.type(conjugated))) {
      conjugated = l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, o[1]),
                              l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, o[1])));
    }
    if (l.dims(o[0])[0] >= l.dims(o[1])[0]) return Slide(l, o[0], conjugated, mode, /*flipped=*/false);
    return l.b.Add(hlo::kReverse, {Slide(l, conjugated, o[0], mode, /*flipped=*/false)},
                   hlo::DimensionsAttributes{{0}});
  });
}

Tensor Interp(const Operand& x, const Tensor& points, const Tensor& values, const InterpOptions& options) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const auto of = [&](const auto& value) { return Operand(value, caller); };
  Check(x, points, values, options.period);
  const Tensor given = x.tensor() != nullptr ? *x.tensor() : Add(Mul(of(points.Select(0, 0, caller)), 0), x);
  Lines lines{Floating(given, caller), Floating(points, caller), Floating(values, caller)};
  if (options.period.has_value()) Wrap(lines, std::abs(*options.period), caller);
  const int64_t count = lines.points.numel();
  const Tensor above = Clamp(of(Searchsorted(of(lines.points), of(lines.x), /*right=*/true)),
                             of(std::min<int64_t>(1, count - 1)), of(count - 1))
                           .Reshape({-1}, caller);
  const Tensor below = ClampMin(of(Sub(of(above), of(1))), of(0));
  const auto at = [&](const Tensor& table, const Tensor& index) {
    return IndexSelect(of(table), 0, of(index)).Reshape(lines.x.dims(), caller);
  };
  const Tensor x0 = at(lines.points, below), y0 = at(lines.values, below);
  const Tensor run = Sub(of(at(lines.points, above)), of(x0));
  const Tensor rise = Sub(of(at(lines.values, above)), of(y0));
  const Tensor same = Le(of(Abs(of(run))), of(LeastDistance(run.dtype())));
  const Tensor slope = Div(of(Sub(of(lines.x), of(x0))), of(hlod::Where(of(same), of(1), of(run))));
  Tensor y = hlod::Where(of(same), of(y0), of(Add(of(y0), of(Mul(of(slope), of(rise))))));
  if (options.period.has_value()) return y;
  const Tensor first = lines.values.Select(0, 0, caller), last = lines.values.Select(0, -1, caller);
  const Tensor low = Lt(of(lines.x), of(lines.points.Select(0, 0, caller)));
  const Tensor high = Gt(of(lines.x), of(lines.points.Select(0, -1, caller)));
  if (!options.extrapolate_left) {
    y = hlod::Where(of(low), options.left.has_value() ? of(*options.left) : of(first), of(y));
  }
  if (options.extrapolate_right) return y;
  return hlod::Where(of(high), options.right.has_value() ? of(*options.right) : of(last), of(y));
}

}  // namespace hlod
