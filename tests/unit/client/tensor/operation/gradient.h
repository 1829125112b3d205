// Compares the gradients of operations with PyTorch's (generate_gradients.py).
#pragma once

#include <map>
#include <string>

#include "hlod/tensors.h"

namespace hlod {

struct GradientState {
  std::string state;  // "passing", "failing", "missing", or "n/a" where PyTorch has no gradient.
  std::string why;
};
// Returns the states by the names of operations.json. Fills `failures` with every case that fails on the
// device, by its name.
std::map<std::string, GradientState> GradientStates(const Device& device,
                                                    std::multimap<std::string, std::string>* failures);

}  // namespace hlod
