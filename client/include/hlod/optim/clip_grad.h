// torch.nn.utils.clip_grad_norm_ and clip_grad_value_: limits on gradients, to be called between Backward()
// and Step(). They update gradients in place and are recorded like any operation; changing a limit does not
// recompile the program.
#pragma once

#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Scales the gradients of the parameters so that the norm of all together is at most `max_norm`; returns the
// norm before scaling. `norm_type` is the norm's order, infinity for the largest magnitude. Parameters
// without a gradient are left out; when no parameter has one the norm is 0. All gradients must be on one
// device.
Tensor ClipGradNorm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                     Caller caller = Caller::Here());
// Clamps each element of the gradients to [-clip_value, clip_value].
void ClipGradValue_(const std::vector<Tensor>& parameters, double clip_value, Caller caller = Caller::Here());

}  // namespace hlod
