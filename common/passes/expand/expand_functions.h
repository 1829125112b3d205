// Replaces instructions that can be expressed by other instructions with calls of functions.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::passes {

// batch-norm-training, -inference and -grad become sums and elementwise instructions, in f32 for narrower
// types; each of these is rounded, whereas a batch norm itself is rounded once. rng becomes
// rng-get-and-update-state, the bits of a generator and arithmetic; scaled-dot becomes a dot of products in
// bf16. A map whose computation is elementwise becomes that computation on whole arrays; other maps stay.
bool HasFunctions(const hlo::Module& module);
std::unique_ptr<hlo::Module> ExpandFunctions(const hlo::Module& module);

}  // namespace hlod::passes
