// The rules of differentiation: one tangent rule per opcode, one transpose rule per linear opcode.
//
// A tangent rule appends the tangent of an instruction's result to the trace that holds the instruction. The
// appended instructions are linear in the operands' tangents, and their opcodes have transpose rules: so one
// rule serves forward and reverse mode. A transpose rule maps the cotangent of a linear instruction's result
// to those of its linear operands. vjp.cc has an example.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns true for an absent Op: a tangent or cotangent that is known to be zero.
inline bool IsZero(Op op) { return op.builder == nullptr; }

// An instruction to differentiate, with its operands in the trace of `l`.
struct TangentArgs {
  Lowering& l;
  hlo::Opcode opcode;
  const Shape& shape;
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Op> x;  // The operands.
  Op y;                    // The result, which may be a tuple.
  absl::Span<const Op> t;  // The operands' tangents, at least one of which is present.

  // Appends the instruction applied to the tangents, with zeros for absent ones.
  Op Again() const;
  // Returns the tangent of operand `i`; appends zeros when it is absent.
  Op TangentOf(size_t i) const;
  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
};
// One tangent per array of the result; an absent one is zero.
using Tangents = std::vector<Op>;
using TangentRule = Tangents (*)(const TangentArgs&);

// A linear instruction to transpose. Its non-linear operands are in the trace of `l`.
struct TransposeArgs {
  Lowering& l;
  hlo::Opcode opcode;
  const Shape& shape;
  const hlo::Attributes& attributes;
  absl::Span<const hlo::ComputationId> called;
  absl::Span<const Op> x;                   // The operands; the linear ones are absent.
  absl::Span<const Shape* const> operands;  // The shapes of all operands.
  Op ct;                                    // The result's cotangent.

  bool IsLinear(size_t i) const { return IsZero(x[i]); }
  template <typename T>
  const T& Get() const {
    return std::get<T>(attributes);
  }
};
// One cotangent per operand; absent for non-linear operands.
using Cotangents = std::vector<Op>;
using TransposeRule = Cotangents (*)(const TransposeArgs&);

// The rules by opcode; null for opcodes without a rule.
struct Rules {
  TangentRule tangent[hlo::kOpcodeCount] = {};
  TransposeRule transpose[hlo::kOpcodeCount] = {};
};
const Rules& TheRules();
// Returns the tangent rule of an instruction: its own (client/tensor/autograd/own_derivative.h), otherwise
// its opcode's, or null. The operands of an own rule are the results, followed by the arrays that they are a
// function of.
TangentRule TangentRuleOf(const hlo::Computation& computation, NodeId node);
// Returns the own rule of that name, or null.
TangentRule OwnTangentRule(std::string_view name);
// Returns true when the rule of that name is for an elementwise function.
bool IsElementwiseRule(std::string_view name);

// Each of these is defined in the file of rules/ whose rules it adds.
void AddElementwiseRules(Rules& rules);
void AddContractionRules(Rules& rules);
void AddRaggedRules(Rules& rules);
void AddMovementRules(Rules& rules);
void AddReductionRules(Rules& rules);
void AddFactorizationRules(Rules& rules);
void AddControlRules(Rules& rules);

// Tangent rules and helpers that several files share.

// The rule of an operation that is linear in each of its first two operands; the other operands have no
// tangent.
Tangents Bilinear(const TangentArgs& c);
// The rule of an operation that is linear in all operands together: applies the operation to the tangents.
Tangents LinearInAll(const TangentArgs& c);
// Returns true when the windows of a reduce-window grow along a dimension, as in a cumulative sum.
bool IsRunning(const TangentArgs& c);
// Returns the tangent of such a reduce-window, with any associative reducer. (rules/running.cc)
Op RunningTangent(const TangentArgs& c);
inline TangentRule NoTangent() {
  return +[](const TangentArgs&) { return Tangents{Op{}}; };
}
Op Zeros(Lowering& l, const Shape& shape);
Op SumOf(Lowering& l, Op x, Op y);  // Returns the sum of two values, either of which may be absent.
bool IsDifferentiable(PrimitiveType type);
// Returns a type that represents the numbers of both types, as far as one exists. The transpose of a product
// of operands of different types is computed in it, so that an f32 cotangent is not rounded to the s8 or bf16
// of the other operand.
PrimitiveType WiderType(PrimitiveType a, PrimitiveType b);
// Converts a cotangent to its operand's type; for a real operand, takes its real part.
Op ToOperandType(Lowering& l, Op cotangent, PrimitiveType type);
// Returns the opcode that a computation of two scalars applies to its parameters, in order unless it is
// commutative; kParameter when it returns the second parameter, and kCustomCall when it does anything else.
hlo::Opcode ReducerOpcode(hlo::ComputationId id);

}  // namespace hlod::lazy
