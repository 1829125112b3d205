// Shape rules of convolution, FFT, factorisations and random numbers.
#include <algorithm>

#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// Returns an error unless batch, feature and spatial dimension numbers are a permutation of an array's
// dimensions.
absl::Status ExpectPermutation(const InferenceInput& in, int64_t a, int64_t b, const Dims& spatial,
                               int64_t rank, std::string_view what) {
  Dims all = spatial;
  all.push_back(a);
  all.push_back(b);
  if (static_cast<int64_t>(all.size()) != rank) {
    return InvalidArgument("The %s dimension numbers of convolution name (%d) dimensions of (%d).", what,
                           all.size(), rank);
  }
  return ExpectDistinct(in, all, rank, what);
}

// Returns an error unless the last two dimensions of a stack of matrices are equal.
absl::Status ExpectSquare(const InferenceInput& in, size_t i) {
  RETURN_IF_ERROR(ExpectArray(in, i));
  const Shape& matrix = Operand(in, i);
  const int64_t rank = matrix.rank();
  const bool number = IsFloat(matrix.type) || IsComplex(matrix.type);
  if (rank >= 2 && number && SizesAgree(matrix.dims[rank - 1], matrix.dims[rank - 2]))
    return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s is not a stack of square matrices of floats.", i,
                         Text(matrix), OpName(in));
}

// Returns an error unless the group counts divide the features and the batch, and fit the kernel.
absl::Status CheckConvolutionGroups(const ConvolutionAttributes& c, const Shape& input, const Shape& kernel) {
  if (c.feature_group_count < 1 || c.batch_group_count < 1 ||
      (c.feature_group_count > 1 && c.batch_group_count > 1)) {
    return InvalidArgument(
        "The feature_group_count (%d) and batch_group_count (%d) of convolution are not valid together.",
        c.feature_group_count, c.batch_group_count);
  }
  const int64_t batch = input.dims[c.input_batch], features = input.dims[c.input_feature];
  const int64_t kernel_in = kernel.dims[c.kernel_input_feature],
                kernel_out = kernel.dims[c.kernel_output_feature];
  const bool known = features != kUnboundedSize && kernel_in != kUnboundedSize;
  if (known && (features % c.feature_group_count != 0 || features / c.feature_group_count != kernel_in)) {
    return InvalidArgument(
        "The input features (%d) of convolution are not feature_group_count (%d) times those of its kernel "
        "(%d).",
        features, c.feature_group_count, kernel_in);
  }
  if (kernel_out != kUnboundedSize &&
      kernel_out % std::max(c.feature_group_count, c.batch_group_count) != 0) {
    return InvalidArgument("The output features (%d) of convolution are not divided by its group count (%d).",
                           kernel_out, std::max(c.feature_group_count, c.batch_group_count));
  }
  if (batch != kUnboundedSize && batch % c.batch_group_count != 0) {
    return InvalidArgument("The batch (%d) of convolution is not divided by batch_group_count (%d).", batch,
                           c.batch_group_count);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferConvolution(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArrays(in));
  const Shape &input = Operand(in, 0), &kernel = Operand(in, 1);
  const auto& c = AttributesOf<ConvolutionAttributes>(in);
  const size_t spatial = c.window.size();
  const int64_t rank = static_cast<int64_t>(spatial) + 2;
  if (input.rank() != rank || kernel.rank() != rank || c.output_spatial.size() != spatial) {
    return InvalidArgument(
        "The window of convolution has (%d) dimensions; its operand shapes are (%s) and (%s).", spatial,
        Text(input), Text(kernel));
  }
  RETURN_IF_ERROR(ExpectPermutation(in, c.input_batch, c.input_feature, c.input_spatial, rank, "input"));
  RETURN_IF_ERROR(ExpectPermutation(in, c.kernel_input_feature, c.kernel_output_feature, c.kernel_spatial,
                                    rank, "kernel"));
  RETURN_IF_ERROR(ExpectPermutation(in, c.output_batch, c.output_feature, c.output_spatial, rank, "output"));
  RETURN_IF_ERROR(CheckConvolutionGroups(c, input, kernel));
  const int64_t batch = input.dims[c.input_batch];
  Dims sizes(static_cast<size_t>(rank));
  absl::InlinedVector<bool, 6> dynamic(static_cast<size_t>(rank));
  sizes[c.output_batch] = batch == kUnboundedSize ? batch : batch / c.batch_group_count;
  dynamic[c.output_batch] = input.IsDynamic(c.input_batch);
  sizes[c.output_feature] = kernel.dims[c.kernel_output_feature];
  dynamic[c.output_feature] = kernel.IsDynamic(c.kernel_output_feature);
  for (size_t i = 0; i < spatial; ++i) {
    if (!SizesAgree(kernel.dims[c.kernel_spatial[i]], c.window[i].size)) {
      return InvalidArgument(
          "The window size (%d) of convolution in spatial dimension %d differs from its kernel's (%d).",
          c.window[i].size, i, kernel.dims[c.kernel_spatial[i]]);
    }
    // A kernel of size zero is legal: it covers no element, and every output is zero.
    WindowDimension window = c.window[i];
    window.size = std::max<int64_t>(window.size, 1);
    const int64_t d = c.input_spatial[i];
    ASSIGN_OR_RETURN(sizes[c.output_spatial[i]], WindowedDimension(in, d, input.dims[d], window));
    dynamic[c.output_spatial[i]] = input.IsDynamic(d);
  }
  Shape shape;
  ASSIGN_OR_RETURN(shape.type, ContractionType(in));
  for (size_t d = 0; d < sizes.size(); ++d) AppendDimension(shape, sizes[d], dynamic[d]);
  return shape;
}

absl::StatusOr<Shape> InferFft(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  const auto& fft = AttributesOf<FftAttributes>(in);
  const auto n = static_cast<int64_t>(fft.length.size());
  if (n < 1 || n > 3 || operand.rank() < n) {
    return InvalidArgument(
        "The number of lengths (%d) of fft is not 1 to 3, or exceeds the rank of operand 0 shape (%s).", n,
        Text(operand));
  }
  const bool real_input = fft.type == FftType::kRfft;
  const bool type_fits = real_input ? ComplexType(operand.type) != operand.type : IsComplex(operand.type);
  if (!type_fits) {
    return InvalidArgument(
        "Operand 0 shape (%s) of fft has an element type that this transform does not take.", Text(operand));
  }
  Shape shape = ArrayLike(operand, operand.type);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = operand.rank() - n + i, length = fft.length[i];
    const bool halved = i == n - 1 && fft.type == FftType::kIrfft;
    const int64_t expected = halved && length > 0 ? length / 2 + 1 : length;
    if (length < 0 || !SizesAgree(operand.dims[d], expected)) {
      return InvalidArgument("The length (%d) of fft does not fit dimension %d of operand 0 shape (%s).",
                             length, d, Text(operand));
    }
  }
  const int64_t last = fft.length.back();
  if (real_input) {
    shape.dims.back() = last > 0 ? last / 2 + 1 : 0;
    shape.type = ComplexType(operand.type);
  } else if (fft.type == FftType::kIrfft) {
    shape.dims.back() = last;
    shape.type = RealType(operand.type);
  }
  return shape;
}

