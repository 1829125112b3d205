// Fourier transforms by HLO's fft, which transforms up to three of the last dimensions.
#include "hlod/ops/fft.h"

#include <algorithm>
#include <cmath>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/arrangement.h"

namespace hlod::fft {
namespace {

using hlo::FftType;
using lazy::ListText;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Operation;
using lazy::Refuse;

// A PyTorch transform in terms of HLO's type; with the input conjugated (hfft), or the result conjugated
// (ihfft), which reverses the direction.
struct Kind {
  FftType type;
  bool conjugates = false;

  bool to_half() const { return type == FftType::kRfft; }
  bool from_half() const { return type == FftType::kIrfft; }
  // HLO's inverse transforms divide by the number of elements.
  bool divides() const { return type == FftType::kIfft || from_half(); }
  bool is_forward() const { return divides() == conjugates; }
};
constexpr Kind kFft{FftType::kFft}, kIfft{FftType::kIfft}, kRfft{FftType::kRfft}, kIrfft{FftType::kIrfft},
    kHfft{FftType::kIrfft, true}, kIhfft{FftType::kRfft, true};

// The transformed dimensions and the signal's size along each.
struct Extent {
  Dims dims, sizes;
};

Extent ExtentOf(const Kind& kind, const Dims& shape, DimList sizes, DimList dims) {
  const auto rank = static_cast<int64_t>(shape.size());
  Extent extent;
  if (!sizes.empty() && !dims.empty() && sizes.size() != dims.size())
    Refuse("the sizes %s and the dimensions %s differ in number", ListText(sizes), ListText(dims));
  if (rank == 0 && !dims.empty()) Refuse("a tensor without dimensions has no dimension %d", dims[0]);
  if (static_cast<int64_t>(sizes.size()) > rank)
    Refuse("%d sizes are too many for %d dimensions", sizes.size(), rank);
  if (!dims.empty()) {
    extent.dims = lazy::WrapDims(dims, rank);
  } else {
    const int64_t count = sizes.empty() ? rank : static_cast<int64_t>(sizes.size());
    for (int64_t i = rank - count; i < rank; ++i) extent.dims.push_back(i);
  }
  for (size_t i = 0; i < extent.dims.size(); ++i) {
    const int64_t dim = extent.dims[i];
    const bool is_last = i + 1 == extent.dims.size();
    const bool is_given = !sizes.empty() && sizes[i] != -1;
    const int64_t whole = kind.from_half() && is_last ? 2 * (shape[dim] - 1) : shape[dim];
    extent.sizes.push_back(is_given ? sizes[i] : whole);
    if (extent.sizes[i] < 1) {
      Refuse("the signal's size (%d) in dimension %d of %s is not at least 1", extent.sizes[i], dim,
             ListText(shape));
    }
  }
  return extent;
}

// Cuts the dimension to `size`, or pads it with zeros at the end.
Op Resized(Lowering& l, Op x, int64_t dim, int64_t size) {
  const int64_t from = l.dims(x)[dim];
  if (size <= from) return lazy::SliceDim(l, x, dim, 0, size);
  return lazy::PadDim(l, x, N(l, x, 0), dim, {.high = size - from});
}

Op Conjugated(Lowering& l, Op x) {
  return l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, x),
                    l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, x)));
}

// Converts x to the type that the transform takes.
Op Typed(Lowering& l, Op x, const Kind& kind) {
  const PrimitiveType type = l.type(x);
  if (kind.to_half() && hlo::IsComplex(type))
    Refuse("a transform of real numbers takes none of %s", hlo::Name(type));
  const bool is_double = type == hlo::kF64 || type == hlo::kC128;
  if (!is_double && type != hlo::kF32 && type != hlo::kC64)
    Refuse("a Fourier transform takes f32, f64, c64 and c128, not %s", hlo::Name(type));
  if (kind.to_half()) return x;
  return l.Convert(x, is_double ? hlo::kC128 : hlo::kC64);
}

