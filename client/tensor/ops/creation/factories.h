// What factories share.
#pragma once

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/creation.h"

namespace hlod::lazy {

// The type and the device of `like`, unless the options name others.
TensorOptions OptionsLike(const Tensor& like, const LikeOptions& options);

}  // namespace hlod::lazy
