// Tensors made from values, from sizes, or like other tensors.
#pragma once

#include <optional>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The type and device of a tensor that a factory makes. Without a device: the host, or the default device
// when the setting native_host_tensors is false.
struct TensorOptions {
  // nullopt: PyTorch's default type, but f32 where PyTorch uses the default floating type.
  std::optional<PrimitiveType> type = {};
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
// The type is that of the value when none is named: pred, s64, f32 or c64.
Tensor Full(DimList dims, Scalar value, TensorOptions options = {}, Caller caller = Caller::Here());
// start, start + step, ... below end (above, when step is negative): ceil((end - start) / step) numbers.
// s64 when all three are integers, else f32.
Tensor Arange(Scalar start, Scalar end, Scalar step = 1, TensorOptions options = {},
              Caller caller = Caller::Here());
// n rows, m columns (n when absent), ones on the diagonal.
Tensor Eye(int64_t n, std::optional<int64_t> m = {}, TensorOptions options = {},
           Caller caller = Caller::Here());

// Linspace: `steps` numbers from start to end, both included. Logspace: the powers of `base` at such numbers.
Tensor Linspace(Scalar start, Scalar end, int64_t steps, TensorOptions options = {},
                Caller caller = Caller::Here());
Tensor Logspace(Scalar start, Scalar end, int64_t steps, double base = 10, TensorOptions options = {},
                Caller caller = Caller::Here());

// Type and device, where they differ from those of the tensor that a factory imitates.
struct LikeOptions {
  std::optional<PrimitiveType> type = {};
  std::optional<Device> device = {};
};
// Have x's shape, type and device. x's value is not used: x may be a placeholder.
Tensor ZerosLike(const Operand& x, LikeOptions options = {});
Tensor OnesLike(const Operand& x, LikeOptions options = {});
Tensor FullLike(const Operand& x, Scalar value, LikeOptions options = {});
// Have x's type and device.
Tensor NewZeros(const Operand& x, DimList dims, LikeOptions options = {});
Tensor NewOnes(const Operand& x, DimList dims, LikeOptions options = {});
Tensor NewFull(const Operand& x, DimList dims, Scalar value, LikeOptions options = {});
// A tensor like x with `value`, a number or a tensor without dimensions, in every element.
Tensor Fill(const Operand& x, const Operand& value);

template <typename T>
Tensor FromValues(const std::vector<T>& values, std::optional<Dims> dims, std::optional<Device> device,
                  Caller caller) {
  static_assert(hlo::kPrimitiveTypeOf<T> != kInvalid, "T is not a type that arrays store.");
  const Dims shape = dims.value_or(Dims{static_cast<int64_t>(values.size())});
  const absl::Status valid = hlo::ValidateShape(Shape::Array(hlo::kPrimitiveTypeOf<T>, shape));
  if (!valid.ok()) throw Error(valid, "tensor", caller);
  const std::optional<int64_t> count = hlo::ElementCount(Shape::Array(hlo::kPrimitiveTypeOf<T>, shape));
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