// Transforms the last dimensions, whose sizes are `sizes`. HLO accepts at most three at once; the one that is
// halved is the last.
Op OfLast(Lowering& l, Op x, FftType type, const Dims& sizes) {
  const auto transform = [&](Op x, FftType type, size_t begin, size_t end) {
    return l.b.Add(hlo::kFft, {x},
                   hlo::FftAttributes{type, Dims(sizes.begin() + begin, sizes.begin() + end)});
  };
  const size_t count = sizes.size();
  if (count <= 3) return transform(x, type, 0, count);
  // The dimensions before the last three are moved to the end, transformed, and moved back.
  const bool to_half = type == FftType::kRfft, from_half = type == FftType::kIrfft;
  const int64_t ahead = lazy::RankOf(l, x) - 3;
  const Dims outer(sizes.begin(), sizes.end() - 3);
  Dims there, back;  // The last three dimensions come first.
  for (int64_t i = 0; i < 3; ++i) there.push_back(ahead + i);
  for (int64_t i = 0; i < ahead; ++i) there.push_back(i);
  for (int64_t i = 0; i < ahead; ++i) back.push_back(3 + i);
  for (int64_t i = 0; i < 3; ++i) back.push_back(i);
  const auto of_outer = [&](Op x, FftType type) {
    return lazy::Permuted(l, OfLast(l, lazy::Permuted(l, x, there), type, outer), back);
  };
  if (from_half) return transform(of_outer(x, FftType::kIfft), type, count - 3, count);
  return of_outer(transform(x, type, count - 3, count), to_half ? FftType::kFft : type);
}

Op Scaled(Lowering& l, Op x, const Kind& kind, const Dims& sizes, Norm norm) {
  const auto count = static_cast<double>(lazy::Count(sizes));
  double factor = kind.divides() ? count : 1;  // Undoes HLO's division.
  if (norm == Norm::kOrtho) factor /= std::sqrt(count);
  else if ((norm == Norm::kForward) == kind.is_forward()) factor /= count;
  return factor == 1 ? x : x * N(l, x, factor);
}

Op Transformed(Lowering& l, Op x, const Kind& kind, const Extent& extent, Norm norm) {
  x = Typed(l, x, kind);
  if (extent.dims.empty()) return x;
  for (size_t i = 0; i < extent.dims.size(); ++i) {
    const bool half = kind.from_half() && i + 1 == extent.dims.size();
    x = Resized(l, x, extent.dims[i], half ? extent.sizes[i] / 2 + 1 : extent.sizes[i]);
  }
  if (kind.conjugates && kind.from_half()) x = Conjugated(l, x);
  // Moves the transformed dimensions to the end, and back.
  Dims order, back(l.dims(x).size());
  for (int64_t i = 0; i < lazy::RankOf(l, x); ++i) {
    if (std::count(extent.dims.begin(), extent.dims.end(), i) == 0) order.push_back(i);
  }
  order.insert(order.end(), extent.dims.begin(), extent.dims.end());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  x = lazy::Permuted(l, OfLast(l, lazy::Permuted(l, x, order), kind.type, extent.sizes), back);
  if (kind.conjugates && kind.to_half()) x = Conjugated(l, x);
  return Scaled(l, x, kind, extent.sizes, norm);
}

Tensor Along(const Operation& operation, const Operand& x, const Kind& kind, DimList sizes, DimList dims,
             Norm norm) {
  return lazy::Call(operation, {x}, [&](Lowering& l, Operands o) {
    const Extent extent = ExtentOf(kind, l.dims(o[0]), sizes, dims);
    if (extent.dims.empty() && kind.type != FftType::kFft && kind.type != FftType::kIfft)
      Refuse("a transform of or to real numbers needs a dimension");
    return Transformed(l, o[0], kind, extent, norm);
  });
}

