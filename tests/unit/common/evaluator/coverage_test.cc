// The evaluator runs every opcode that the table and its shape rules admit, or refuses it on purpose.
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "common/hlo/inference/shape_inference.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

constexpr PrimitiveType kTypes[] = {
#define HLOD_TYPE(id, number, text, bits, type_class, storage) id,
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE
};

struct Row {
  Opcode opcode;
  std::string_view rule;
};
constexpr Row kRows[] = {
#define HLOD_OP(id, text, arity, called, attributes, rule, traits) {id, #rule},
#include "common/hlo/opcodes.inc"
#undef HLOD_OP
};

TEST(Coverage, EveryElementwiseOpcodeRunsOnEveryTypeThatItsShapeRuleAdmits) {
  for (const Row& row : kRows) {
    if (!HasTrait(row.opcode, OpcodeTraits::kElementwise)) continue;
    int admitted = 0;
    for (PrimitiveType type : kTypes) {
      if (!IsArrayType(type)) continue;
      std::vector<Literal> operands(Info(row.opcode).arity, Literal(Shape::Array(type, {3})));
      if (row.opcode == kSelect) operands[0] = Literal(Shape::Array(kPred, {3}));
      OneInstruction one{.opcode = row.opcode};
      if (row.opcode == kConvert) one.declared = Shape::Array(kF32, {3});
      if (row.opcode == kStochasticConvert) {
        const int bits = Info(type).bits;
        operands[1] = Literal(Shape::Array(bits == 64   ? kU64
                                           : bits == 32 ? kU32
                                           : bits == 16 ? kU16
                                                        : kU8,
                                           {3}));
        one.declared = Shape::Array(kS8, {3});
      }
      if (row.opcode == kReducePrecision) one.attributes = ReducePrecisionAttributes{4, 3};
      if (row.opcode == kCompare)
        one.attributes = CompareAttributes{ComparisonDirection::kEq, DefaultComparisonType(type)};
      const auto result = EvaluateOne(one, operands);
      if (result.status().code() == absl::StatusCode::kInvalidArgument)
        continue;  // The shape rule refuses the opcode.
      EXPECT_TRUE(result.ok()) << Name(row.opcode) << " of " << Name(type) << ": " << result.status();
      ++admitted;
    }
    EXPECT_GT(admitted, 0) << Name(row.opcode);
  }
}

TEST(Coverage, EveryConversionBetweenTypesRuns) {
  for (PrimitiveType from : kTypes) {
    for (PrimitiveType to : kTypes) {
      if (!IsArrayType(from) || !IsArrayType(to)) continue;
      const auto result = EvaluateOne({.opcode = kConvert, .declared = Shape::Array(to, {3})},
                                      {Literal(Shape::Array(from, {3}))});
      EXPECT_TRUE(result.ok()) << Name(from) << " to " << Name(to) << ": " << result.status();
    }
  }
}

TEST(Coverage, EveryOtherOpcodeWithAShapeRuleHasARuleOrIsRefusedOnPurpose) {
  // Transfers to the host, and dynamic shapes. Custom-calls depend on their targets.
  const std::set<Opcode> refused = {kSetDimensionSize, kDynamicReshape, kInfeed,   kOutfeed, kSend,
                                    kSendDone,         kRecv,           kRecvDone, kShuffle};
  const std::set<Opcode> elsewhere = {kCustomCall, kParameter, kConstant};
  for (const Row& row : kRows) {
    if (HasTrait(row.opcode, OpcodeTraits::kElementwise) || elsewhere.contains(row.opcode)) continue;
    Module module("one");
    Computation& computation = module.AddComputation("main");
    const NodeId node = computation.Append(row.opcode, module.tables().Intern(Shape::Scalar(kF32)), 0, {});
    const bool wanted = !refused.contains(row.opcode);
    EXPECT_EQ(CanEvaluate(computation[node]), wanted) << Name(row.opcode);
  }
}

TEST(Coverage, CallsWithoutInstructionsDoNotExplodeWhenAComparatorIsPrepared) {
  // Each level calls the level below 64 times; the bottom returns its parameter. Following all calls would be
  // 64^8 visits.
  Module module("comparator");
  const Shape s = Shape::Scalar(kF32);
  ComputationId below = 0;
  for (int level = 0; level < 9; ++level) {
    Builder b(module, "level" + std::to_string(level));
    Op x = b.Parameter(0, s);
    for (int i = 0; level > 0 && i < 64; ++i) x = b.Call({x}, below);
    ASSERT_TRUE(b.Build(x).ok());
    below = b.id();
  }
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {1}));
  ASSERT_TRUE(b.Build(b.Add(kMap, {x}, DimensionsAttributes{{0}}, {below})).ok()) << b.status();
  const Literal argument(Shape::Array(kF32, {1}));
  const auto result = Evaluate(module, {&argument}, {.deadline = absl::Now() + absl::Milliseconds(50)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hlod