absl::StatusOr<Shape> InferCholesky(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectSquare(in, 0));
  return WithoutLayout(Operand(in, 0));
}

absl::StatusOr<Shape> InferTriangularSolve(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectSquare(in, 0));
  RETURN_IF_ERROR(ExpectArray(in, 1));
  RETURN_IF_ERROR(ExpectTypeOfFirst(in, 1));
  const Shape &a = Operand(in, 0), &b = Operand(in, 1);
  const auto& solve = AttributesOf<TriangularSolveAttributes>(in);
  if (solve.transpose_a < 1 || solve.transpose_a > 3) {
    return InvalidArgument("The transpose_a (%d) of triangular-solve is none of 1, 2 and 3.",
                           solve.transpose_a);
  }
  bool fits = a.rank() == b.rank();
  for (int64_t d = 0; fits && d < a.rank() - 2; ++d) fits = SizesAgree(a.dims[d], b.dims[d]);
  fits = fits && SizesAgree(a.dims.back(), b.dims[b.rank() - (solve.left_side ? 2 : 1)]);
  if (!fits) {
    return InvalidArgument("Operand 1 shape (%s) of triangular-solve does not fit operand 0 shape (%s).",
                           Text(b), Text(a));
  }
  return WithoutLayout(b);
}

absl::StatusOr<Shape> InferRng(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  RETURN_IF_ERROR(ExpectScalar(in, 0, declared->type));
  RETURN_IF_ERROR(ExpectScalar(in, 1, declared->type));
  const RandomDistribution distribution = AttributesOf<RngAttributes>(in).distribution;
  if (distribution == RandomDistribution::kInvalid) return InvalidArgument("An rng names no distribution.");
  const bool sampled = IsFloat(declared->type) || (distribution == RandomDistribution::kUniform &&
                                                   (IsInteger(declared->type) || declared->type == kPred));
  if (!sampled) {
    return InvalidArgument("The stated element type (%s) of rng does not suit its distribution.",
                           Name(declared->type));
  }
  return ArrayLike(*declared, declared->type);
}

// The result is the 128 bits of a philox counter, the low half first.
absl::StatusOr<Shape> InferRngState(const InferenceInput& in) { return Shape::Array(kU64, {2}); }

absl::StatusOr<Shape> InferRngBitGenerator(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& state = Operand(in, 0);
  if (!IsUnsigned(state.type) || state.rank() != 1) {
    return InvalidArgument(
        "Operand 0 shape (%s) of rng-bit-generator is not a state: a vector of unsigned integers.",
        Text(state));
  }
  const bool pair = declared->IsTuple() && declared->tuple.size() == 2 && declared->tuple[1].IsArray();
  if (!pair || !IsInteger(declared->tuple[1].type)) {
    return InvalidArgument(
        "The stated shape (%s) of rng-bit-generator is not a pair of a state and integers.", Text(*declared));
  }
  return Shape::Tuple({WithoutLayout(state), WithoutLayout(declared->tuple[1])});
}

}  // namespace hlod::hlo
