// Gradients as in PyTorch: tensors that require gradients, and scopes that do not record. Tensor::Backward()
// and related methods are in hlod/tensor/tensor.h; gradients at ties and kinks are listed in
// autograd_kinks.md, beside this file.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "hlod/tensor/tensor.h"

namespace hlod {

namespace lazy {
struct GradHooks;
}  // namespace lazy

// Removes a hook that Tensor::RegisterHook() registered. It may outlive the tensor.
class GradHookHandle {
 public:
  GradHookHandle() = default;
  void Remove();  // Has no effect once the hook or its tensor is gone.

 private:
  friend class Tensor;
  GradHookHandle(std::weak_ptr<lazy::GradHooks> hooks, int64_t id) : hooks_(std::move(hooks)), id_(id) {}
  std::weak_ptr<lazy::GradHooks> hooks_;
  int64_t id_ = 0;
};

template <typename F>
requires std::convertible_to<std::invoke_result_t<F&, Tensor&>, Tensor> GradHookHandle
Tensor::RegisterHook(F hook, Caller caller)
const {
  const auto replace = [hook = std::move(hook)](Tensor& gradient) mutable {
    if (Tensor next = hook(gradient); next.defined()) gradient = std::move(next);
  };
  return RegisterHook(GradHook(replace), caller);
}

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
