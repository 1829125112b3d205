// Short-time Fourier transforms: torch.stft and istft; results are always complex.
#pragma once

#include <optional>

#include "hlod/ops/arrangement.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct StftOptions {
  std::optional<int64_t> hop_length;  // The distance from a frame to the next; nullopt: n_fft / 4.
  // The length of the window, which is centred in a frame; nullopt: n_fft.
  std::optional<int64_t> win_length;
  Tensor window;       // A vector of win_length elements; ones when undefined.
  bool center = true;  // Centres frame t at t hop_length, by padding the signal at both ends.
  PadMode pad_mode = PadMode::kReflect;  // The way in which `center` pads (Stft alone).
  bool normalized = false;               // Divides by the square root of n_fft.
  // True: only the first half of the spectrum, which determines the rest for a real signal. nullopt: true for
  // a real signal.
  std::optional<bool> onesided = {};
};
// Returns the spectrum of each frame of n_fft elements, [F, T] or [B, F, T], for real or complex signals [L]
// or [B, L]. F is n_fft / 2 + 1 when one-sided, else n_fft.
Tensor Stft(const Operand& x, int64_t n_fft, const StftOptions& options = {});
// The inverse of Stft: a real signal of `length` elements, or as many as the frames cover. It is the sum of
// the frames divided by the sum of the squared windows, which must not be 0 anywhere.
Tensor Istft(const Operand& x, int64_t n_fft, const StftOptions& options = {},
             std::optional<int64_t> length = {});

}  // namespace hlod
