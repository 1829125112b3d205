// The four kinds of fft, composed of transforms of complex lines.
//
// A real line of even length n is read as n / 2 complex numbers. Their transform Z yields that of the line:
// X[k] = E[k] + w^k O[k], where w = exp(-2 pi i / n), E[k] = (Z[k] + conj Z[n/2 - k]) / 2 is the transform of
// the even elements, and O[k] = (Z[k] - conj Z[n/2 - k]) / 2i that of the odd ones. A real line of odd length
// is transformed as a complex one with zero imaginary parts.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/fft/fft_steps.h"
#include "server/engine/fft/lines.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using fft::Complex;
using fft::Lines;
using fft::LineTransform;

// A transform along one of the outer dimensions, or along the last one of complex lines.
template <typename T>
struct Axis {
  int64_t length, inner;
  std::unique_ptr<LineTransform<T>> lines;
};

template <typename T>
class FftStep final : public Step {
 public:
  static MaybeStep Make(hlo::Instruction instruction, int threads) {
    std::unique_ptr<FftStep> step(new FftStep(instruction));
    return step->Plan(instruction, threads) ? std::move(step) : nullptr;
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (elements_ == 0) return absl::OkStatus();
    T* const input = const_cast<T*>(reinterpret_cast<const T*>(inputs[0]));
    T* const output = reinterpret_cast<T*>(outputs[0]);
    switch (type_) {
      case hlo::FftType::kRfft:
        RETURN_IF_ERROR(FromReal(input, output, context));
        return Outer(output, output, context);
      case hlo::FftType::kIrfft: {
        T* const spectrum = axes_.empty() ? input : spectrum_room(context);
        RETURN_IF_ERROR(Outer(input, spectrum, context));
        return ToReal(spectrum, output, context);
      }
      default:
        RETURN_IF_ERROR(last_.lines->Run(Dense(input, last_), Dense(output, last_), inverse_, ScaleOf(last_),
                                         context.scratch, context));
        return Outer(output, output, context);
    }
  }

 private:
  explicit FftStep(hlo::Instruction instruction)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        type_(instruction.attributes<hlo::FftAttributes>().type),
        inverse_(type_ == hlo::FftType::kIfft || type_ == hlo::FftType::kIrfft) {}

  bool real() const { return type_ == hlo::FftType::kRfft || type_ == hlo::FftType::kIrfft; }
  bool even() const { return length_ % 2 == 0; }

  bool Plan(hlo::Instruction instruction, int threads) {
    const auto& length = instruction.attributes<hlo::FftAttributes>().length;
    // The complex array; for a real signal its spectrum, of which only half is stored because it determines
    // the other half.
    const hlo::Shape& complex =
        type_ == hlo::FftType::kIrfft ? instruction.operand(0).shape() : instruction.shape();
    elements_ = std::min(Elements(instruction.operand(0).shape()), Elements(instruction.shape()));
    if (elements_ == 0) return true;
    length_ = length.back();
    width_ = complex.dims.back();
    rows_ = Elements(complex) / width_;
    int64_t scratch = 0;
    const auto add = [&](int64_t n, int64_t inner) -> Axis<T> {
      Axis<T> axis{n, inner, LineTransform<T>::Make(n, inner, rows_ * width_ / (inner * n), threads)};
      if (axis.lines != nullptr) scratch = std::max(scratch, axis.lines->scratch_bytes());
      return axis;
    };
    const int64_t complex_length = real() && even() ? length_ / 2 : length_;
    last_ = {complex_length, 1, LineTransform<T>::Make(complex_length, 1, rows_, threads)};
    if (last_.lines == nullptr) return false;
    scratch = last_.lines->scratch_bytes();
    int64_t inner = width_;
    for (size_t back = 2; back <= length.size(); ++back) {
      const int64_t n = complex.dims[complex.rank() - back];
      axes_.push_back(add(n, inner));
      if (axes_.back().lines == nullptr) return false;
      inner *= n;
    }
    // Scratch memory after that of the transforms: the spectrum while the outer dimensions of an IRFFT are
    // transformed, or real lines of odd length as complex ones.
    room_ = ScratchAlign(scratch);
    const auto pairs_bytes = [](int64_t pairs) {
      return ScratchAlign(2 * pairs * static_cast<int64_t>(sizeof(T)));
    };
    const int64_t spectrum =
        type_ == hlo::FftType::kIrfft && !axes_.empty() ? pairs_bytes(rows_ * width_) : 0;
    widened_ = room_ + spectrum;
    set_scratch_bytes(widened_ + (real() && !even() ? pairs_bytes(rows_ * length_) : 0));
    if (real() && even()) roots_.emplace(length_);
    double work = 0;
    for (const int64_t n : length) work += std::log2(std::max<double>(1, static_cast<double>(n)));
    set_flops(5 * work * static_cast<double>(rows_ * width_));
    return true;
  }

  // Returns the view of a whole complex array along one of its dimensions.
  static Lines<T> Dense(T* data, const Axis<T>& axis) { return {data, axis.inner, axis.inner * axis.length}; }
  T ScaleOf(const Axis<T>& axis) const { return inverse_ ? T(1) / static_cast<T>(axis.length) : T(1); }
  T* spectrum_room(const StepContext& context) const { return reinterpret_cast<T*>(context.scratch + room_); }

  // Transforms all dimensions but the last one.
  absl::Status Outer(T* from, T* to, StepContext& context) const {
    for (const Axis<T>& axis : axes_) {
      RETURN_IF_ERROR(axis.lines->Run(Dense(from, axis), Dense(to, axis), inverse_, ScaleOf(axis),
                                      context.scratch, context));
      from = to;
    }
    return absl::OkStatus();
  }