Tensor AlongOne(const Operation& operation, const Operand& x, const Kind& kind, std::optional<int64_t> n,
                int64_t dim, Norm norm) {
  const Dims size = n ? Dims{*n} : Dims{}, dims = {dim};
  return lazy::Call(operation, {x}, [&](Lowering& l, Operands o) {
    if (n && *n < 1) Refuse("the signal's size n (%d) is not at least 1", *n);
    return Transformed(l, o[0], kind, ExtentOf(kind, l.dims(o[0]), size, dims), norm);
  });
}

Tensor Frequencies(const Operation& operation, int64_t n, double d, int64_t count,
                   const TensorOptions& options, const Caller& caller) {
  lazy::Explain(operation, {}, caller, [&] {
    if (n < 1) Refuse("the signal's size n (%d) is not at least 1", n);
  });
  const Dims dims = {count};
  const PrimitiveType type = options.type.value_or(kF32);
  return lazy::Create(
      operation, dims, type, lazy::FactoryDevice(options.device),
      [dims, type, n, d](Lowering& l) {
        // The second half of the spectrum has negative frequencies.
        const Op place = lazy::IndexIota(l, dims, 0);
        const Op negative = lazy::CompareOps(l, place, N(l, place, (n + 1) / 2), lazy::Order::kGe);
        const bool half = dims[0] != n;
        const Op turns = half ? place : lazy::SelectOps(l, negative, place - N(l, place, n), place);
        const Op wide = l.Convert(turns, hlo::kF64);
        return l.Convert(wide / l.Setting(hlo::kF64, static_cast<double>(n) * d, "d"), type);
      },
      caller);
}

// Rolls each dimension by half of its size, rounded up when `up`.
Tensor Shifted(const Operation& operation, const Operand& x, DimList dims, bool up) {
  const Dims& shape = lazy::TensorOf(operation, x).dims();
  Dims along, shifts;
  lazy::Explain(operation, {&x, 1}, x.caller(),
                [&] { along = lazy::WrapDims(dims, static_cast<int64_t>(shape.size())); });
  for (const int64_t dim : along) shifts.push_back((shape[dim] + (up ? 1 : 0)) / 2);
  return along.empty() ? Tensor(lazy::TensorOf(operation, x)) : Roll(x, shifts, along);
}

}  // namespace

#define HLOD_FFT(Name, kind)                                                        \
  Tensor Name(const Operand& x, std::optional<int64_t> n, int64_t dim, Norm norm) { \
    return AlongOne(lazy::ops::Fft##Name, x, kind, n, dim, norm);                   \
  }                                                                                 \
  Tensor Name##2(const Operand& x, DimList sizes, DimList dims, Norm norm) {        \
    return Along(lazy::ops::Fft##Name##2, x, kind, sizes, dims, norm);              \
  }                                                                                 \
  Tensor Name##n(const Operand& x, DimList sizes, DimList dims, Norm norm) {        \
    return Along(lazy::ops::Fft##Name##n, x, kind, sizes, dims, norm);              \
  }
HLOD_FFT(Fft, kFft)
HLOD_FFT(Ifft, kIfft)
HLOD_FFT(Rfft, kRfft)
HLOD_FFT(Irfft, kIrfft)
HLOD_FFT(Hfft, kHfft)
HLOD_FFT(Ihfft, kIhfft)
#undef HLOD_FFT

Tensor Fftfreq(int64_t n, double d, TensorOptions options, Caller caller) {
  return Frequencies(lazy::ops::FftFftfreq, n, d, n, options, caller);
}
Tensor Rfftfreq(int64_t n, double d, TensorOptions options, Caller caller) {
  return Frequencies(lazy::ops::FftRfftfreq, n, d, n / 2 + 1, options, caller);
}
Tensor Fftshift(const Operand& x, DimList dims) { return Shifted(lazy::ops::FftFftshift, x, dims, false); }
Tensor Ifftshift(const Operand& x, DimList dims) { return Shifted(lazy::ops::FftIfftshift, x, dims, true); }

}  // namespace hlod::fft
