// Products of matrices and tensors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// torch.matmul: vectors, matrices, and batches of them by broadcasting.
Tensor MatMul(const Operand& x, const Operand& y);
Tensor Mm(const Operand& x, const Operand& y);     // Two matrices.
Tensor Bmm(const Operand& x, const Operand& y);    // Two batches of matrices.
Tensor Mv(const Operand& x, const Operand& y);     // A matrix and a vector.
Tensor Dot(const Operand& x, const Operand& y);    // Two vectors.
Tensor Outer(const Operand& x, const Operand& y);  // Every product of two vectors' elements.
Tensor Inner(const Operand& x, const Operand& y);  // Summed over the last dimension of both.
Tensor Vdot(const Operand& x, const Operand& y);   // Two vectors, the first one conjugated.
Tensor Kron(const Operand& x, const Operand& y);  // Every element of x times all of y: the Kronecker product.
// torch.cross: along a dimension of size 3; nullopt is the first of that size. linalg.h has the one of linalg.
Tensor Cross(const Operand& x, const Operand& y, std::optional<int64_t> dim);
// beta x + alpha a b: of two matrices, a matrix and a vector, two vectors (their outer product), the sum of a
// batch of products of matrices, and a batch of them. x broadcasts to the product.
Tensor Addmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addmv(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addr(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Baddbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
// x W^T + bias, for any number of leading dimensions. The weight is [out, in].
Tensor Linear(const Operand& x, const Operand& weight, const Tensor& bias = {});
// Summed over the last `dims` dimensions of x and the first of y, or over pairs of dimensions.
Tensor Tensordot(const Operand& x, const Operand& y, int64_t dims = 2);
Tensor Tensordot(const Operand& x, const Operand& y, DimList x_dims, DimList y_dims);

// torch.einsum: "bij,bjk->bik". Letters name dimensions, "..." those that broadcast in front; a letter twice
// in one operand is its diagonal; without "->" the letters that occur once are the result's, in alphabetical
// order. Of several operands the pair whose product is smallest is multiplied first.
Tensor Einsum(std::string_view equation, const std::vector<Tensor>& operands, Caller caller = Caller::Here());

}  // namespace hlod
