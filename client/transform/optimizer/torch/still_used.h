// Refuses steps of parameters that a module no longer has.
#pragma once

#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Throws for a parameter that To() of its module has replaced, because its steps would change nothing that
// the module computes with. Such a parameter may still make steps if it gets gradients and somebody else has
// it, as another module with the same weight does.
void CheckStillUsed(const std::vector<Tensor>& parameters, const Caller& caller);

}  // namespace hlod
