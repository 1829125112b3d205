// Operations by PyTorch's names, for programs that read the names: a configuration's activation, a graph that
// another program has exported.
#pragma once

#include <string_view>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The operation that PyTorch calls `name` ("gelu", "nn.functional.gelu", "torch.add", "aten::add"), with
// everything beside its tensors and numbers as PyTorch's default: Apply("add", {x, y}). Throws "no lowering
// for X" (kind unimplemented) with the nearest name for one that hlod does not have, and names the C++
// function of one that takes more than operands. Nothing is computed in another way instead.
Tensor Apply(std::string_view name, const std::vector<Operand>& operands, Caller caller = Caller::Here());

// True when Apply accepts the name.
bool IsApplicable(std::string_view name);

}  // namespace hlod
