// Derivatives of products (bilinear opcodes) and of the Fourier transform.
#include <algorithm>
#include <numeric>

#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {
namespace {

// Returns the dimensions below `rank` that are in neither list.
Dims Rest(size_t rank, const Dims& a, const Dims& b) {
  Dims rest;
  for (int64_t dim = 0; dim < static_cast<int64_t>(rank); ++dim) {
    const bool taken =
        std::find(a.begin(), a.end(), dim) != a.end() || std::find(b.begin(), b.end(), dim) != b.end();
    if (!taken) rest.push_back(dim);
  }
  return rest;
}

// Returns the cotangent of operand `i`: the result's cotangent times the other operand, summed over the
// dimensions that only the other operand has, with dimensions in the operand's order.
Op DotCotangent(const TransposeArgs& c, size_t i) {
  const auto& dot = c.Get<hlo::DotAttributes>();
  const Dims& mine = i == 0 ? dot.lhs_contracting : dot.rhs_contracting;
  const Dims& others = i == 0 ? dot.rhs_contracting : dot.lhs_contracting;
  const Dims& my_batch = i == 0 ? dot.lhs_batch : dot.rhs_batch;
  const Dims& other_batch = i == 0 ? dot.rhs_batch : dot.lhs_batch;
  const Dims my_kept = Rest(c.operands[i]->dims.size(), mine, my_batch);
  const Dims other_kept = Rest(c.operands[1 - i]->dims.size(), others, other_batch);
  // The result's dimensions are: batch, those kept from lhs, those kept from rhs.
  const auto batches = static_cast<int64_t>(my_batch.size());
  const auto lhs_kept = static_cast<int64_t>(i == 0 ? my_kept.size() : other_kept.size());
  hlo::DotAttributes back;
  back.precision = dot.precision;
  for (int64_t k = 0; k < batches; ++k) back.lhs_batch.push_back(k);
  back.rhs_batch = other_batch;
  const int64_t first = i == 0 ? batches + lhs_kept : batches;
  for (size_t k = 0; k < other_kept.size(); ++k) {
    back.lhs_contracting.push_back(first + static_cast<int64_t>(k));
  }
  back.rhs_contracting = other_kept;
  const PrimitiveType wide = WiderType(c.shape.type, c.operands[1 - i]->type);
  const Op product = c.l.b.Dot(c.l.Convert(c.ct, wide), c.l.Convert(c.x[1 - i], wide), back);
  // The product's dimensions are: batch, those that this operand keeps, then the contracted ones in the other
  // operand's order.
  Dims origin = my_batch;
  origin.insert(origin.end(), my_kept.begin(), my_kept.end());
  std::vector<size_t> by_other(others.size());
  std::iota(by_other.begin(), by_other.end(), 0);
  std::sort(by_other.begin(), by_other.end(), [&](size_t a, size_t b) { return others[a] < others[b]; });
  for (const size_t k : by_other) origin.push_back(mine[k]);
  Dims permutation(origin.size());
  for (size_t k = 0; k < origin.size(); ++k) permutation[origin[k]] = static_cast<int64_t>(k);
  return ToOperandType(c.l, Permuted(c.l, product, permutation), c.operands[i]->type);
}

Cotangents TDot(const TransposeArgs& c) {
  Cotangents both(2);
  const size_t linear = c.IsLinear(0) ? 0 : 1;
  both[linear] = DotCotangent(c, linear);
  return both;
}

// Convolutions, after JAX's lax.conv_general_dilated.

// Splits dimension `from` into (groups, rest) and merges `groups` into dimension `into`, in front of it.
Op MoveGroups(Lowering& l, Op x, int64_t from, int64_t into, int64_t groups) {
  Dims dims = l.dims(x);
  dims[from] /= groups;
  dims.insert(dims.begin() + from, groups);
  x = l.Reshape(x, dims);
  // The groups are at `from`, so dimensions from there on have moved by one.
  x = MovedDim(l, x, from, into);
  Dims merged = l.dims(x);
  merged[into + 1] *= merged[into];
  merged.erase(merged.begin() + into);
  return l.Reshape(x, merged);
}

// The extents of a spatial dimension of a convolution: of input, kernel and output, each with its dilation;
// the output's dilation is the stride.
struct Span {
  int64_t input, window, output;
};
// Returns the window of the transposed convolution: `transpose(span, w, b)` sets the dimension b for each w.
template <typename F>
std::vector<hlo::WindowDimension> TransposedWindow(const TransposeArgs& c,
                                                   const hlo::ConvolutionAttributes& conv, F transpose) {
  std::vector<hlo::WindowDimension> window = conv.window;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = conv.window[i];
    const Span span = {DilatedSize(c.operands[0]->dims[conv.input_spatial[i]], w.base_dilation),
                       DilatedSize(c.operands[1]->dims[conv.kernel_spatial[i]], w.window_dilation),
                       DilatedSize(c.shape.dims[conv.output_spatial[i]], w.stride)};
    transpose(span, w, window[i]);
    window[i].reversal = false;
  }
  return window;
}

