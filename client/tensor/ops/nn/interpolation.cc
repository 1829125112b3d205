// Resizing images: one dimension after the other; each element is the weighted sum of a few.
#include "hlod/ops/nn/interpolation.h"

#include <algorithm>
#include <cmath>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/nn/interpolation.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/nn/pooling.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

namespace lazy {

std::array<double, 4> CubicWeights(double t) {
  constexpr double kA = -0.75;
  const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

}  // namespace lazy

namespace {

// A source element for an element of the result, and its weight.
struct Tap {
  int64_t index = 0;
  double weight = 0;
};
// taps[j][k] is source j of element k along a dimension.
using Taps = std::vector<std::vector<Tap>>;

// The source positions of one dimension. T is float for types up to f32, as in PyTorch.
template <typename T>
class Positions {
 public:
  Positions(int64_t from, int64_t to, std::optional<double> factor, const InterpolateOptions& options)
      : from_(from), options_(options) {
    if (options.align_corners && options.mode != InterpolationMode::kNearest) {
      step_ = to > 1 ? static_cast<T>(from - 1) / static_cast<T>(to - 1) : T(0);
    } else {
      step_ = factor.has_value() ? static_cast<T>(1 / *factor) : static_cast<T>(from) / static_cast<T>(to);
    }
  }

  std::vector<Tap> At(int64_t k) const {
    const T at = static_cast<T>(k);
    switch (options_.mode) {
      case InterpolationMode::kNearest: return {{Within(std::floor(at * step_)), 1}};
      case InterpolationMode::kNearestExact: return {{Within(std::floor((at + T(0.5)) * step_)), 1}};
      case InterpolationMode::kBicubic: {
        const T source = Source(at), floor = std::floor(source);
        const std::array<double, 4> weights = lazy::CubicWeights(static_cast<double>(source - floor));
        std::vector<Tap> taps;
        for (int i = 0; i < 4; ++i) taps.push_back({Within(floor + static_cast<T>(i - 1)), weights[i]});
        return taps;
      }
      default: {
        const T source = std::max(Source(at), T(0)), floor = std::floor(source);
        const double second = static_cast<double>(source - floor);
        return {{Within(floor), 1 - second}, {Within(floor + 1), second}};
      }
    }
  }

 private:
  T Source(T at) const { return options_.align_corners ? at * step_ : (at + T(0.5)) * step_ - T(0.5); }
  int64_t Within(T position) const {
    return std::clamp<int64_t>(static_cast<int64_t>(position), 0, from_ - 1);
  }

