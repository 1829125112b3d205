// The rules of differentiation: one tangent rule an opcode, one transpose rule a linear opcode.
//
// A tangent rule appends the tangent of an instruction's result to the graph that holds the instruction. What
// it appends is linear in the operands' tangents, by opcodes that have a transpose rule: so one rule serves
// forward and reverse mode. A transpose rule turns one linear instruction round.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// An Op that may be absent: a tangent or cotangent that is zero.
inline bool IsZero(Op op) { return op.builder == nullptr; }

// An instruction to differentiate, with its operands in the graph of `l`.
struct TangentArgs {
  Lowering& l;
  hlo::Opcode opcode;
  const Shape& shape;
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Op> x;  // The operands ...
  Op y;                    // ... the result, a tuple perhaps ...
  absl::Span<const Op> t;  // ... and the operands' tangents; at least one is not zero.

  // The instruction again, on the tangents; zeros are made where there is none.
  Op Again() const;
  // The tangent of operand `i`, zeros being made.
  Op TangentOf(size_t i) const;
  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
};
// One tangent for each array of the result, zeros absent.
using Tangents = std::vector<Op>;
using TangentRule = Tangents (*)(const TangentArgs&);

// A linear instruction to transpose. Its operands that are not linear are in the graph of `l`.
struct TransposeArgs {
  Lowering& l;
  hlo::Opcode opcode;
  const Shape& shape;
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Op> x;                   // Absent for the linear ones.
  absl::Span<const Shape* const> operands;  // The shapes of all.
  Op ct;                                    // The result's cotangent.

  bool IsLinear(size_t i) const { return IsZero(x[i]); }
  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
};
// One cotangent for each operand, absent for those that are not linear.
using Cotangents = std::vector<Op>;
using TransposeRule = Cotangents (*)(const TransposeArgs&);

// The tables by opcode; null: no rule.
struct Rules {
  TangentRule tangent[hlo::kOpcodeCount] = {};
  TransposeRule transpose[hlo::kOpcodeCount] = {};
};
const Rules& TheRules();
// The tangent rule of an instruction: its own one (client/tensor/autograd/own_derivative.h), or its opcode's;
// null: none. Of an own rule the operands are the results, then what they are made from.
TangentRule TangentRuleOf(const hlo::Computation& computation, NodeId node);
// The own rule of that name; null: none.
TangentRule OwnTangentRule(std::string_view name);
// Whether the own rule of that name is one of an elementwise function.
bool IsElementwiseRule(std::string_view name);

// Each file of rules/ adds its own.
void AddElementwiseRules(Rules& rules);
void AddContractionRules(Rules& rules);
void AddRaggedRules(Rules& rules);
void AddMovementRules(Rules& rules);
void AddReductionRules(Rules& rules);
void AddFactorizationRules(Rules& rules);
void AddControlRules(Rules& rules);

// What rules share.
// Linear in each of the first two operands; those that follow have no tangent.
Tangents Bilinear(const TangentArgs& c);
// The operation itself on the tangents: it is linear in all operands at once.
Tangents LinearInAll(const TangentArgs& c);
// Whether windows grow along a dimension, and the tangent of those, with any associative reducer
// (rules/running.cc).
bool IsRunning(const TangentArgs& c);
Op RunningTangent(const TangentArgs& c);
inline TangentRule NoTangent() {
  return +[](const TangentArgs&) { return Tangents{Op{}}; };
}
Op Zeros(Lowering& l, const Shape& shape);
Op SumOf(Lowering& l, Op x, Op y);  // One may be absent.
bool IsDifferentiable(PrimitiveType type);
// A type that has the numbers of both, as far as one has: what a product of operands of different types is
// computed in on the way back, so that a cotangent of f32 is not rounded to the s8 or bf16 of the other
// operand.
PrimitiveType WiderType(PrimitiveType a, PrimitiveType b);
// A cotangent in its operand's type; of a real operand the real part.
Op ToOperandType(Lowering& l, Op cotangent, PrimitiveType type);
// What a computation of two scalars does to the first and the second, in this order where it matters;
// kParameter for "the second"; kCustomCall for anything else.
hlo::Opcode ReducerOpcode(hlo::ComputationId id);

}  // namespace hlod::lazy
