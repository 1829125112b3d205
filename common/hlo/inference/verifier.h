// The verifier decides whether a module may be compiled; all later code relies on it.
#pragma once

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

struct VerifyOptions {
  int64_t instructions_max = 2'000'000;  // The limit on instructions in all computations.
  int call_depth_max = 64;  // The limit on the nesting of computations by calls, loops and branches.
};

// Checks every instruction's arity, called computations, attributes and shape (against InferShape, layouts
// aside); that parameter numbers are dense; that entry layout and aliases fit the entry's shapes; and nesting
// and size against the limits. Returns the first error, with the instruction, its computation and, where
// known, its source line.
absl::Status Verify(const Module& module, const VerifyOptions& options = {});

}  // namespace hlod::hlo
