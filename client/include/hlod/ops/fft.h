// torch.fft: discrete Fourier transforms. Integers and bools become f32; types of 16 bits and fewer are
// refused. The transform multiplies by exp(-2 pi i j k / n), the inverse by its conjugate.
//
// `n` is the size of the signal: the input is truncated, or padded with zeros, to n elements (Irfft and Hfft:
// to n / 2 + 1). When absent it is the input's size (Irfft and Hfft: 2 (size - 1)). For several dimensions
// `sizes` has one size per dimension, and -1 means the input's size. Without `dims` they are the last
// dimensions; without both, all dimensions (for functions whose name ends in 2: the last two).
#pragma once

#include <optional>

#include "hlod/ops/creation.h"
#include "hlod/tensor/tensor.h"

namespace hlod::fft {

// The factor of the results, for a signal of n elements. kBackward: 1 / n in the inverse only. kForward: 1 /
// n in the transform only. kOrtho: 1 / sqrt(n) in both.
enum class Norm { kBackward, kForward, kOrtho };

// The complex-to-complex transform, and its inverse.
Tensor Fft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Ifft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
// The transform of a real signal, which returns the first half of the spectrum; and its inverse.
Tensor Rfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Irfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
// The transform of a Hermitian signal given by its first half (the result is real), and its inverse.
Tensor Hfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Ihfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);

// The same transforms along two dimensions.
Tensor Fft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Ifft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Rfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Irfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Hfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Ihfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
// The same transforms along any dimensions. The last of them is the one that is halved.
Tensor Fftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Ifftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Rfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Irfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Hfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Ihfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);

// The frequency of each element of a spectrum (Rfftfreq: of half a spectrum) of samples at a distance of `d`.
Tensor Fftfreq(int64_t n, double d = 1, TensorOptions options = {}, Caller caller = Caller::Here());
Tensor Rfftfreq(int64_t n, double d = 1, TensorOptions options = {}, Caller caller = Caller::Here());
// Moves the frequency 0 to the middle of the dimensions (all when none is named); Ifftshift moves it back.
Tensor Fftshift(const Operand& x, DimList dims = {});
Tensor Ifftshift(const Operand& x, DimList dims = {});

}  // namespace hlod::fft
