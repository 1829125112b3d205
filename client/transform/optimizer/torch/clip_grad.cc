// Clips gradients by norm and by value, as PyTorch does.
#include "hlod/optim/clip_grad.h"

#include <cmath>

#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/inplace.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/norm.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace {

std::vector<Tensor> GradientsOf(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (const Tensor gradient = parameter.Grad(); gradient.defined()) gradients.push_back(gradient);
  }
  return gradients;
}

}  // namespace

Tensor ClipGradNorm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                     Caller caller) {
  const NoGrad no_grad;
  const CallerScope scope(caller);
  std::vector<Tensor> gradients = GradientsOf(parameters), norms;
  if (gradients.empty()) return Zeros({});
  for (const Tensor& gradient : gradients) norms.push_back(Norm({gradient, caller}, norm_type));
  const Tensor total = Norm({Stack(norms), caller}, norm_type);
  // This is PyTorch's formula: a total just below the limit is scaled by a factor just below 1.
  const Tensor factor = Clamp(max_norm / (total + 1e-6), {}, Operand(1.0));
  for (Tensor& gradient : gradients) gradient.Mul_({factor.To(gradient.dtype()), caller});
  return total;
}

void ClipGradValue_(const std::vector<Tensor>& parameters, double clip_value, Caller caller) {
  const NoGrad no_grad;
  for (Tensor& gradient : GradientsOf(parameters)) Clamp_(gradient, -clip_value, clip_value, caller);
}

}  // namespace hlod
