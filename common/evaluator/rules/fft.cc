// fft: the discrete Fourier transform along the innermost dimensions, one after another.
#include <cmath>
#include <numbers>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/dft.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"

namespace hlod::evaluator {

using hlo::FftType;
using hlo::Instruction;
using hlo::Literal;

namespace {

// An array of complex numbers, row-major.
struct Field {
  std::vector<Complex> values;
  Dims dims;
};

// Computes X[k] = sum_n x[n] exp(sign 2 pi i k n / length) along `dimension`; the inverse (sign +1) divides
// by the length. The output has only the first `keep` positions along the dimension.
absl::Status Transform(Evaluation& evaluation, Field& field, int64_t dimension, int sign, int64_t keep) {
  const int64_t length = field.dims[dimension];
  const int64_t stride = hlo::RowMajorStrides(field.dims)[dimension];
  Field out{{}, field.dims};
  out.dims[dimension] = keep;
  out.values.resize(Count(out.dims));
  const int64_t outer =
      stride == 0 || length == 0 ? 0 : static_cast<int64_t>(field.values.size()) / (length * stride);
  const double scale = sign > 0 ? 1.0 / static_cast<double>(length) : 1.0;
  if (outer == 0) {
    field = std::move(out);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(evaluation.Tick(16 * length));
  const Dft dft(length, sign);
  std::vector<Complex> line(static_cast<size_t>(length));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < stride; ++i) {
      RETURN_IF_ERROR(
          dft.Run(evaluation, field.values.data() + o * length * stride + i, stride, line.data()));
      for (int64_t k = 0; k < keep; ++k)
        out.values[(o * keep + k) * stride + i] = line[static_cast<size_t>(k)] * scale;
    }
  }
  field = std::move(out);
  return absl::OkStatus();
}

// Completes the spectrum of a real signal of `length` along the last dimension from its first half: X[length
// - k] is conj X[k].
void CompleteHalfSpectrum(Field& field, int64_t length) {
  const int64_t half = field.dims.back(),
                lines = half == 0 ? 0 : static_cast<int64_t>(field.values.size()) / half;
  std::vector<Complex> whole(lines * length);
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t k = 0; k < length; ++k) {
      const int64_t mirrored = length - k;
      whole[line * length + k] = k < half          ? field.values[line * half + k]
                                 : mirrored < half ? std::conj(field.values[line * half + mirrored])
                                                   : Complex(0);
    }
  }
  field.values = std::move(whole);
  field.dims.back() = length;
}

}  // namespace

absl::StatusOr<Literal> Fft(Evaluation& evaluation, Instruction instruction, Operands operands) {
  const auto& fft = instruction.attributes<hlo::FftAttributes>();
  ASSIGN_OR_RETURN(Literal result, evaluation.Allocate(instruction.shape()));
  Field field{LoadAs<Complex>(operands[0]), operands[0].shape().dims};
  const int64_t last = operands[0].shape().rank() - 1,
                first = last + 1 - static_cast<int64_t>(fft.length.size());
  const bool inverse = fft.type == FftType::kIfft || fft.type == FftType::kIrfft;
  const int sign = inverse ? 1 : -1;
  // The real signal is the input of an RFFT or the output of an IRFFT along the last dimension, so an RFFT
  // transforms that dimension first, and an IRFFT last.
  if (fft.type == FftType::kRfft)
    RETURN_IF_ERROR(Transform(evaluation, field, last, sign, result.shape().dims.back()));
  const int64_t end = fft.type == FftType::kRfft || fft.type == FftType::kIrfft ? last - 1 : last;
  for (int64_t d = first; d <= end; ++d)
    RETURN_IF_ERROR(Transform(evaluation, field, d, sign, field.dims[d]));
  if (fft.type == FftType::kIrfft) {
    CompleteHalfSpectrum(field, fft.length.back());
    RETURN_IF_ERROR(Transform(evaluation, field, last, sign, fft.length.back()));
  }
  if (static_cast<int64_t>(field.values.size()) != result.element_count()) {
    return InvalidArgument("%s: a transform of %s does not give %s", instruction.name(),
                           ToStringNoLayout(operands[0].shape()), ToStringNoLayout(result.shape()));
  }
  if (fft.type == FftType::kIrfft) {
    std::vector<double> real(field.values.size());
    for (size_t i = 0; i < real.size(); ++i) real[i] = field.values[i].real();
    StoreAll(real, result);
  } else {
    StoreAll(field.values, result);
  }
  return result;
}

}  // namespace hlod::evaluator
