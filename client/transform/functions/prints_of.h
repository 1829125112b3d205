// The prints of traced functions, for those who call them.
#pragma once

#include <vector>

#include "client/tensor/function/prints.h"
#include "hlod/transform/function.h"

namespace hlod::lazy {

// Takes the values of `prints`, which are those of `traced` or contain them, off the end of `results`, and
// emits them.
void EmitPrintsOf(const Traced& traced, std::vector<Print> prints, std::vector<Tensor>& results);
// Throws when the function prints. `what` is its caller, which cannot return more than its results.
void RefusePrints(const Traced& traced, const char* what, const Caller& caller);

}  // namespace hlod::lazy
