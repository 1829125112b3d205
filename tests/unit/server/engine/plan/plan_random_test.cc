// Compares the engine with the evaluator on random modules of arithmetic, movement, tuples, calls, loops,
// branches and donations. All values are integers, so that results are exact in any order of evaluation.
#include <random>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::ComputationId;
using hlo::Literal;
using hlo::Module;
using hlo::Op;
using hlo::Shape;

const Shape kScalar = Shape::Scalar(hlo::kS32);
const Shape kMatrix = Shape::Array(hlo::kS32, {6, 6});
const Shape kRow = Shape::Array(hlo::kS32, {6});
// The shape that every computation below takes and returns.
Shape StateShape() { return Shape::Tuple({kScalar, kMatrix, kRow, Shape::Tuple({kMatrix, kRow})}); }

// The values in scope, by shape.
struct Scope {
  std::vector<Op> scalars, matrices, rows;
};

class Generator {
 public:
  Generator(Module& module, uint32_t seed) : module_(module), random_(seed) {
    add_ = hlo::AddScalarReducer(module, hlo::kAdd, hlo::kS32);
    max_ = hlo::AddScalarReducer(module, hlo::kMaximum, hlo::kS32);
  }

  // Builds a computation from StateShape to StateShape. Adds one to element 0 when `counts`, else keeps it.
  ComputationId MakeFunction(int depth, bool counts) {
    // Callees come first: a computation is finished before another is started.
    std::vector<ComputationId> functions, bodies;
    if (depth < 3) {
      for (int i = Roll(3); i > 0; --i) functions.push_back(MakeFunction(depth + 1, false));
      for (int i = Roll(2); i > 0; --i) bodies.push_back(MakeFunction(depth + 1, true));
    }
    const ComputationId condition = MakeCondition();
    Builder b(module_, "f");
    const Op state = b.Parameter(0, StateShape());
    Scope scope = Open(b, state);
    const Op counter = scope.scalars[0];
    Grow(b, scope);
    for (ComputationId f : functions) {
      const Op in = Close(b, scope, Pick(scope.scalars));
      const int what = Roll(3);
      Op out = in;
      if (what == 0) out = b.Call({in}, f);
      if (what == 1) {
        out =
            b.Conditional(b.Compare(Pick(scope.scalars), Pick(scope.scalars), hlo::ComparisonDirection::kLt),
                          {in, Close(b, scope, Pick(scope.scalars))}, {f, functions[0]});
      }
      if (what == 2) out = b.Conditional(Pick(scope.scalars), {in, state}, {f, f});
      Join(scope, Open(b, out));
      Grow(b, scope);
    }
    for (ComputationId body : bodies) {
      const Op start = Close(b, scope, b.Constant(Literal::Scalar<int32_t>(4 - Roll(5))));
      Join(scope, Open(b, b.While(start, condition, body)));
      Grow(b, scope);
    }
    const Op first = counts ? counter + b.Constant(Literal::Scalar<int32_t>(1)) : Pick(scope.scalars);
    const absl::Status status = b.Build(Close(b, scope, first));
    EXPECT_TRUE(status.ok()) << status;
    return b.id();
  }

  void MakeEntry() {
    const ComputationId f = MakeFunction(0, false);
    Builder b(module_, "main");
    const Op x = b.Parameter(0, StateShape()), y = b.Parameter(1, kMatrix);
    Scope scope = Open(b, x);
    scope.matrices.push_back(y);
    Join(scope, Open(b, b.Call({x}, f)));
    Grow(b, scope);
    const Op out = Close(b, scope, Pick(scope.scalars));
    const absl::Status status = b.Build(b.Tuple({out, y, Pick(scope.matrices), Pick(scope.rows)}));
    EXPECT_TRUE(status.ok()) << status;
    // Results may share the memory of parameters of the same shape, in order or crosswise.
    const std::vector<hlo::Dims> inside = {{0, 0}, {0, 1}, {0, 2}, {0, 3, 0}, {0, 3, 1}};
    std::vector<int> matrices = {1, 3};
    if (Roll(2) == 0) std::swap(matrices[0], matrices[1]);
    for (int i = 0; i < 2; ++i) {
      if (Roll(3) == 0) continue;
      hlo::InputOutputAlias& alias = module_.config.input_output_alias.emplace_back();
      alias.output_index = inside[i == 0 ? 1 : 3];
      alias.parameter_number = 0;
      alias.parameter_index.assign(inside[matrices[i]].begin() + 1, inside[matrices[i]].end());
    }
    if (Roll(2) == 0) {
      hlo::InputOutputAlias& alias = module_.config.input_output_alias.emplace_back();
      alias.output_index = {2};
      alias.parameter_number = 1;
    }
  }

