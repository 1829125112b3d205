// Products of matrices and tensors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// torch.matmul: vectors, matrices, and batches of them by broadcasting.
Tensor MatMul(const Operand& x, const Operand& y);
Tensor Mm(const Operand& x, const Operand& y);   // The product of two matrices.
Tensor Bmm(const Operand& x, const Operand& y);  // The products of two batches of matrices.
Tensor Mv(const Operand& x, const Operand& y);   // The product of a matrix and a vector.
Tensor Dot(const Operand& x, const Operand& y);  // The dot product of two vectors.
// The products of all pairs of elements of two vectors: a matrix.
Tensor Outer(const Operand& x, const Operand& y);
Tensor Inner(const Operand& x, const Operand& y);  // The products summed over the last dimension of both.
Tensor Vdot(const Operand& x, const Operand& y);  // The dot product of two vectors, the first one conjugated.
Tensor Kron(const Operand& x, const Operand& y);  // The Kronecker product: every element of x times all of y.
// torch.cross: along a dimension of size 3; nullopt: the first such dimension. linalg.h has linalg's version.
Tensor Cross(const Operand& x, const Operand& y, std::optional<int64_t> dim);
// beta x + alpha a b. The product a b is of two matrices (Addmm), a matrix and a vector (Addmv), two vectors
// (Addr), a batch of matrices, summed (Addbmm) or not (Baddbmm). x broadcasts to the product.
Tensor Addmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addmv(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addr(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Addbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor Baddbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
// x W^T + bias, for any number of leading dimensions. The weight is [out, in].
Tensor Linear(const Operand& x, const Operand& weight, const Tensor& bias = {});
// The product summed over the last `dims` dimensions of x and the first `dims` of y, or over pairs of
// dimensions.
Tensor Tensordot(const Operand& x, const Operand& y, int64_t dims = 2);
Tensor Tensordot(const Operand& x, const Operand& y, DimList x_dims, DimList y_dims);

// torch.einsum: "bij,bjk->bik". Letters name dimensions, "..." means leading dimensions that broadcast. A
// letter that occurs twice in one operand takes its diagonal. Without "->" the result has the letters that
// occur once, in alphabetical order. Of several operands, the pair with the smallest product is multiplied
// first. Integers that are added but not multiplied give s64, as in Sum().
Tensor Einsum(std::string_view equation, const std::vector<Tensor>& operands, Caller caller = Caller::Here());

}  // namespace hlod
