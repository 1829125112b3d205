// Batching: computes the nodes of a computation over many examples at once, with one rule per opcode.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// A value of the batched computation: an array with the examples along dimension 0, or one value for all
// examples.
struct Batched {
  Op op;
  bool has_batch = false;
};

// The choices of one Vmap that rules need.
struct BatchSettings {
  bool random_different = false;   // Random bits differ between the examples.
  std::string_view axis_name = {};  // The name by which collectives call the examples; empty without one.
};

// An instruction to batch, at least one operand of which has the batch dimension.
struct BatchArgs {
  Lowering& l;
  int64_t size;  // The number of examples.
  hlo::Opcode opcode;
  const Shape& shape;  // The shape of the result for one example.
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Batched> x;

  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
  // Returns operand `i` with the batch dimension; it is repeated if it has none.
  Op With(size_t i) const;
  // Returns all operands with the batch dimension.
  std::vector<Op> AllWith() const;
  // Returns the shape of one example (by default, that of the result) with the batch dimension.
  Shape Whole(const Shape& one) const;
  Shape Whole() const { return Whole(shape); }
};
// Appends the result with the batch dimension at 0, and returns it: an array, or a tuple of such arrays.
using BatchRule = Op (*)(const BatchArgs&);

struct BatchRules {
  BatchRule by_opcode[hlo::kOpcodeCount] = {};
};
const BatchRules& TheBatchRules();

struct Leaf;  // Defined in control_rules.h.

// An instruction of `from` with bodies that is to be batched.
struct ControlBatchArgs {
  Lowering& l;
  const hlo::Computation& from;
  NodeId node;
  int64_t size;
  const BatchSettings& settings;
  const std::function<Batched(const Leaf&)>& value;
};
// Returns the elements of the result, or its only array.
using ControlBatchRule = std::vector<Batched> (*)(const ControlBatchArgs&);
// Returns null where the instruction has no body that is batched.
ControlBatchRule ControlBatchRuleOf(const hlo::Instruction& instruction);

// Returns the dimension numbers in the batch for those of one example: each plus 1.
Dims Shifted(const Dims& dims);

// Appends every node of `from` over `size` examples, with `parameters` in place of its parameters; returns
// the outputs. Refuses an opcode without a rule.
std::vector<Batched> Batch(Lowering& l, const hlo::Computation& from, int64_t size,
                           absl::Span<const Batched> parameters, absl::Span<const NodeId> outputs,
                           const BatchSettings& settings);

}  // namespace hlod::lazy
