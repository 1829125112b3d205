// Shape inference: the shape of an instruction from its operands and attributes, by the rules of XLA's
// operation semantics.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/attributes.h"
#include "common/hlo/opcode.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// The inputs of a rule. The caller owns all pointers; only `declared` may be null.
struct InferenceInput {
  Opcode opcode;
  const Attributes& attributes;
  absl::Span<const Shape* const> operands;
  absl::Span<const ProgramShape* const> called;  // The signatures of the called computations, in wire order.
  // The shape that the instruction states. Needed when operands do not determine it (parameter, constant,
  // iota, convert, bitcast-convert, reshape, custom-call, rng, dot with a wider result, ...). May be null
  // otherwise.
  const Shape* declared = nullptr;
};

// Returns the result shape, without layout. INVALID_ARGUMENT, with opcode, operand and both shapes, when the
// rule is violated; UNIMPLEMENTED for opcodes of the table without a rule in this build.
absl::StatusOr<Shape> InferShape(const InferenceInput& input);

// Returns the output size of a window over a dimension of `size` elements (operation semantics, "Window"): 0
// when the window is larger.
int64_t WindowedSize(int64_t size, const WindowDimension& window);

}  // namespace hlod::hlo
