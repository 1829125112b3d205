// The functions whose derivatives are recorded in derivatives.json, by name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hlod/tensors.h"

namespace hlod {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Returns the functions of generate.py.
const std::map<std::string, Function>& DerivativeCases();

}  // namespace hlod
