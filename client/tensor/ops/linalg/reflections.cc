// torch.geqrf and torch.ormqr: QR factorizations in the form of Householder reflections, and products with Q.
#include <string>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/linalg.h"

namespace hlod::linalg {
namespace {

using lazy::AsBatch;
using lazy::BatchOf;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::With;

// Returns Q C, C Q, Q^H C or C Q^H by forming the square Q.
Op ByProduct(Lowering& l, Op x, Op tau, Op other, bool left, bool transpose) {
  const Dims dims = l.dims(x);
  Op square = x;
  if (dims[2] < dims[1]) square = lazy::PadDim(l, x, lazy::N(l, x, 0), 2, {0, dims[1] - dims[2], 0});
  if (dims[2] > dims[1]) square = lazy::SliceDim(l, x, 2, 0, dims[1]);
  Op q = lazy::ReflectionProduct(l, square, tau);
  if (transpose) {
    q = l.b.Transpose(q, {0, 2, 1});
    if (hlo::IsComplex(l.type(q))) {
      q = l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, q),
                     l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, q)));
    }
  }
  hlo::DotAttributes dot;
  dot.lhs_batch = dot.rhs_batch = {0};
  dot.lhs_contracting = {2};
  dot.rhs_contracting = {1};
  return left ? l.b.Dot(q, other, dot) : l.b.Dot(other, q, dot);
}

}  // namespace

ReflectionParts Geqrf(const Operand& x) {
  std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::Geqrf, {x}, [](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]);
    const Dims dims = l.dims(in), batch = BatchOf(l.dims(o[0]));
    const int64_t steps = std::min(dims[1], dims[2]);
    if (lazy::Count(dims) == 0) {
      return std::vector<Op>{l.b.Unary(hlo::kCopy, o[0]), l.Full(l.type(in), With(batch, {steps}), 0)};
    }
    const lazy::ReflectionOps found = lazy::HouseholderForm(l, in);
    return std::vector<Op>{l.Reshape(found.r, l.dims(o[0])), l.Reshape(found.tau, With(batch, {steps}))};
  });
  return {parts[0], parts[1]};
}

Tensor Ormqr(const Operand& x, const Operand& tau, const Operand& other, bool left, bool transpose) {
  return lazy::Call(lazy::ops::Ormqr, {x, tau, other}, [&](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]), to = AsBatch(l, o[2]);
    const Dims dims = l.dims(in), taus = l.dims(o[1]), batch = BatchOf(l.dims(o[0])), shape = l.dims(to);
    const int64_t side = left ? shape[1] : shape[2];
    if (taus.empty() || taus.back() > std::min(dims[1], dims[2]) || With(batch, {taus.back()}) != taus ||
        BatchOf(l.dims(o[2])) != batch || side != dims[1]) {
      Refuse("columns of shape %s, factors of shape %s and a matrix of shape %s do not fit",
             ListText(l.dims(o[0])), ListText(taus), ListText(l.dims(o[2])));
    }
    const PrimitiveType type = l.type(in);
    if (type != l.type(o[1]) || type != l.type(to)) {
      Refuse("types %s, %s and %s differ", hlo::Name(type), hlo::Name(l.type(o[1])), hlo::Name(l.type(to)));
    }
    if (lazy::Count(shape) == 0 || lazy::Count(taus) == 0) return l.b.Unary(hlo::kCopy, o[2]);
    const Op factors = l.Reshape(o[1], {dims[0], taus.back()});
    if (!lazy::HasRoutines(type))
      return l.Reshape(ByProduct(l, in, factors, to, left, transpose), l.dims(o[2]));
    const std::string config =
        absl::StrFormat("{left = %s, transpose = %s}", left ? "true" : "false", transpose ? "true" : "false");
    const Op made =
        lazy::CallRoutine(l, lazy::RoutineTarget(hlo::IsComplex(type) ? "unmqr" : "ormqr", type), config,
                          {in, factors, to}, [&](Lowering& inner, Operands p) {
                            return std::vector<Op>{ByProduct(inner, p[0], p[1], p[2], left, transpose)};
                          })[0];
    return l.Reshape(made, l.dims(o[2]));
  });
}

}  // namespace hlod::linalg
