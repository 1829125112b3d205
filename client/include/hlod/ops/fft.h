// torch.fft: discrete Fourier transforms. Integers and bools become f32; types of 16 bits and fewer are
// refused. On the way there exp(-2 pi i j k / n) is the factor, on the way back its conjugate.
//
// `n` is the size of the signal: the input is cut, or filled with zeros, to it (Irfft and Hfft: to n / 2 +
// 1); when absent it is the input's (Irfft and Hfft: 2 (size - 1)). Of several dimensions `sizes` are those
// of each, -1 meaning the input's; without `dims` they are of the last ones, and without both it is all (of
// the functions named with 2: the last two).
#pragma once

#include <optional>

#include "hlod/ops/creation.h"
#include "hlod/tensor/tensor.h"

namespace hlod::fft {

// The divisor of the results, where the signal has n elements. kBackward: n in the inverse only. kForward: n
// in the transform only. kOrtho: the root of n in both.
enum class Norm { kBackward, kForward, kOrtho };

// The complex-to-complex transform, and its inverse.
Tensor Fft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Ifft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
// The transform of a real signal, of which it returns the first half of the spectrum, and its inverse.
Tensor Rfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Irfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
// The transform of a Hermitian signal given by its first half (the result is real), and its inverse.
Tensor Hfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);
Tensor Ihfft(const Operand& x, std::optional<int64_t> n = {}, int64_t dim = -1, Norm norm = Norm::kBackward);

// The same along two dimensions.
Tensor Fft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Ifft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Rfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Irfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Hfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
Tensor Ihfft2(const Operand& x, DimList sizes = {}, DimList dims = {-2, -1}, Norm norm = Norm::kBackward);
// The same along any dimensions. The half is taken of the last one.
Tensor Fftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Ifftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Rfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Irfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Hfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);
Tensor Ihfftn(const Operand& x, DimList sizes = {}, DimList dims = {}, Norm norm = Norm::kBackward);

// The frequency of each element of a spectrum, of samples `d` apart; Rfftfreq: of half a spectrum.
Tensor Fftfreq(int64_t n, double d = 1, TensorOptions options = {}, Caller caller = Caller::Here());
Tensor Rfftfreq(int64_t n, double d = 1, TensorOptions options = {}, Caller caller = Caller::Here());
// The frequency 0 moved to the middle, and back; of all dimensions when none is named.
Tensor Fftshift(const Operand& x, DimList dims = {});
Tensor Ifftshift(const Operand& x, DimList dims = {});

}  // namespace hlod::fft
