// Gradients as PyTorch has them: tensors that require gradients, and scopes without. Tensor::Backward() and
// its neighbours are in hlod/tensor/tensor.h; gradients at ties and kinks in autograd_kinks.md, beside this
// file.
#pragma once

namespace hlod {

// While one exists in this thread, operations are not remembered for Backward(): what they compute requires
// no gradient, and tensors that require one may be updated in place.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

}  // namespace hlod
