// The verifier: whether a module is one that may be compiled; everything later trusts what passed here.
#pragma once

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

struct VerifyOptions {
  int64_t instructions_max = 2'000'000;  // In all computations.
  int call_depth_max = 64;               // Computations nested by calls, loops and branches.
};

// Every instruction's arity, called computations, attributes and shape (against InferShape, layouts aside),
// parameter numbers dense, entry layout and aliases within the entry's shapes, nesting and size within the
// limits. The first error, naming the instruction and its computation and, where known, its source line.
absl::Status Verify(const Module& module, const VerifyOptions& options = {});

}  // namespace hlod::hlo
