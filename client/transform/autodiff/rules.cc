// The tables of rules, and the helpers that the files of rules/ share.
#include "client/transform/autodiff/rules.h"

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/mesh/sharding_call.h"
#include "client/transform/batch/axis.h"
#include "client/transform/rules/lapack.h"

namespace hlod::lazy {
namespace {

// The cotangent of a value whose sharding is stated has the same sharding.
Cotangents CustomCallCotangents(const TransposeArgs& c) {
  if (!IsShardingTarget(c.Get<hlo::CustomCallAttributes>().target)) return AxisCotangents(c);
  return {c.l.b.Add(hlo::kCustomCall, {c.ct}, c.attributes, {}, &c.l.shape(c.ct))};
}

}  // namespace

const Rules& TheRules() {
  static const Rules* const rules = [] {
    auto* made = new Rules;
    AddElementwiseRules(*made);
    AddContractionRules(*made);
    AddRaggedRules(*made);
    AddMovementRules(*made);
    AddReductionRules(*made);
    AddFactorizationRules(*made);
    AddControlRules(*made);
    made->transpose[static_cast<size_t>(hlo::kCustomCall)] = CustomCallCotangents;
    return made;
  }();
  return *rules;
}

TangentRule TangentRuleOf(const hlo::Computation& computation, NodeId node) {
  const std::string_view own = OwnRule(computation, node);
  if (!own.empty()) return OwnTangentRule(own);
  const hlo::Instruction instruction = computation[node];
  if (instruction.opcode() == hlo::kCustomCall) {
    if (IsAxisCall(instruction)) return AxisTangents;
    if (IsShardingCall(instruction)) return LinearInAll;
    return CustomCallTangentRule(instruction.attributes<hlo::CustomCallAttributes>().target);
  }
  return TheRules().tangent[static_cast<size_t>(instruction.opcode())];
}

Op TangentArgs::TangentOf(size_t i) const { return IsZero(t[i]) ? Zeros(l, l.shape(x[i])) : t[i]; }

Op TangentArgs::Again() const {
  std::vector<Op> tangents;
  for (size_t i = 0; i < x.size(); ++i) tangents.push_back(TangentOf(i));
  return l.b.Add(opcode, tangents, attributes, called, &shape);
}

Op Zeros(Lowering& l, const Shape& shape) { return l.Full(shape.type, shape.dims, 0); }

Op SumOf(Lowering& l, Op x, Op y) {
  if (IsZero(x)) return y;
  return IsZero(y) ? x : l.b.Binary(hlo::kAdd, x, y);
}

Tangents LinearInAll(const TangentArgs& c) { return {c.Again()}; }

Tangents Bilinear(const TangentArgs& c) {
  Op sum;
  for (size_t i = 0; i < 2; ++i) {
    if (IsZero(c.t[i])) continue;
    std::vector<Op> operands(c.x.begin(), c.x.end());
    operands[i] = c.t[i];
    sum = SumOf(c.l, sum, c.l.b.Add(c.opcode, operands, c.attributes, c.called, &c.shape));
  }
  return {sum};
}

PrimitiveType WiderType(PrimitiveType a, PrimitiveType b) {
  const auto rank = [](PrimitiveType type) {
    return (hlo::IsComplex(type) ? 2000 : hlo::IsFloat(type) ? 1000 : 0) + hlo::Info(type).bits;
  };
  if (a == b) return a;
  if (hlo::IsComplex(a) != hlo::IsComplex(b)) {  // The type is complex, and as precise as both.
    const bool wide = hlo::RealType(a) == hlo::kF64 || hlo::RealType(b) == hlo::kF64;
    return wide ? hlo::kC128 : hlo::kC64;
  }
  if (hlo::IsFloat(a) && hlo::IsFloat(b) && hlo::Info(a).bits == hlo::Info(b).bits) return hlo::kF32;
  return rank(a) > rank(b) ? a : b;
}

Op ToOperandType(Lowering& l, Op cotangent, PrimitiveType type) {
  const bool part = hlo::IsComplex(l.type(cotangent)) && !hlo::IsComplex(type);
  return l.Convert(part ? l.b.Unary(hlo::kReal, cotangent) : cotangent, type);
}

bool IsDifferentiable(PrimitiveType type) { return hlo::IsFloat(type) || hlo::IsComplex(type); }

hlo::Opcode ReducerOpcode(hlo::ComputationId id) {
  const hlo::Computation& reducer = TraceTables::Get().callees().computation(id);
  if (reducer.parameters().size() != 2) return hlo::kCustomCall;
  const hlo::Instruction root = reducer.root();
  if (root.opcode() == hlo::kParameter && root.parameter_number() == 1) return hlo::kParameter;
  const bool of_both = root.operand_count() == 2 && root.operand(0).opcode() == hlo::kParameter &&
                       root.operand(1).opcode() == hlo::kParameter &&
                       root.operands()[0] != root.operands()[1];
  if (!of_both) return hlo::kCustomCall;
  switch (root.opcode()) {
    case hlo::kAdd:
    case hlo::kMultiply:
    case hlo::kMinimum:
    case hlo::kMaximum:
    case hlo::kAnd:
    case hlo::kOr: return root.opcode();
    default: return root.operand(0).parameter_number() == 0 ? root.opcode() : hlo::kCustomCall;
  }
}

}  // namespace hlod::lazy