 private:
  int Roll(int n) { return static_cast<int>(random_() % n); }
  Op Pick(const std::vector<Op>& ops) {
    const int n = static_cast<int>(ops.size());
    return ops[Roll(2) == 0 ? n - 1 - Roll(std::min(n, 3)) : Roll(n)];
  }
  void Join(Scope& scope, const Scope& more) {
    scope.scalars.insert(scope.scalars.end(), more.scalars.begin(), more.scalars.end());
    scope.matrices.insert(scope.matrices.end(), more.matrices.begin(), more.matrices.end());
    scope.rows.insert(scope.rows.end(), more.rows.begin(), more.rows.end());
  }
  Scope Open(Builder& b, Op state) {
    const Op inner = b.GetTupleElement(state, 3);
    return {{b.GetTupleElement(state, 0)},
            {b.GetTupleElement(state, 1), b.GetTupleElement(inner, 0)},
            {b.GetTupleElement(state, 2), b.GetTupleElement(inner, 1)}};
  }
  Op Close(Builder& b, const Scope& scope, Op first) {
    return b.Tuple(
        {first, Pick(scope.matrices), Pick(scope.rows), b.Tuple({Pick(scope.matrices), Pick(scope.rows)})});
  }
  ComputationId MakeCondition() {
    Builder b(module_, "below");
    const Op s = b.Parameter(0, StateShape());
    EXPECT_TRUE(b.Build(b.Compare(b.GetTupleElement(s, 0), b.Constant(Literal::Scalar<int32_t>(3)),
                                  hlo::ComparisonDirection::kLt))
                    .ok());
    return b.id();
  }

  // Adds a few values to the scope.
  void Grow(Builder& b, Scope& scope) {
    static constexpr hlo::Opcode kBinary[] = {hlo::kAdd,     hlo::kSubtract, hlo::kMultiply,
                                              hlo::kMaximum, hlo::kXor,      hlo::kAnd};
    for (int n = 1 + Roll(5); n > 0; --n) {
      const Op m = Pick(scope.matrices), r = Pick(scope.rows), s = Pick(scope.scalars);
      const hlo::Opcode opcode = kBinary[Roll(6)];
      const Op zero = b.Constant(Literal::Scalar<int32_t>(0));
      switch (Roll(14)) {
        case 0: scope.matrices.push_back(b.Binary(opcode, m, Pick(scope.matrices))); break;
        case 1: scope.matrices.push_back(b.Binary(opcode, m, b.Broadcast(r, {6, 6}, {Roll(2)}))); break;
        case 2: scope.matrices.push_back(b.Transpose(m, {1, 0})); break;
        case 3: scope.matrices.push_back(b.DynamicUpdateSlice(m, b.Reshape(r, {1, 6}), {s, zero})); break;
        case 4: scope.rows.push_back(b.Reshape(b.DynamicSlice(m, {s, zero}, {1, 6}), {6})); break;
        case 5: scope.rows.push_back(b.Reduce(m, zero, {Roll(2)}, add_)); break;
        case 6: scope.scalars.push_back(b.Reduce(r, zero, {0}, max_)); break;
        case 7: scope.rows.push_back(b.Binary(opcode, r, Pick(scope.rows))); break;
        case 8: scope.scalars.push_back(b.Binary(opcode, s, Pick(scope.scalars))); break;
        case 9:
          scope.matrices.push_back(
              b.Concatenate({b.Slice(m, {3, 0}, {6, 6}), b.Slice(Pick(scope.matrices), {0, 0}, {3, 6})}, 0));
          break;
        case 10:
          scope.matrices.push_back(b.Select(b.Compare(m, Pick(scope.matrices), hlo::ComparisonDirection::kGt),
                                            Pick(scope.matrices), m));
          break;
        case 11: scope.matrices.push_back(b.Iota(kMatrix, Roll(2))); break;
        case 12: scope.matrices.push_back(b.MatMul(m, Pick(scope.matrices))); break;
        case 13:
          scope.rows.push_back(b.Constant(Literal::Vector<int32_t>({1, -2, 3, Roll(100), 5, 6})));
          break;
      }
    }
  }

  Module& module_;
  std::mt19937 random_;
  ComputationId add_, max_;
};

class RandomModules : public ::testing::TestWithParam<int> {};

TEST_P(RandomModules, ComputeWhatTheEvaluatorDoes) {
  for (uint32_t seed = 50 * GetParam(); seed < 50u * (GetParam() + 1); ++seed) {
    SCOPED_TRACE(seed);
    Module module("random");
    Generator(module, seed).MakeEntry();
    ASSERT_NE(ExpectAgreesWithEvaluator(module, 0, 0, seed), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomModules, ::testing::Range(0, 6));

}  // namespace
}  // namespace hlod::engine
