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
#include "server/engine/run/cpu_dispatch.h"
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

// Elements k and length - k of the transform of a real line, of `count` successive k: from those of the half
// line and its mirrored ones, or the reverse. `near` begins at the first k, `far` ends at its counterpart.
template <typename T>
struct PairsBlock {
  static constexpr int64_t kMost = 64;
  const T *from_near, *from_far;
  T *near, *far;
  const T *root_re, *root_im;  // The root of each k.
  int64_t count;
};

template <typename T, bool kToReal>
struct PairsKernel {
  static constexpr int64_t kMost = PairsBlock<T>::kMost;
  static HLOD_ALWAYS_INLINE void Run(const PairsBlock<T>* block) {
    const int64_t n = block->count;
    T a_re[kMost], a_im[kMost], b_re[kMost], b_im[kMost], c_re[kMost], c_im[kMost], d_re[kMost], d_im[kMost];
    Load(block->from_near, n, a_re, a_im);
    Load(block->from_far, n, b_re, b_im);
    const T *root_re = block->root_re, *root_im = block->root_im;
    const T half = kToReal ? T(1) : T(0.5);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const T x_re = a_re[i], x_im = a_im[i], y_re = b_re[n - 1 - i], y_im = b_im[n - 1 - i];
      const T even_re = (x_re + y_re) * half, even_im = (x_im - y_im) * half;
      const T minus = (x_re - y_re) * half, plus = (x_im + y_im) * half;
      if constexpr (kToReal) {
        const T odd_re = minus * root_re[i] + plus * root_im[i],
                odd_im = plus * root_re[i] - minus * root_im[i];
        c_re[i] = even_re - odd_im, c_im[i] = even_im + odd_re;
        d_re[n - 1 - i] = even_re + odd_im, d_im[n - 1 - i] = odd_re - even_im;
      } else {
        const T turned_re = plus * root_re[i] + minus * root_im[i],
                turned_im = plus * root_im[i] - minus * root_re[i];
        c_re[i] = even_re + turned_re, c_im[i] = even_im + turned_im;
        // E[length / 2 - k] and O[length / 2 - k] are the conjugates, and w^(length / 2 - k) is -conj w^k.
        d_re[n - 1 - i] = even_re - turned_re, d_im[n - 1 - i] = turned_im - even_im;
      }
    }
    Store(c_re, c_im, n, block->near);
    Store(d_re, d_im, n, block->far);
  }

 private:
  static HLOD_ALWAYS_INLINE void Load(const T* from, int64_t n, T* re, T* im) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) re[i] = from[2 * i], im[i] = from[2 * i + 1];
  }
  static HLOD_ALWAYS_INLINE void Store(const T* re, const T* im, int64_t n, T* to) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[2 * i] = re[i], to[2 * i + 1] = im[i];
  }
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
    if (real() && even()) {
      roots_.emplace(length_);
      // Half of what a plan is charged for a step of a library (kLibraryStepBytes).
      constexpr int64_t kPairRootsBytesMax = 4 << 10;
      const int64_t pairs = length_ / 4 + 1;
      if (2 * pairs * static_cast<int64_t>(sizeof(T)) <= kPairRootsBytesMax) {
        pair_roots_.resize(static_cast<size_t>(2 * pairs));
        for (int64_t k = 0; k < pairs; ++k) {
          const Complex<T> root = (*roots_)[k];
          pair_roots_[k] = root.re, pair_roots_[pairs + k] = root.im;
        }
      }
    }
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

  // Calls body(row, 0, 1), then body(row, k, count) for blocks of successive k in [1, length / 4], of every
  // row.
  template <typename Body>
  absl::Status ForBlocks(StepContext& context, Body&& body) const {
    constexpr int64_t kMost = PairsBlock<T>::kMost;
    const int64_t last = length_ / 4, blocks = 1 + (last + kMost - 1) / kMost;
    return ParallelPieces(context, rows_ * blocks, WorkOf(rows_, last + 1),
                          [&](int64_t begin, int64_t end, int) {
                            for (int64_t i = begin; i < end; ++i) {
                              const int64_t row = i / blocks, block = i % blocks, k = (block - 1) * kMost + 1;
                              if (block == 0) body(row, 0, 1);
                              else body(row, k, std::min(kMost, last + 1 - k));
                            }
                          });
  }

  // Computes a block whose first k is given, with its roots.
  template <bool kToReal>
  void RunPairs(PairsBlock<T> block, int64_t k) const {
    T re[PairsBlock<T>::kMost], im[PairsBlock<T>::kMost];
    if (pair_roots_.empty()) {
      for (int64_t i = 0; i < block.count; ++i) {
        const Complex<T> root = (*roots_)[k + i];
        re[i] = root.re, im[i] = root.im;
      }
      block.root_re = re, block.root_im = im;
    } else {
      block.root_re = pair_roots_.data() + k;
      block.root_im = block.root_re + length_ / 4 + 1;
    }
    RunBest<PairsKernel<T, kToReal>>(static_cast<const PairsBlock<T>*>(&block));
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
    return ForBlocks(context, [&](int64_t row, int64_t k, int64_t count) {
      T* const line = output + 2 * row * width_;
      if (k == 0) {  // Z[half] is Z[0].
        const T re = line[0], im = line[1];
        line[0] = re + im, line[1] = 0;
        line[2 * half] = re - im, line[2 * half + 1] = 0;
        return;
      }
      T *const near = line + 2 * k, *const far = line + 2 * (half - k - count + 1);
      RunPairs<false>({near, far, near, far, nullptr, nullptr, count}, k);
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
    RETURN_IF_ERROR(ForBlocks(context, [&](int64_t row, int64_t k, int64_t count) {
      const T* const line = spectrum + 2 * row * width_;
      T* const to = output + 2 * row * half;
      if (k == 0) {
        to[0] = line[0] + line[2 * half], to[1] = line[0] - line[2 * half];
        return;
      }
      const int64_t far = half - k - count + 1;
      RunPairs<true>({line + 2 * k, line + 2 * far, to + 2 * k, to + 2 * far, nullptr, nullptr, count}, k);
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
  // The roots of k in [0, length / 4]: real parts, then imaginary parts. Empty for long lines.
  std::vector<T> pair_roots_;
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