Dims ReversedDims(const hlo::ConvolutionAttributes& conv, bool reversed) {
  Dims dims;
  for (size_t i = 0; i < conv.window.size(); ++i) {
    if (conv.window[i].reversal == reversed) dims.push_back(conv.kernel_spatial[i]);
  }
  return dims;
}

Op InputCotangent(const TransposeArgs& c) {
  Lowering& l = c.l;
  const auto& conv = c.Get<hlo::ConvolutionAttributes>();
  Op kernel = c.x[1];
  hlo::ConvolutionAttributes back = conv;
  int64_t groups = conv.feature_group_count;
  if (conv.batch_group_count > 1) groups = conv.batch_group_count;
  if (groups > 1)
    kernel = MoveGroups(l, kernel, conv.kernel_output_feature, conv.kernel_input_feature, groups);
  back.feature_group_count = groups;
  back.batch_group_count = 1;
  back.input_batch = conv.output_batch;
  back.input_feature = conv.output_feature;
  back.input_spatial = conv.output_spatial;
  std::swap(back.kernel_input_feature, back.kernel_output_feature);
  back.output_batch = conv.input_batch;
  back.output_feature = conv.input_feature;
  back.output_spatial = conv.input_spatial;
  back.window = TransposedWindow(c, conv, [](const Span& span, const auto& w, hlo::WindowDimension& b) {
    b.stride = w.base_dilation;
    b.base_dilation = w.stride;
    b.padding_low = span.window - w.padding_low - 1;
    b.padding_high = span.input + span.window - 1 - span.output - b.padding_low;
  });
  // The kernel is reversed in the dimensions in which the convolution itself does not reverse it.
  kernel = Reversed(l, kernel, ReversedDims(conv, false));
  const PrimitiveType wide = WiderType(c.shape.type, l.type(kernel));
  Op result = l.b.Convolution(l.Convert(c.ct, wide), l.Convert(kernel, wide), back);
  if (conv.batch_group_count > 1) {
    result = MoveGroups(l, result, conv.input_feature, conv.input_batch, conv.batch_group_count);
  }
  return ToOperandType(l, result, c.operands[0]->type);
}

Op KernelCotangent(const TransposeArgs& c) {
  Lowering& l = c.l;
  const auto& conv = c.Get<hlo::ConvolutionAttributes>();
  hlo::ConvolutionAttributes back = conv;
  back.feature_group_count = conv.batch_group_count > 1 ? conv.batch_group_count : 1;
  back.batch_group_count = conv.batch_group_count > 1 ? 1 : conv.feature_group_count;
  std::swap(back.input_batch, back.input_feature);
  back.kernel_output_feature = conv.output_feature;
  back.kernel_input_feature = conv.output_batch;
  back.kernel_spatial = conv.output_spatial;
  back.output_batch = conv.kernel_input_feature;
  back.output_feature = conv.kernel_output_feature;
  back.output_spatial = conv.kernel_spatial;
  back.window = TransposedWindow(c, conv, [](const Span& span, const auto& w, hlo::WindowDimension& b) {
    b.stride = w.window_dilation;
    b.window_dilation = w.stride;
    b.padding_high = span.output - span.input + span.window - w.padding_low - 1;
  });
  for (size_t i = 0; i < back.window.size(); ++i) back.window[i].size = c.shape.dims[conv.output_spatial[i]];
  const PrimitiveType wide = WiderType(c.shape.type, l.type(c.x[0]));
  const Op result = l.b.Convolution(l.Convert(c.x[0], wide), l.Convert(c.ct, wide), back);
  return ToOperandType(l, Reversed(l, result, ReversedDims(conv, true)), c.operands[1]->type);
}

