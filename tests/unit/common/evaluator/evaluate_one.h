// Runs one instruction on given operands, as a module of parameters and that instruction.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/evaluator/evaluator.h"
#include "common/hlo/builder.h"
#include "common/hlo/inference/verifier.h"

namespace hlod {

using namespace hlo;  // NOLINT: tests are about opcodes and types.

// The parts of an instruction besides its operands.
struct OneInstruction {
  Opcode opcode;
  Attributes attributes = NoAttributes{};
  std::optional<Shape> declared;
  // Adds the computations that the instruction calls to the module and returns their ids.
  std::function<std::vector<ComputationId>(Module&)> callees;
};

inline absl::StatusOr<Literal> EvaluateOne(const OneInstruction& one, std::vector<Literal> operands,
                                           const EvaluateOptions& options = {}) {
  Module module("one");
  std::vector<ComputationId> called;
  if (one.callees) called = one.callees(module);
  Builder b(module, "main");
  std::vector<Op> parameters;
  std::vector<const Literal*> arguments;
  for (const Literal& operand : operands) {
    parameters.push_back(b.Parameter(static_cast<int64_t>(parameters.size()), operand.shape()));
    arguments.push_back(&operand);
  }
  const Op result = b.Add(one.opcode, parameters, one.attributes, called,
                          one.declared.has_value() ? &*one.declared : nullptr);
  if (absl::Status built = b.Build(result); !built.ok()) return built;
  if (absl::Status verified = Verify(module); !verified.ok()) return verified;
  return Evaluate(module, arguments, options);
}

// Returns the result; on an error fails the test and returns an empty literal.
inline Literal Result(const absl::StatusOr<Literal>& result) {
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : Literal();
}

// Runs an opcode without attributes.
inline Literal Apply(Opcode opcode, std::vector<Literal> operands) {
  return Result(EvaluateOne({.opcode = opcode}, std::move(operands)));
}

// Returns all elements as doubles.
inline std::vector<double> Numbers(const Literal& literal) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < literal.element_count(); ++i) numbers.push_back(ElementAsDouble(literal, i));
  return numbers;
}

// Returns a value for `callees`: one computation that combines two scalars of `type` with an opcode.
inline std::function<std::vector<ComputationId>(Module&)> Reducer(Opcode opcode, PrimitiveType type) {
  return [=](Module& module) { return std::vector<ComputationId>{AddScalarReducer(module, opcode, type)}; };
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

}  // namespace hlod