  int64_t from_;
  const InterpolateOptions& options_;
  T step_;
};

template <typename T>
Taps TapsOf(int64_t from, int64_t to, std::optional<double> factor, const InterpolateOptions& options) {
  const Positions<T> positions(from, to, factor, options);
  Taps taps;
  for (int64_t k = 0; k < to; ++k) {
    const std::vector<Tap> all = positions.At(k);
    taps.resize(all.size());
    for (size_t j = 0; j < all.size(); ++j) taps[j].push_back(all[j]);
  }
  return taps;
}

// Repeats each index `times` times, by a broadcast instead of a gather.
Op Repeated(Lowering& l, Op x, int64_t dim, int64_t times) {
  Dims dims = l.dims(x), to = dims, mapping;
  to.insert(to.begin() + dim + 1, times);
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) mapping.push_back(i <= dim ? i : i + 1);
  dims[dim] *= times;
  return l.Reshape(l.b.Broadcast(x, to, mapping), dims);
}

Op ResizedDim(Lowering& l, Op x, int64_t dim, int64_t to, std::optional<double> factor,
              const InterpolateOptions& options) {
  const int64_t from = l.dims(x)[dim];
  if (from == to && !factor.has_value()) return x;
  const PrimitiveType type = l.type(x);
  const Taps taps = type == hlo::kF64 ? TapsOf<double>(from, to, factor, options)
                                      : TapsOf<float>(from, to, factor, options);
  if (options.mode == InterpolationMode::kNearest && to % from == 0) {
    const auto is_repeat = [&](const Tap& tap) { return tap.index == (&tap - taps[0].data()) / (to / from); };
    if (std::all_of(taps[0].begin(), taps[0].end(), is_repeat)) return Repeated(l, x, dim, to / from);
  }
  Op sum;
  for (size_t j = 0; j < taps.size(); ++j) {
    std::vector<int64_t> indices;
    Literal weights(Shape::Array(hlo::kF64, {to}));
    for (int64_t k = 0; k < to; ++k) {
      indices.push_back(taps[j][k].index);
      weights.data<double>()[k] = taps[j][k].weight;
    }
    Op part = lazy::SelectSlices(l, x, dim, lazy::IndexVector(l, indices));
    if (taps.size() == 1) return part;
    const Op weight = l.b.Constant(hlo::Convert(weights, type).value());
    part = part * l.b.Broadcast(weight, l.dims(part), {dim});
    sum = j == 0 ? part : sum + part;
  }
  return sum;
}

struct Target {
  Dims sizes;
  // The scale factors for computing positions; nullopt: the ratio of the sizes.
  std::vector<std::optional<double>> factors;
};
Target TargetOf(const Dims& dims, int64_t spatial, const InterpolateOptions& options) {
  Target target;
  target.factors.resize(spatial);
  if (options.size.has_value() == !options.scale_factor.empty()) {
    Refuse("either a size or a scale factor is needed");
  }
  if (options.size.has_value()) {
    target.sizes = lazy::SizesFor(*options.size, spatial, "the size", 1);
    return target;
  }
  const std::vector<double>& given = options.scale_factor;
  if (given.size() != 1 && static_cast<int64_t>(given.size()) != spatial) {
    Refuse("%d scale factors do not fit %d dimensions", given.size(), spatial);
  }
  for (int64_t i = 0; i < spatial; ++i) {
    const double factor = given.size() == 1 ? given[0] : given[i];
    if (!(factor > 0) || !std::isfinite(factor)) Refuse("the scale factor (%g) is not positive", factor);
    const double size = std::floor(static_cast<double>(dims[2 + i]) * factor);
    if (size < 1 || size > 1e12)
      Refuse("the scale factor (%g) of %d elements gives %g", factor, dims[2 + i], size);
    target.sizes.push_back(static_cast<int64_t>(size));
    if (!options.recompute_scale_factor) target.factors[i] = factor;
  }
  return target;
}

}  // namespace

Tensor Interpolate(const Operand& x, const InterpolateOptions& options) {
  const lazy::Operation& operation = lazy::ops::Interpolate;
  const Tensor& in = lazy::TensorOf(operation, x);
  Target target;
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    const int64_t spatial = in.rank() - 2;
    if (spatial < 1 || spatial > 3) {
      Refuse("shape %s is not [batch, channels] and one to three dimensions", ListText(in.dims()));
    }
    if (options.mode == InterpolationMode::kBicubic && spatial != 2) {
      Refuse("bicubic interpolation takes two dimensions, not those of shape %s", ListText(in.dims()));
    }
    for (int64_t i = 2; i < in.rank(); ++i) {
      if (in.dims()[i] == 0) Refuse("dimension %d has no elements", i);
    }
    target = TargetOf(in.dims(), spatial, options);
  });
  if (options.mode == InterpolationMode::kArea) {
    switch (in.rank()) {
      case 3: return AdaptiveAvgPool1d(x, target.sizes);
      case 4: return AdaptiveAvgPool2d(x, target.sizes);
      default: return AdaptiveAvgPool3d(x, target.sizes);
    }
  }
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const bool nearest =
        options.mode == InterpolationMode::kNearest || options.mode == InterpolationMode::kNearestExact;
    if (!nearest && !hlo::IsFloat(l.type(x)))
      Refuse("interpolation of %s is not defined", hlo::Name(l.type(x)));
    return lazy::InWide(l, x, [&](Lowering& l, Op x) {
      for (size_t i = 0; i < target.sizes.size(); ++i) {
        x = ResizedDim(l, x, static_cast<int64_t>(i) + 2, target.sizes[i], target.factors[i], options);
      }
      return x;
    });
  });
}

}  // namespace hlod
