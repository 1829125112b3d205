// torch.stft and istft: frames of a signal, each transformed.
#include "hlod/ops/stft.h"

#include <algorithm>
#include <cmath>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "common/base/saturated.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/fft.h"
#include "hlod/ops/math.h"

namespace hlod {

using lazy::ListText;
using lazy::Refuse;

namespace {

// The sizes of the frames, checked.
struct Frames {
  int64_t size = 0, hop = 0, window = 0;

  Frames(int64_t n_fft, const StftOptions& options)
      : size(n_fft), hop(options.hop_length.value_or(n_fft / 4)), window(options.win_length.value_or(n_fft)) {
    if (size <= 0) Refuse("n_fft (%d) must be positive", size);
    if (hop <= 0) Refuse("hop_length (%d) must be positive", hop);
    if (window <= 0 || window > size)
      Refuse("win_length (%d) must be between 1 and n_fft (%d)", window, size);
    if (options.window.defined() && options.window.dims() != Dims{window})
      Refuse("the window of shape %s is not a vector of win_length (%d)", ListText(options.window.dims()),
             window);
  }
};

// Returns the factors of a frame; undefined when all are 1.
Tensor WindowOf(const Frames& frames, const StftOptions& options, const Tensor& like, PrimitiveType type) {
  Tensor window = options.window;
  if (!window.defined()) {
    if (frames.window == frames.size) return {};
    window = Ones({frames.window}, {.type = type, .device = like.device()});
  }
  const int64_t left = (frames.size - frames.window) / 2;
  return Pad(window, {left, frames.size - frames.window - left});
}

bool IsComplexType(const Tensor& x) { return hlo::IsComplex(x.dtype()); }

}  // namespace

Tensor Stft(const Operand& x, int64_t n_fft, const StftOptions& options) {
  const CallerScope scope(x.caller());
  const Tensor& in = lazy::TensorOf(lazy::ops::Stft, x);
  std::optional<Frames> frames;
  bool one_sided = false;
  lazy::Explain(lazy::ops::Stft, {&x, 1}, x.caller(), [&] {
    if (in.rank() != 1 && in.rank() != 2)
      Refuse("a signal [L] or signals [B, L] are needed, not shape %s", ListText(in.dims()));
    frames.emplace(n_fft, options);
    const bool is_complex = IsComplexType(in) || (options.window.defined() && IsComplexType(options.window));
    one_sided = options.onesided.value_or(!is_complex);
    if (one_sided && is_complex) Refuse("a complex signal or window has no one-sided spectrum");
    const int64_t length = SaturatedSum(in.size(-1), options.center ? n_fft / 2 * 2 : 0);
    if (n_fft > length) Refuse("a frame of %d elements is longer than the signal of %d", n_fft, length);
  });
  Tensor signal = in.rank() == 1 ? in.Unsqueeze(0) : in;
  if (options.center) signal = Pad(signal, {n_fft / 2, n_fft / 2}, options.pad_mode);
  Tensor framed = signal.Unfold(-1, n_fft, frames->hop);  // [B, T, n_fft]
  if (const Tensor window = WindowOf(*frames, options, in, in.dtype()); window.defined())
    framed = framed * window;
  const auto norm = options.normalized ? fft::Norm::kOrtho : fft::Norm::kBackward;
  Tensor spectrum = one_sided ? fft::Rfft(framed, {}, -1, norm) : fft::Fft(framed, {}, -1, norm);
  spectrum = spectrum.Transpose(-2, -1);
  return in.rank() == 1 ? spectrum.Squeeze(0) : spectrum;
}

Tensor Istft(const Operand& x, int64_t n_fft, const StftOptions& options, std::optional<int64_t> length) {
  const CallerScope scope(x.caller());
  const Tensor& in = lazy::TensorOf(lazy::ops::Istft, x);
  std::optional<Frames> frames;
  int64_t total = 0;
  bool one_sided = false;
  lazy::Explain(lazy::ops::Istft, {&x, 1}, x.caller(), [&] {
    if ((in.rank() != 2 && in.rank() != 3) || !IsComplexType(in))
      Refuse("complex spectra [F, T] or [B, F, T] are needed, not %s%s", hlo::Name(in.dtype()),
             ListText(in.dims()));
    frames.emplace(n_fft, options);
    if (in.size(-1) == 0) Refuse("there is not a frame in shape %s", ListText(in.dims()));
    one_sided = options.onesided.value_or(in.size(-2) != n_fft);
    if (const int64_t size = one_sided ? n_fft / 2 + 1 : n_fft; in.size(-2) != size)
      Refuse("shape %s has %d frequencies; frames of %d elements have %d", ListText(in.dims()), in.size(-2),
             n_fft, size);
    if (length.has_value() && *length <= 0) Refuse("the length (%d) must be positive", *length);
    total = SaturatedSum(n_fft, lazy::SizeTimes(frames->hop, in.size(-1) - 1));
  });
  const auto norm = options.normalized ? fft::Norm::kOrtho : fft::Norm::kBackward;
  const Tensor spectrum = (in.rank() == 2 ? in.Unsqueeze(0) : in).Transpose(-2, -1);
  // As in PyTorch, only the half of a full spectrum that a real signal has is used.
  const Tensor half = one_sided ? spectrum : spectrum.Narrow(-1, 0, n_fft / 2 + 1);
  const Tensor framed = fft::Irfft(half, n_fft, -1, norm);
  Tensor window = WindowOf(*frames, options, in, framed.dtype());
  if (!window.defined()) window = Ones({n_fft}, {.type = framed.dtype(), .device = in.device()});
  const int64_t count = in.size(-1);
  const auto summed = [&](const Tensor& each) {  // [B, T, n_fft], each frame at its position.
    const Tensor sum = Fold(each.Transpose(1, 2), {1, total}, {1, n_fft}, {.stride = {1, frames->hop}});
    return sum.Reshape({sum.size(0), total});
  };
  const int64_t start = options.center ? n_fft / 2 : 0;
  const int64_t end = length.has_value() ? SaturatedSum(start, *length)
                      : options.center   ? total - n_fft / 2
                                         : total;
  const int64_t kept = std::min(end, total) - start;
  const Tensor envelope = summed((window * window).Expand({1, count, n_fft}));
  Tensor signal = summed(framed * window).Narrow(-1, start, kept) / envelope.Narrow(-1, start, kept);
  if (end > total) signal = Pad(signal, {0, end - total});
  return in.rank() == 2 ? signal.Squeeze(0) : signal;
}

}  // namespace hlod
