// Operations by PyTorch's names, for programs that read the names: from a configuration, or from a graph that
// another program exported.
#pragma once

#include <string_view>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The operation that PyTorch calls `name` ("gelu", "nn.functional.gelu", "torch.add", "aten::add"), with
// PyTorch's defaults for all other arguments: Apply("add", {x, y}). Throws "no lowering for X" (kind
// unimplemented), with the nearest name, for an operation that hlod does not have. For an operation that
// needs more than operands the error names its C++ function.
Tensor Apply(std::string_view name, const std::vector<Operand>& operands, Caller caller = Caller::Here());

// True when Apply accepts the name.
bool IsApplicable(std::string_view name);

}  // namespace hlod
