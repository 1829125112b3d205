// Making tensors: from values, from nothing, at random.
#pragma once

#include <optional>
#include <vector>

#include "hlod/tensor.h"

namespace hlod {

// Where and how a factory makes its tensor. Without a device: the host, or the default device when the
// setting native_host_tensors is false.
struct TensorOptions {
  PrimitiveType type = kF32;
  std::optional<Device> device = {};
};

// A tensor with the values of `literal` (an array).
Tensor FromLiteral(Literal literal, std::optional<Device> device = {}, Caller caller = Caller::Here());
// A tensor of `dims` with `values` in row-major order; without dims, a vector of them. torch.tensor.
template <typename T>
Tensor FromValues(const std::vector<T>& values, std::optional<Dims> dims = {},
                  std::optional<Device> device = {}, Caller caller = Caller::Here());

Tensor Zeros(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
Tensor Ones(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
Tensor Full(DimList dims, Scalar value, TensorOptions options = {}, Caller caller = Caller::Here());
// start, start + step, ... below end (above, when step is negative): ceil((end - start) / step) numbers.
Tensor Arange(Scalar start, Scalar end, Scalar step = 1, TensorOptions options = {.type = kS64},
              Caller caller = Caller::Here());
// n rows, m columns (n when absent), ones on the diagonal.
Tensor Eye(int64_t n, std::optional<int64_t> m = {}, TensorOptions options = {},
           Caller caller = Caller::Here());

// Random numbers are a function of the device's seed (ManualSeed) and of how many were drawn there before:
// where a trace is cut, and on which thread, does not change them.
// Uniform in [0, 1).
Tensor Rand(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Normal, mean 0 and variance 1.
Tensor Randn(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Uniform in [low, high): what layers are initialised with.
Tensor Uniform(DimList dims, double low, double high, TensorOptions options = {},
               Caller caller = Caller::Here());

template <typename T>
Tensor FromValues(const std::vector<T>& values, std::optional<Dims> dims, std::optional<Device> device,
                  Caller caller) {
  static_assert(hlo::kPrimitiveTypeOf<T> != kInvalid, "T is not a type that arrays store.");
  const Dims shape = dims.value_or(Dims{static_cast<int64_t>(values.size())});
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  if (count != static_cast<int64_t>(values.size())) {
    throw Error(MakeError(ErrorKind::kArgument,
                          std::to_string(values.size()) + " values do not fill " +
                              hlo::ToStringNoLayout(Shape::Array(hlo::kPrimitiveTypeOf<T>, shape))),
                "tensor", caller);
  }
  Literal literal(Shape::Array(hlo::kPrimitiveTypeOf<T>, shape));
  std::copy(values.begin(), values.end(), literal.data<T>().begin());
  return FromLiteral(std::move(literal), std::move(device), caller);
}

}  // namespace hlod
