// Masks pass through elementwise opcodes, and through those that only move, repeat or reduce elements.
#include "client/transform/functions/mask.h"

#include <algorithm>

#include "client/tensor/autograd/own_derivative.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {
namespace {

MaskRef Made(Dims dims, std::function<Op()> make) {
  return std::make_shared<Mask>(std::move(dims), std::move(make));
}

Dims Inverse(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  return inverse;
}

// Returns the dimensions below `rank` that are not in `dims`.
Dims Others(int64_t rank, const Dims& dims) {
  Dims others;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) others.push_back(dim);
  }
  return others;
}

constexpr char kMasking[] = "masking_select";

}  // namespace

void MarkMasking(hlo::Notes& notes) { notes.frontend_attributes[kMasking] = "true"; }

bool IsMasking(const hlo::Computation& computation, NodeId node) {
  const hlo::Notes* const notes = computation.notes(node);
  return notes != nullptr && notes->frontend_attributes.contains(kMasking);
}

MaskRef Chosen(Lowering& l, const MaskRef& mask, const Dims& dims, std::function<Op()> pred, bool when) {
  return Made(dims, [&l, mask, dims, pred = std::move(pred), when] {
    Op chosen = pred();
    if (!when) chosen = l.b.Unary(hlo::kNot, chosen);
    if (l.dims(chosen) != dims) chosen = l.b.Broadcast(chosen, dims, {});
    return mask == nullptr ? chosen : l.b.Binary(hlo::kAnd, mask->Get(), chosen);
  });
}

MaskRef Either(Lowering& l, const MaskRef& a, const MaskRef& b) {
  if (a == nullptr || b == nullptr || a->dims() != b->dims()) return nullptr;
  if (a == b) return a;
  return Made(a->dims(), [&l, a, b] { return l.b.Binary(hlo::kOr, a->Get(), b->Get()); });
}

MaskRef OfOperand(Lowering& l, const MaskRef& mask, const hlo::Instruction& instruction,
                  const Shape& operand) {
  if (mask == nullptr || !operand.IsArray()) return nullptr;
  const Dims from = mask->dims(), to = operand.dims;
  const auto numbers = [&] { return instruction.attributes<hlo::DimensionsAttributes>().dimensions; };
  switch (instruction.opcode()) {
    case hlo::kReshape: return Made(to, [&l, mask, to] { return l.Reshape(mask->Get(), to); });
    case hlo::kTranspose:
      return Made(to, [&l, mask, back = Inverse(numbers())] { return l.b.Transpose(mask->Get(), back); });
    case hlo::kBroadcast: {
      const Dims kept = numbers();
      if (!std::is_sorted(kept.begin(), kept.end())) return nullptr;
      const Dims added = Others(static_cast<int64_t>(from.size()), kept);
      return Made(to, [&l, mask, added] { return l.Reduce(hlo::kOr, mask->Get(), added); });
    }
    case hlo::kReduce: {
      const Dims kept = Others(static_cast<int64_t>(to.size()), numbers());
      if (kept.size() != from.size()) return nullptr;
      return Made(to, [&l, mask, to, kept] { return l.b.Broadcast(mask->Get(), to, kept); });
    }
    case hlo::kTuple: {
      const bool elementwise =
          IsElementwiseRule(OwnRule(instruction.computation(), instruction.id())) && from == to;
      return elementwise ? mask : nullptr;
    }
    default: {
      const bool elementwise =
          hlo::HasTrait(instruction.opcode(), hlo::kElementwise) || instruction.opcode() == hlo::kCopy;
      return elementwise && from == to ? mask : nullptr;
    }
  }
}

bool IsElementwise(const hlo::Computation& computation) {
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    switch (instruction.opcode()) {
      case hlo::kParameter:
      case hlo::kConstant:
      case hlo::kIota:
      case hlo::kTuple:
      case hlo::kGetTupleElement:
      case hlo::kCopy: break;
      case hlo::kBroadcast:
      case hlo::kReshape:
        if (!instruction.operand(0).shape().dims.empty()) return false;
        break;
      default:
        if (!hlo::HasTrait(instruction.opcode(), hlo::kElementwise)) return false;
    }
  }
  return true;
}

Op Masked(Lowering& l, const MaskRef& mask, Op x) {
  const Op masked = l.b.Select(mask->Get(), x, l.Full(l.type(x), l.dims(x), 0));
  if (l.b.status().ok()) MarkMasking(l.graph.mutable_notes(masked.id));
  return masked;
}

}  // namespace hlod::lazy
