// Dropout: elements or whole channels replaced at random.
#include "hlod/ops/nn/dropout.h"

#include <cmath>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/generator.h"
#include "client/tensor/ops/nn/dropout.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

// The value that replaces a dropped element, and the change to a kept one: x scale + shift.
struct Replacement {
  double dropped = 0, scale = 1, shift = 0;
};

Replacement Zero(double p) { return {.scale = 1 / (1 - p)}; }
// Alpha dropout, for self-normalising networks: a dropped element becomes the negative limit of selu; scale
// and shift then restore mean 0 and variance 1.
Replacement Alpha(double p) {
  constexpr double kLimit = -1.7580993408473766;
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * kLimit * kLimit));
  const double shift = -scale * kLimit * p;
  return {.dropped = scale * kLimit + shift, .scale = scale, .shift = shift};
}

// `drawn(i, rank)` returns true for the dimensions whose indices are drawn independently; along the others
// one draw is shared.
template <typename Drawn>
Op Replaced(Lowering& l, Op x, double p, Replacement (*replacement)(double), Drawn drawn) {
  if (!(p >= 0 && p <= 1)) Refuse("the probability (%g) is not between 0 and 1", p);
  if (p == 0) return x;
  const PrimitiveType type = l.type(x);
  if (!hlo::IsFloat(type)) Refuse("dropout of %s is not defined", hlo::Name(type));
  const Dims dims = l.dims(x);
  if (p == 1) return x * l.Full(type, dims, 0);
  Dims draws = dims;
  for (size_t i = 0; i < draws.size(); ++i) {
    if (!drawn(i, draws.size())) draws[i] = 1;
  }
  const lazy::RandomState state = lazy::Draw(l.graph.place, lazy::Count(draws), 32);
  const Op uniform = lazy::RandomUniform(l, state, hlo::kF32, draws);
  const auto setting = [&](PrimitiveType as, const Dims& shape, double value, const char* name) {
    return l.BroadcastTo(l.Setting(as, value, name), shape);
  };
  const Op kept = l.b.Compare(uniform, setting(hlo::kF32, draws, p, "p"), hlo::ComparisonDirection::kGe);
  const Replacement by = replacement(p);
  Op changed = x * setting(type, dims, by.scale, "scale");
  if (by.shift != 0) changed = changed + setting(type, dims, by.shift, "shift");
  return l.b.Select(l.BroadcastTo(kept, dims), changed, setting(type, dims, by.dropped, "dropped"));
}

template <typename Drawn>
Tensor DropoutOf(const Operand& x, double p, bool training, Replacement (*replacement)(double), Drawn drawn) {
  return lazy::Call(lazy::ops::Dropout, {x}, [&](Lowering& l, Operands o) {
    return Replaced(l, o[0], training ? p : 0, replacement, drawn);
  });
}

bool Each(size_t, size_t) { return true; }
bool FirstTwo(size_t dim, size_t) { return dim < 2; }

// Dropout of whole channels of inputs with `spatial` dimensions behind the channels.
Tensor ChannelDropout(const Operand& x, double p, bool training, size_t spatial) {
  return DropoutOf(x, p, training, Zero, [&](size_t dim, size_t rank) {
    // Without a batch, the channels are the first dimension.
    return dim < (rank == spatial + 1 ? 1 : 2);
  });
}

}  // namespace

Op lazy::DropoutOps(Lowering& l, Op x, double p) { return Replaced(l, x, p, Zero, Each); }

Tensor Dropout(const Operand& x, double p, bool training) { return DropoutOf(x, p, training, Zero, Each); }
Tensor FeatureDropout(const Operand& x, double p, bool training) {
  return DropoutOf(x, p, training, Zero, FirstTwo);
}
Tensor AlphaDropout(const Operand& x, double p, bool training) {
  return DropoutOf(x, p, training, Alpha, Each);
}
Tensor FeatureAlphaDropout(const Operand& x, double p, bool training) {
  return DropoutOf(x, p, training, Alpha, FirstTwo);
}
Tensor Dropout1d(const Operand& x, double p, bool training) { return ChannelDropout(x, p, training, 1); }
// As in PyTorch, an input of three dimensions is a batch of channels of vectors here.
Tensor Dropout2d(const Operand& x, double p, bool training) { return FeatureDropout(x, p, training); }
Tensor Dropout3d(const Operand& x, double p, bool training) { return ChannelDropout(x, p, training, 3); }

}  // namespace hlod
