// torch.nn.utils.clip_grad_norm_ and clip_grad_value_: limits on gradients, between Backward() and Step(). In
// place, and recorded like any operation: a limit that changes does not compile again.
#pragma once

#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Scales the gradients of the parameters so that the norm of all together is at most `max_norm`; returns the
// norm before scaling. `norm_type` is the norm's order, infinity for the largest magnitude. Parameters
// without a gradient do not count; when none has one the norm is 0. All gradients must be on one device.
Tensor ClipGradNorm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                     Caller caller = Caller::Here());
// Clamps each element of the gradients to [-clip_value, clip_value].
void ClipGradValue_(const std::vector<Tensor>& parameters, double clip_value, Caller caller = Caller::Here());

}  // namespace hlod
