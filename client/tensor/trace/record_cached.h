// Records an operation again without its lowering. Most operations of a program are a single instruction on
// operands whose shapes occurred a moment ago; for these this takes a few dozen nanoseconds, much less than
// the general path (dispatch/apply.cc).
#pragma once

#include "absl/types/span.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/trace/trace.h"
#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// In both functions `lowering` distinguishes the lowerings of one operation: it is the address of a function
// or of a static object.

// Records `operation` as it was recorded the last time with operands of these shapes. Returns an undefined
// tensor if it was not recorded before, or if something needs the general path: a number, a host tensor, a
// view, a gradient, autocast, a traced function, a full trace.
Tensor RecordCached(const Operation& operation, const void* lowering,
                    absl::Span<const Operand* const> operands);

// Caches that `operation` on `operands` was recorded as the single instruction `made`; does nothing if it was
// recorded otherwise. `before` is the number of nodes that the trace had before. REQUIRES: TraceLock; the
// instruction depends only on the operands' shapes.
void RememberRecorded(const Operation& operation, const void* lowering, absl::Span<const hlo::Op> operands,
                      const Trace& graph, uint32_t before, hlo::Op made);

}  // namespace hlod::lazy
