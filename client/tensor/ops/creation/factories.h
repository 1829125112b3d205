// A helper that the factories share.
#pragma once

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/creation.h"

namespace hlod::lazy {

// Returns the type and the device of `like`, each replaced by the option that names another.
TensorOptions OptionsLike(const Tensor& like, const LikeOptions& options);

}  // namespace hlod::lazy