Cotangents TConvolution(const TransposeArgs& c) {
  if (Count(c.shape.dims) == 0) {  // The window would be empty where the kernel is larger than the input.
    const Op zeros = Zeros(c.l, *c.operands[c.IsLinear(0) ? 0 : 1]);
    return c.IsLinear(0) ? Cotangents{zeros, Op{}} : Cotangents{Op{}, zeros};
  }
  if (c.IsLinear(0)) return {InputCotangent(c), Op{}};
  return {Op{}, KernelCotangent(c)};
}

Tangents Fft(const TangentArgs& c) { return {c.Again()}; }
// Transposes the transform of real numbers: pads the half spectrum with zeros to the whole one, transforms it
// and takes the real part.
Op TRfft(const TransposeArgs& c) {
  Lowering& l = c.l;
  const hlo::FftAttributes& given = c.Get<hlo::FftAttributes>();
  const int64_t last = RankOf(l, c.ct) - 1, missing = given.length.back() - l.dims(c.ct)[last];
  const Op whole = PadDim(l, c.ct, l.Number(l.type(c.ct), 0), last, {.high = missing});
  return l.b.Unary(hlo::kReal,
                   l.b.Add(hlo::kFft, {whole}, hlo::FftAttributes{hlo::FftType::kFft, given.length}));
}
// Transposes the transform to real numbers. The other half of the spectrum is the conjugate of this half, so
// each element counts twice, except those that are their own conjugate.
Op TIrfft(const TransposeArgs& c) {
  Lowering& l = c.l;
  const hlo::FftAttributes& given = c.Get<hlo::FftAttributes>();
  const Op half = l.b.Add(hlo::kFft, {c.ct}, hlo::FftAttributes{hlo::FftType::kRfft, given.length});
  const Dims dims = l.dims(half);
  const int64_t last = static_cast<int64_t>(dims.size()) - 1, length = given.length.back();
  const PrimitiveType type = l.type(c.ct);
  const double scale = 1 / static_cast<double>(Count(given.length));
  const Op place = IndexIota(l, dims, last), zero = l.Full(hlo::kS64, dims, 0),
           middle = l.Full(hlo::kS64, dims, length % 2 == 0 ? length / 2 : 0);
  const Op own = l.b.Binary(hlo::kOr, l.b.Compare(place, zero, hlo::ComparisonDirection::kEq),
                            l.b.Compare(place, middle, hlo::ComparisonDirection::kEq));
  const Op weight = l.b.Select(own, l.Full(type, dims, scale), l.Full(type, dims, 2 * scale));
  return l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, half) * weight,
                    l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, half) * weight));
}
Cotangents TFft(const TransposeArgs& c) {
  switch (c.Get<hlo::FftAttributes>().type) {
    case hlo::FftType::kRfft: return {TRfft(c)};
    case hlo::FftType::kIrfft: return {TIrfft(c)};
    // The transform's matrix is symmetric, so it is its own transpose.
    default: return {c.l.b.Add(hlo::kFft, {c.ct}, c.attributes)};
  }
}

}  // namespace

void AddContractionRules(Rules& rules) {
  rules.tangent[static_cast<size_t>(hlo::kDot)] = Bilinear;
  rules.transpose[static_cast<size_t>(hlo::kDot)] = TDot;
  rules.tangent[static_cast<size_t>(hlo::kConvolution)] = Bilinear;
  rules.transpose[static_cast<size_t>(hlo::kConvolution)] = TConvolution;
  rules.tangent[static_cast<size_t>(hlo::kFft)] = Fft;
  rules.transpose[static_cast<size_t>(hlo::kFft)] = TFft;
}

}  // namespace hlod::lazy
