// Part of ExpandDynamic: the rules for instructions that have arrays with dynamic dimensions.
#pragma once

#include "common/passes/dynamic/dynamic_rewrite.h"

namespace hlod::passes {

// Makes the instruction's array at its bounds, and states its sizes. The operands are arrays.
using DynamicRule = absl::Status (*)(DynamicRewrite& w, hlo::Instruction instruction,
                                     absl::Span<const DynamicArray> x);

// Returns null for an opcode that is not supported on dynamic dimensions.
DynamicRule DynamicRuleOf(hlo::Opcode opcode);

// Returns true when the sort is along a dynamic dimension; it then needs a comparator that puts marked
// elements last.
bool SortsDynamic(hlo::Instruction instruction);
// Makes a comparator from the given one with a pred before its operands: marked elements come last.
hlo::ComputationId MarkedComparator(hlo::Module& to, hlo::Instruction sort, hlo::ComputationId comparator);

namespace dynamic_rules {

using Operands = absl::Span<const DynamicArray>;

// dynamic_movement.cc
absl::Status Reverse(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Reshape(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status DynamicReshape(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Slice(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Pad(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Concatenate(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
// dynamic_indexed.cc
absl::Status DynamicSlice(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status DynamicUpdateSlice(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Gather(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Scatter(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
// dynamic_reductions.cc
absl::Status Reduce(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status ReduceWindow(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Sort(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Dot(DynamicRewrite& w, hlo::Instruction instruction, Operands x);
absl::Status Convolution(DynamicRewrite& w, hlo::Instruction instruction, Operands x);

}  // namespace dynamic_rules
}  // namespace hlod::passes
