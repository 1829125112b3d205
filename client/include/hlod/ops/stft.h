// Short-time Fourier transforms: torch.stft and istft, of complex results always.
#pragma once

#include <optional>

#include "hlod/ops/arrangement.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct StftOptions {
  std::optional<int64_t> hop_length;  // From a frame to the next; n_fft / 4.
  std::optional<int64_t> win_length;  // Length of the window, which is centred in a frame; n_fft.
  Tensor window;                      // A vector of that length; ones when undefined.
  bool center = true;  // Frame t is around t hop_length, the signal being padded at both ends ...
  PadMode pad_mode = PadMode::kReflect;  // ... in this way (Stft alone).
  bool normalized = false;               // Divided by the root of n_fft.
  std::optional<bool> onesided = {};     // The half of the spectrum that says all; as the signal is real.
};
// Returns the spectrum of each frame of n_fft elements, [F, T] or [B, F, T], for real or complex signals [L]
// or [B, L]. F is n_fft / 2 + 1 when one-sided, else n_fft.
Tensor Stft(const Operand& x, int64_t n_fft, const StftOptions& options = {});
// Back, to real signals of `length`, or as long as the frames: the frames' sum, divided by that of the
// squared windows, which is not to be 0 anywhere.
Tensor Istft(const Operand& x, int64_t n_fft, const StftOptions& options = {},
             std::optional<int64_t> length = {});

}  // namespace hlod
