// Remembers the tensors that To() of a module has put others in place of, so that an optimizer which still
// holds one can say so.
#pragma once

#include <string>

#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Notes that a module had `tensor` under `name`, and has another now.
void NoteReplaced(const Tensor& tensor, const std::string& name);
// Returns the name that was noted; empty for a tensor that no module has replaced.
std::string ReplacedName(const Tensor& tensor);

}  // namespace hlod::lazy
