// Recording again what was recorded before: most operations of a program are one instruction, on operands of
// shapes that were seen a moment ago. This is the path of a few dozen nanoseconds beside the general one.
#pragma once

#include "absl/types/span.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/trace/trace.h"
#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// `lowering`, in both: what tells the lowerings of one operation apart, the address of a function or of a
// static object.

// Records `operation` as it was recorded the last time with operands of these shapes: an undefined tensor
// when it was not, or when anything wants the general way (a number, a host tensor, a view, a gradient,
// autocast, a function that is traced, a full graph).
Tensor RecordCached(const Operation& operation, const void* lowering,
                    absl::Span<const Operand* const> operands);

// Remembers that `operation` on `operands` became the one instruction `made`, if it did: `before` is how many
// nodes the graph had. REQUIRES: TraceLock; what the operation becomes depends on the operands' shapes alone.
void RememberRecorded(const Operation& operation, const void* lowering, absl::Span<const hlo::Op> operands,
                      const Trace& graph, uint32_t before, hlo::Op made);

}  // namespace hlod::lazy
