// Window functions of signals, as torch.hann_window and its siblings: `size` numbers that rise from the ends
// to the middle. A periodic window, for spectra, is the symmetric one of size + 1 without its last number.
#pragma once

#include "hlod/ops/creation.h"

namespace hlod {

// 0.5 - 0.5 cos(2 pi n / N).
Tensor HannWindow(int64_t size, bool periodic = true, TensorOptions options = {},
                  Caller caller = Caller::Here());
// alpha - beta cos(2 pi n / N).
Tensor HammingWindow(int64_t size, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                     TensorOptions options = {}, Caller caller = Caller::Here());
// 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).
Tensor BlackmanWindow(int64_t size, bool periodic = true, TensorOptions options = {},
                      Caller caller = Caller::Here());
// A triangle: 1 - |2 n / N - 1|.
Tensor BartlettWindow(int64_t size, bool periodic = true, TensorOptions options = {},
                      Caller caller = Caller::Here());
// I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta).
Tensor KaiserWindow(int64_t size, bool periodic = true, double beta = 12, TensorOptions options = {},
                    Caller caller = Caller::Here());

}  // namespace hlod
