// Window functions, computed in f64 and rounded once.
#include "hlod/ops/windows.h"

#include <numbers>

#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/tensor/value/throw.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;

// `lower` computes the values, in f64, at the positions n / N.
template <typename F>
Tensor Windowed(const lazy::Operation& operation, int64_t size, bool periodic, const TensorOptions& options,
                const Caller& caller, F lower) {
  const PrimitiveType type = options.type.value_or(kF32);
  if (size < 0) {
    lazy::Throw(ErrorKind::kArgument, absl::StrFormat("the size (%d) is negative", size), operation.pytorch,
                caller);
  }
  if (!hlo::IsFloat(type)) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrFormat("windows of type %s do not exist: take a floating type", hlo::Name(type)),
                operation.pytorch, caller);
  }
  const Dims dims = {size};
  return lazy::Create(
      operation, dims, type, lazy::FactoryDevice(options.device),
      [dims, size, periodic, type, lower](Lowering& l) {
        if (size <= 1) return l.Full(type, dims, 1);  // 1, as in PyTorch, also where the formula yields 0.
        const Op n = l.Convert(lazy::IndexIota(l, dims, 0), hlo::kF64);
        const auto parts = static_cast<double>(periodic ? size : size - 1);
        return l.Convert(lower(l, n / l.Full(hlo::kF64, dims, parts)), type);
      },
      caller);
}

// Returns a - b cos(2 pi place) + c cos(4 pi place).
Op CosineSum(Lowering& l, Op place, double a, double b, double c) {
  const auto cosine = [&](double turns) {
    return l.b.Unary(hlo::kCosine, place * l.Number(hlo::kF64, 2 * std::numbers::pi * turns));
  };
  const Op sum = l.Setting(hlo::kF64, a, "alpha") - cosine(1) * l.Setting(hlo::kF64, b, "beta");
  return c == 0 ? sum : sum + cosine(2) * l.Number(hlo::kF64, c);
}

}  // namespace

Tensor HannWindow(int64_t size, bool periodic, TensorOptions options, Caller caller) {
  return Windowed(lazy::ops::HannWindow, size, periodic, options, caller,
                  [](Lowering& l, Op place) { return CosineSum(l, place, 0.5, 0.5, 0); });
}
Tensor HammingWindow(int64_t size, bool periodic, double alpha, double beta, TensorOptions options,
                     Caller caller) {
  return Windowed(lazy::ops::HammingWindow, size, periodic, options, caller,
                  [=](Lowering& l, Op place) { return CosineSum(l, place, alpha, beta, 0); });
}
Tensor BlackmanWindow(int64_t size, bool periodic, TensorOptions options, Caller caller) {
  return Windowed(lazy::ops::BlackmanWindow, size, periodic, options, caller,
                  [](Lowering& l, Op place) { return CosineSum(l, place, 0.42, 0.5, 0.08); });
}
Tensor BartlettWindow(int64_t size, bool periodic, TensorOptions options, Caller caller) {
  return Windowed(lazy::ops::BartlettWindow, size, periodic, options, caller, [](Lowering& l, Op place) {
    const Op one = l.Number(hlo::kF64, 1);
    return one - l.b.Unary(hlo::kAbs, place + place - one);
  });
}
Tensor KaiserWindow(int64_t size, bool periodic, double beta, TensorOptions options, Caller caller) {
  return Windowed(lazy::ops::KaiserWindow, size, periodic, options, caller, [beta](Lowering& l, Op place) {
    const Op one = l.Number(hlo::kF64, 1), half = place + place - one;
    const Op rest = l.b.Binary(hlo::kMaximum, one - half * half, l.Full(hlo::kF64, l.dims(place), 0));
    const Op at = l.b.Unary(hlo::kSqrt, rest) * l.Setting(hlo::kF64, beta, "beta");
    // I0(x) is exp(x) times ScaledI(x); dividing by exp(end) through the difference cannot overflow.
    const Op end = l.BroadcastTo(l.Setting(hlo::kF64, beta, "beta"), l.dims(place));
    return lazy::ScaledI(l, at, 0) / lazy::ScaledI(l, end, 0) * l.b.Unary(hlo::kExponential, at - end);
  });
}

}  // namespace hlod
