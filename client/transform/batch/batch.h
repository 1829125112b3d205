// Batching: the nodes of a computation over many examples at once, by one rule an opcode.
#pragma once

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// A value of the batched computation: with the examples along dimension 0, or the same for all.
struct Batched {
  Op op;
  bool has_batch = false;
};

// An instruction to batch: at least one operand has the batch dimension.
struct BatchCase {
  Lowering& l;
  int64_t size;  // How many examples.
  hlo::Opcode opcode;
  const Shape& shape;  // Of one example's result.
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Batched> x;

  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
  // Operand `i` with the batch dimension, repeated when it has none.
  Op With(size_t i) const;
  std::vector<Op> AllWith() const;
  // The shape of the result with the batch dimension.
  Shape Whole(const Shape& one) const;
  Shape Whole() const { return Whole(shape); }
};
// The result with the batch dimension at 0: an array, or a tuple of such arrays.
using BatchRule = Op (*)(const BatchCase&);

struct BatchRules {
  BatchRule by_opcode[hlo::kOpcodeCount] = {};
};
const BatchRules& TheBatchRules();

struct Leaf;  // control_rules.h

// An instruction with bodies, in `from`.
struct ControlBatchCase {
  Lowering& l;
  const hlo::Computation& from;
  NodeId node;
  int64_t size;
  bool random_different;
  const std::function<Batched(const Leaf&)>& value;
};
// The elements of the result, or the one array.
using ControlBatchRule = std::vector<Batched> (*)(const ControlBatchCase&);
// Null where the instruction has no body that is batched.
ControlBatchRule ControlBatchRuleOf(const hlo::Instruction& instruction);

// Dimensions of one example as those of the batch.
Dims Shifted(const Dims& dims);

// Every node of `from` with parameters as given; the outputs. `random_different`: random bits differ between
// the examples.
std::vector<Batched> Batch(Lowering& l, const hlo::Computation& from, int64_t size,
                           absl::Span<const Batched> parameters, absl::Span<const NodeId> outputs,
                           bool random_different);

}  // namespace hlod::lazy
