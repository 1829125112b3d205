// The table of rules, and the rules that only pass sizes on.
#include "common/passes/dynamic/dynamic_rules.h"

#include <utility>

#include "common/evaluator/custom_calls.h"

namespace hlod::passes {
namespace dynamic_rules {
namespace {

using namespace hlo;  // The passes are functions over the IR.

absl::Status Elementwise(DynamicRewrite& w, Instruction instruction, Operands x) {
  std::vector<Op> data;
  for (const DynamicArray& array : x) data.push_back(array.data);
  return w.Done(instruction, w.Same(instruction, data), w.CommonSizes(instruction, x, x.size()));
}

absl::Status SetDimensionSize(DynamicRewrite& w, Instruction instruction, Operands x) {
  const int64_t d = instruction.dimensions()[0];
  DynamicSizes sizes = x[0].sizes;
  sizes[d] = w.arrays().CheckedSize(x[1].data, w.arrays().Size(x[0], d), instruction.name(),
                                    w.arrays().Bounds(x[0])[d]);
  return w.Done(instruction, x[0].data, std::move(sizes));
}

absl::Status GetDimensionSize(DynamicRewrite& w, Instruction instruction, Operands x) {
  return w.Done(instruction, w.arrays().Size(x[0], instruction.dimensions()[0]), {});
}

absl::Status Copy(DynamicRewrite& w, Instruction instruction, Operands x) {
  return w.Done(instruction, x[0].data, x[0].sizes);
}

absl::Status BitcastConvert(DynamicRewrite& w, Instruction instruction, Operands x) {
  DynamicSizes sizes = x[0].sizes;
  sizes.resize(instruction.shape().dims.size());
  return w.Done(instruction, w.Same(instruction, {x[0].data}), std::move(sizes));
}

absl::Status Broadcast(DynamicRewrite& w, Instruction instruction, Operands x) {
  DynamicSizes sizes(instruction.shape().dims.size());
  for (size_t i = 0; i < x[0].sizes.size(); ++i) sizes[instruction.dimensions()[i]] = x[0].sizes[i];
  return w.Done(instruction, w.Same(instruction, {x[0].data}), std::move(sizes));
}

absl::Status Transpose(DynamicRewrite& w, Instruction instruction, Operands x) {
  DynamicSizes sizes;
  for (const int64_t d : instruction.dimensions()) sizes.push_back(x[0].sizes[d]);
  return w.Done(instruction, w.Same(instruction, {x[0].data}), std::move(sizes));
}

absl::Status CustomCall(DynamicRewrite& w, Instruction instruction, Operands x) {
  if (IsIdentityCustomCall(instruction)) return w.Done(instruction, x[0].data, x[0].sizes);
  return w.Refuse(instruction, "is not run here");
}

}  // namespace
}  // namespace dynamic_rules

DynamicRule DynamicRuleOf(hlo::Opcode opcode) {
  using namespace dynamic_rules;
  switch (opcode) {
    case hlo::kSetDimensionSize: return &SetDimensionSize;
    case hlo::kGetDimensionSize: return &GetDimensionSize;
    case hlo::kCopy: return &Copy;
    case hlo::kMap: return &Elementwise;
    case hlo::kBitcastConvert: return &BitcastConvert;
    case hlo::kBroadcast: return &Broadcast;
    case hlo::kTranspose: return &Transpose;
    case hlo::kCustomCall: return &CustomCall;
    case hlo::kReverse: return &Reverse;
    case hlo::kReshape: return &Reshape;
    case hlo::kDynamicReshape: return &DynamicReshape;
    case hlo::kSlice: return &Slice;
    case hlo::kPad: return &Pad;
    case hlo::kConcatenate: return &Concatenate;
    case hlo::kDynamicSlice: return &DynamicSlice;
    case hlo::kDynamicUpdateSlice: return &DynamicUpdateSlice;
    case hlo::kGather: return &Gather;
    case hlo::kScatter: return &Scatter;
    case hlo::kReduce: return &Reduce;
    case hlo::kReduceWindow: return &ReduceWindow;
    case hlo::kSort: return &Sort;
    case hlo::kDot: return &Dot;
    case hlo::kConvolution: return &Convolution;
    default: return hlo::HasTrait(opcode, hlo::kElementwise) ? &Elementwise : nullptr;
  }
}

}  // namespace hlod::passes