  // Calls body(row, k) for k in [0, count) of every row, over the team.
  template <typename Body>
  absl::Status ForPairs(int64_t count, StepContext& context, Body&& body) const {
    const int64_t work = WorkOf(rows_, count) * 4;
    return ParallelPieces(context, rows_ * count, work, [&](int64_t begin, int64_t end, int) {
      int64_t row = begin / count, k = begin % count;
      for (int64_t i = begin; i < end; ++i) {
        body(row, k);
        if (++k == count) k = 0, ++row;
      }
    });
  }

  absl::Status FromReal(T* input, T* output, StepContext& context) const {
    if (!even()) {
      T* const wide = reinterpret_cast<T*>(context.scratch + widened_);
      RETURN_IF_ERROR(ForPairs(length_, context, [&](int64_t row, int64_t k) {
        T* const to = wide + 2 * (row * length_ + k);
        to[0] = input[row * length_ + k], to[1] = 0;
      }));
      RETURN_IF_ERROR(
          last_.lines->Run(Dense(wide, last_), Dense(wide, last_), false, T(1), context.scratch, context));
      return ForPairs(width_, context, [&](int64_t row, int64_t k) {
        const T* const from = wide + 2 * (row * length_ + k);
        T* const to = output + 2 * (row * width_ + k);
        to[0] = from[0], to[1] = k == 0 ? T(0) : from[1];
      });
    }
    const int64_t half = length_ / 2;
    RETURN_IF_ERROR(
        last_.lines->Run({input, 1, half}, {output, 1, width_}, false, T(1), context.scratch, context));
    // Elements k and half - k are computed together, in place.
    return ForPairs(half / 2 + 1, context, [&](int64_t row, int64_t k) {
      T* const a = output + 2 * (row * width_ + k);
      T* const b = output + 2 * (row * width_ + half - k);
      if (k == 0) {  // Z[half] is Z[0].
        const T re = a[0], im = a[1];
        a[0] = re + im, a[1] = 0;
        b[0] = re - im, b[1] = 0;
        return;
      }
      const Complex<T> even{(a[0] + b[0]) / 2, (a[1] - b[1]) / 2}, odd{(a[1] + b[1]) / 2, (b[0] - a[0]) / 2};
      const Complex<T> turned = odd * (*roots_)[k];
      a[0] = even.re + turned.re, a[1] = even.im + turned.im;
      // E[half - k] and O[half - k] are the conjugates, and w^(half - k) is -conj w^k.
      b[0] = even.re - turned.re, b[1] = turned.im - even.im;
    });
  }

  // Ignores imaginary parts that are zero in the spectrum of a real signal.
  absl::Status ToReal(const T* spectrum, T* output, StepContext& context) const {
    const T scale = T(1) / static_cast<T>(length_);
    if (!even()) {
      T* const wide = reinterpret_cast<T*>(context.scratch + widened_);
      RETURN_IF_ERROR(ForPairs(length_, context, [&](int64_t row, int64_t k) {
        const bool mirrored = k >= width_;
        const T* const from = spectrum + 2 * (row * width_ + (mirrored ? length_ - k : k));
        T* const to = wide + 2 * (row * length_ + k);
        to[0] = from[0], to[1] = k == 0 ? T(0) : mirrored ? -from[1] : from[1];
      }));
      RETURN_IF_ERROR(
          last_.lines->Run(Dense(wide, last_), Dense(wide, last_), true, scale, context.scratch, context));
      return ForPairs(length_, context, [&](int64_t row, int64_t k) {
        output[row * length_ + k] = wide[2 * (row * length_ + k)];
      });
    }
    const int64_t half = length_ / 2;
    RETURN_IF_ERROR(ForPairs(half / 2 + 1, context, [&](int64_t row, int64_t k) {
      const T* const x = spectrum + 2 * (row * width_ + k);
      const T* const y = spectrum + 2 * (row * width_ + half - k);
      T* const a = output + 2 * (row * half + k);
      if (k == 0) {
        a[0] = x[0] + y[0], a[1] = x[0] - y[0];
        return;
      }
      const Complex<T> even{x[0] + y[0], x[1] - y[1]}, difference{x[0] - y[0], x[1] + y[1]};
      const Complex<T> root = (*roots_)[k], odd = difference * Complex<T>{root.re, -root.im};
      T* const b = output + 2 * (row * half + half - k);
      a[0] = even.re - odd.im, a[1] = even.im + odd.re;
      b[0] = even.re + odd.im, b[1] = odd.re - even.im;
    }));
    return last_.lines->Run({output, 1, half}, {output, 1, half}, true, scale, context.scratch, context);
  }

  const hlo::FftType type_;
  const bool inverse_;
  int64_t elements_ = 0;          // The number of elements; 0 if there is no work.
  int64_t length_ = 0;            // The length of the last dimension; of the real signal, if there is one.
  int64_t width_ = 0, rows_ = 0;  // The last dimension of the complex array, and the product of its other
                                  // dimensions.
  Axis<T> last_;
  std::vector<Axis<T>> axes_;  // The outer dimensions, innermost first.
  std::optional<fft::Roots<T>> roots_;
  int64_t room_ = 0, widened_ = 0;  // Offsets in the scratch.
};

}  // namespace

MaybeStep MakeFftStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  const hlo::PrimitiveType type = instruction.operand(0).shape().type;
  return type == hlo::kF64 || type == hlo::kC128 ? FftStep<double>::Make(instruction, threads)
                                                 : FftStep<float>::Make(instruction, threads);
}

}  // namespace hlod::engine
