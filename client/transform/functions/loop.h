// A loop over slices, recorded as one operation. Scan and Kernel are such loops.
#pragma once

#include <vector>

#include "client/tensor/dispatch/operation.h"
#include "hlod/transform/function.h"

namespace hlod::lazy {

struct LoopInputs {
  std::vector<Tensor> carries;
  std::vector<Tensor> stacks;     // Arrays that are sliced along dimension 0; at least one.
  std::vector<Tensor> constants;  // Arrays that every iteration reads as a whole.
  int64_t length = 0;
  bool reverse = false;
};
// Records the loop and returns the final carries, then the stacked outputs. The body takes carries, slices
// and constants, and returns carries and outputs. `operation` names the loop in errors and dumps.
std::vector<Tensor> CallLoop(const Operation& operation, const Traced& body, const LoopInputs& inputs,
                             const Caller& caller);

}  // namespace hlod::lazy
