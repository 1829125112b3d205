// Gradients as in PyTorch: tensors that require gradients, and scopes that do not record. Tensor::Backward()
// and related methods are in hlod/tensor/tensor.h; gradients at ties and kinks are listed in
// autograd_kinks.md, beside this file.
#pragma once

namespace hlod {

// While one exists in this thread, operations are not recorded for Backward(): their results do not require
// gradients, and tensors that require one may be updated in place.
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
