// A loop over slices, recorded as one operation: what Scan and Kernel are made of.
#pragma once

#include <vector>

#include "client/tensor/dispatch/operation.h"
#include "hlod/transform/function.h"

namespace hlod::lazy {

struct LoopInputs {
  std::vector<Tensor> carries;
  std::vector<Tensor> stacks;     // Sliced along dimension 0; one at least.
  std::vector<Tensor> constants;  // Each iteration takes them as they are.
  int64_t length = 0;
  bool reverse = false;
};
// The final carries, then the stacked outputs. The body takes carries, slices and constants, and gives
// carries and outputs. `operation` names the loop in errors and dumps.
std::vector<Tensor> CallLoop(const Operation& operation, const Traced& body, const LoopInputs& inputs,
                             const Caller& caller);

}  // namespace hlod::lazy
