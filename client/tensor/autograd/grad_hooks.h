// Functions that Backward() calls with the gradients of a tensor, or of the results of one operation.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hlod/tensor/autograd.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Hooks run in order of registration, each on the results of the one before.
struct GradHooks {
  using Call = std::function<void(std::vector<Tensor>& gradients)>;
  struct Hook {
    int64_t id;
    Call call;
  };
  std::vector<Hook> hooks;
  int64_t next_id = 1;

  int64_t Add(Call call);
  void Remove(int64_t id);
  // Calls the hooks with the gradients; an undefined one stays undefined. Throws when a hook gives a gradient
  // of another shape, type or device.
  void Run(std::vector<Tensor>& gradients, const Caller& caller) const;
};

// Returns copies of the tensors, as the results of one operation. Its gradients, of which some may be
// undefined, are given to `hook` together, when all of them are computed. Without a tensor that requires
// gradients, returns the tensors themselves.
std::vector<Tensor> Watched(const std::vector<Tensor>& tensors, GradHooks::Call hook, const Caller& caller);

}  // namespace hlod::lazy
