// Records an operation again as it was recorded before, without its lowering. Most operations of a program
// are one instruction on operands of shapes that were seen a moment ago; for those this path takes a few
// dozen nanoseconds, in place of the general one (dispatch/apply.cc).
#pragma once

#include "absl/types/span.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/trace/trace.h"
#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// In both functions `lowering` tells the lowerings of one operation apart: it is the address of a function or
// of a static object.

// Records `operation` as it was recorded the last time with operands of these shapes. Returns an undefined
// tensor when there was no such time, or when anything needs the general way: a number, a host tensor, a
// view, a gradient, autocast, a function that is traced, a full trace.
Tensor RecordCached(const Operation& operation, const void* lowering,
                    absl::Span<const Operand* const> operands);

// Remembers that `operation` on `operands` became the one instruction `made`, unless it became something
// else. `before` is the number of nodes that the trace had. REQUIRES: TraceLock; the instruction depends on
// the operands' shapes alone.
void RememberRecorded(const Operation& operation, const void* lowering, absl::Span<const hlo::Op> operands,
                      const Trace& graph, uint32_t before, hlo::Op made);

}  // namespace hlod::lazy
