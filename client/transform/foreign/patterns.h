// Helpers that the recognisers of the formulas of a loaded program share: they compare instructions, and give
// a value a derivative rule.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::lazy {

// Returns true when both compute the same: one instruction, or the same opcodes of the same, a few
// instructions deep.
bool IsSame(const hlo::Instruction& a, const hlo::Instruction& b, int depth = 4);

// Returns the number that all elements are, when it is written as a constant.
std::optional<double> ConstantNumber(hlo::Instruction x);

// Returns the operand at the end of a chain of unary instructions with these opcodes from `x` down, or
// nullopt when the opcodes differ.
std::optional<hlo::Instruction> Through(hlo::Instruction x, std::initializer_list<hlo::Opcode> opcodes);

// A product of a number and another value; of 1 and the value itself for all other instructions.
struct Multiple {
  double factor;
  hlo::Instruction of;
};
Multiple MultipleOf(const hlo::Instruction& x);

// Returns x when `pred` compares x with that number in this way.
std::optional<hlo::Instruction> ComparedWith(double number, const hlo::Instruction& pred,
                                             hlo::ComparisonDirection direction);

// Returns the last operand of select(_, number, operand).
std::optional<hlo::Instruction> Otherwise(const hlo::Instruction& select, double number);

// Returns the result of the rule over a value that exists and what it is a function of.
std::optional<hlo::NodeId> ValueWithRule(hlo::Computation& to, std::string_view rule, hlo::NodeId value,
                                         const std::vector<hlo::NodeId>& of);

}  // namespace hlod::lazy
