// Dependences of outputs on parameters, and modules narrowed to some outputs.
#include "common/hlo/analysis/dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/builder.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

using LeafFlags = std::vector<bool>;
using Rows = std::vector<LeafFlags>;

const Shape kVector = Shape::Array(kF32, {4});

// Returns [output][parameter], leaf by leaf.
Rows RowsOf(const Module& module) {
  const Dependences dependences(module);
  Rows rows;
  for (size_t output = 0; output < dependences.outputs(); ++output) rows.push_back(dependences.Of(output));
  return rows;
}

TEST(Dependences, FollowTupleElements) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Tuple({kVector, kVector})), y = b.Parameter(1, kVector);
  const Op first = b.GetTupleElement(x, 0), second = b.GetTupleElement(x, 1);
  ASSERT_TRUE(b.Build(b.Tuple({first + y, b.Tuple({second}), b.Constant(1.0f)})).ok());
  EXPECT_EQ(RowsOf(module), (Rows{{true, false, true}, {false, true, false}, {false, false, false}}));
}

// The sets of a chain of n sums have n * n / 2 members, more than the analysis keeps: what is not kept depends
// on everything.
TEST(Dependences, OfWideProgramsAreBounded) {
  constexpr int kParameters = 8000;
  Module module("m");
  Builder b(module, "main");
  std::vector<Op> sums = {b.Parameter(0, kVector)};
  for (int i = 1; i < kParameters; ++i) sums.push_back(sums.back() + b.Parameter(i, kVector));
  ASSERT_TRUE(b.Build(b.Tuple({sums[1], sums.back()})).ok());
  const Dependences dependences(module);
  LeafFlags two(kParameters, false);
  two[0] = two[1] = true;
  EXPECT_EQ(dependences.Of(0), two);
  EXPECT_EQ(dependences.Of(1), LeafFlags(kParameters, true));
}

TEST(Dependences, SeeThroughCalls) {
  Module module("m");
  Builder f(module, "swap");
  const Op a = f.Parameter(0, kVector), c = f.Parameter(1, kVector);
  ASSERT_TRUE(f.Build(f.Tuple({c, f.Unary(kNegate, a)})).ok());
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  ASSERT_TRUE(b.Build(b.Call({x, y}, f.id())).ok());
  EXPECT_EQ(RowsOf(module), (Rows{{false, true}, {true, false}}));
}

TEST(Dependences, CountABranchsChoice) {
  Module module("m");
  Builder f(module, "first"), g(module, "second");
  ASSERT_TRUE(f.Build(f.Parameter(0, kVector)).ok());
  g.Parameter(0, kVector);
  ASSERT_TRUE(g.Build(g.Broadcast(g.Constant(0.0f), {4}, {})).ok());
  Builder b(module, "main");
  const Op p = b.Parameter(0, Shape::Scalar(kPred)), x = b.Parameter(1, kVector), y = b.Parameter(2, kVector);
  ASSERT_TRUE(b.Build(b.Conditional(p, {x, y}, {f.id(), g.id()})).ok());
  EXPECT_EQ(RowsOf(module), (Rows{{true, true, false}}));
}

// A loop over (i, limit, a, b, c): i counts to limit, a becomes b, b becomes c, c stays.
TEST(Dependences, OfALoopReachTheFixpointAndSpareWhatItHandsOn) {
  Module module("m");
  const Shape i = Shape::Scalar(kS32);
  const Shape state = Shape::Tuple({i, i, kVector, kVector, kVector});
  Builder condition(module, "condition");
  const Op in = condition.Parameter(0, state);
  ASSERT_TRUE(condition
                  .Build(condition.Compare(condition.GetTupleElement(in, 0), condition.GetTupleElement(in, 1),
                                           ComparisonDirection::kLt))
                  .ok());
  Builder body(module, "body");
  const Op s = body.Parameter(0, state);
  const auto at = [&](int64_t index) { return body.GetTupleElement(s, index); };
  ASSERT_TRUE(
      body.Build(body.Tuple({at(0) + body.Constant(Literal::Scalar<int32_t>(1)), at(1), at(3), at(4), at(4)}))
          .ok());
  Builder b(module, "main");
  std::vector<Op> init;
  for (int64_t p = 0; p < 5; ++p) init.push_back(b.Parameter(p, state.tuple[p]));
  ASSERT_TRUE(b.Build(b.While(b.Tuple(init), condition.id(), body.id())).ok());
  EXPECT_EQ(RowsOf(module), (Rows{{true, true, false, false, false},
                                  {false, true, false, false, false},
                                  {true, true, true, true, true},
                                  {true, true, false, true, true},
                                  {false, false, false, false, true}}));
}

TEST(Dependences, OfALoopThatTurnsALongStateRoundStayOnTheSafeSide) {
  constexpr int64_t kLeaves = 200;
  Module module("m");
  const Shape state = Shape::Tuple(std::vector<Shape>(kLeaves, Shape::Scalar(kS32)));
  Builder condition(module, "condition");
  condition.Parameter(0, state);
  ASSERT_TRUE(condition.Build(condition.Constant(Literal::Scalar(false))).ok());
  Builder body(module, "body");
  const Op in = body.Parameter(0, state);
  std::vector<Op> turned;
  for (int64_t i = 0; i < kLeaves; ++i)
    turned.push_back(body.GetTupleElement(in, i == 0 ? 0 : i % (kLeaves - 1) + 1));
  ASSERT_TRUE(body.Build(body.Tuple(turned)).ok());
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.While(b.Parameter(0, state), condition.id(), body.id())).ok());
  const Rows rows = RowsOf(module);
  for (int64_t i = 0; i < kLeaves; ++i) {
    for (int64_t p = 1; p < kLeaves; ++p) EXPECT_EQ(rows[i][p], i != 0) << i << " on " << p;
  }
}

TEST(Dependences, ASideEffectCountsForEveryOutput) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  CustomCallAttributes print;
  print.target = "print";
  print.has_side_effect = true;
  const Shape nothing = Shape::Tuple({});
  b.Add(kCustomCall, {x}, print, {}, &nothing);
  ASSERT_TRUE(b.Build(y).ok());
  EXPECT_EQ(RowsOf(module), (Rows{{true, true}}));
}

TEST(Dependences, OfAbsentParametersSayWhatIsComputable) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  ASSERT_TRUE(b.Build(b.Tuple({x + y, x + x, y + y, b.Constant(1.0f)})).ok());
  const Dependences dependences(module);
  EXPECT_EQ(dependences.Computable({true, false}), (LeafFlags{false, false, true, true}));
  EXPECT_EQ(dependences.Computable({false, true}), (LeafFlags{false, true, false, true}));
  EXPECT_EQ(dependences.Computable({true}), (LeafFlags{false, false, true, true}));
  EXPECT_EQ(dependences.Computable({}), (LeafFlags{true, true, true, true}));
}

// A matrix of dependences would have 10^10 entries: 1.25 GB and half a minute.
TEST(Dependences, OfAWideModuleTakeNoMatrix) {
  constexpr int kWidth = 100'000;
  Module module("m");
  Builder b(module, "main");
  const Shape scalar = Shape::Scalar(kF32);
  std::vector<Op> results;
  for (int i = 0; i < kWidth; ++i) results.push_back(b.Unary(kNegate, b.Parameter(i, scalar)));
  ASSERT_TRUE(b.Build(b.Tuple(results)).ok());
  LeafFlags absent(kWidth);
  for (int i = 0; i < kWidth; i += 3) absent[static_cast<size_t>(i)] = true;
  const LeafFlags computable = Dependences(module).Computable(absent);
  ASSERT_EQ(computable.size(), static_cast<size_t>(kWidth));
  for (size_t i = 0; i < computable.size(); ++i) ASSERT_EQ(computable[i], i % 3 != 0) << i;
  EXPECT_EQ(static_cast<int>(Leaves(KeepOutputs(module, computable)->entry().root().shape()).size()),
            kWidth - (kWidth + 2) / 3);
}

// Every output depends on every parameter: they share one set, which is visited once.
TEST(Dependences, OfManyOutputsThatShareALargeSet) {
  constexpr int kWidth = 50'000;
  std::string state = "(f32[]";
  for (int i = 1; i < kWidth; ++i) state += ", f32[]";
  state += ")";
  // A custom call mixes the leaves of its operands.
  const auto module_or =
      ParseModule("HloModule wide\nENTRY main {\n  x = " + state +
                  " parameter(0)\n  first = f32[] get-tuple-element(x), index=0\n  mix = " + state +
                  " custom-call(x), custom_call_target=\"mix\"\n  ROOT r = (f32[], " + state +
                  ") tuple(first, mix)\n}\n");
  ASSERT_TRUE(module_or.ok()) << module_or.status();
  const Module& module = **module_or;
  LeafFlags absent(kWidth);
  absent[1] = true;
  const LeafFlags computable = Dependences(module).Computable(absent);
  EXPECT_TRUE(computable[0]);
  EXPECT_EQ(std::count(computable.begin(), computable.end(), true), 1);
}

TEST(KeepOutputs, DropsWhatOnlyTheOthersNeed) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  const Op product = x * y, sum = y + y;
  ASSERT_TRUE(b.Build(b.Tuple({product, b.Tuple({sum, x})})).ok());
  const auto kept = KeepOutputs(module, {false, true, false});
  ASSERT_TRUE(Verify(*kept).ok()) << Verify(*kept);
  EXPECT_EQ(ToString(kept->entry().root().shape()), "(f32[4])");
  EXPECT_EQ(kept->entry().parameters().size(), 2u);
  EXPECT_EQ(kept->instruction_count(), 4);  // Two parameters, the sum, the tuple.
  EXPECT_EQ(RowsOf(*kept), (Rows{{false, true}}));
}

// Returns true when no instruction of the entry has the parameter as an operand.
bool IsUnread(const Module& module, int64_t parameter) {
  const Computation& entry = module.entry();
  for (NodeId id = 0; id < entry.size(); ++id) {
    for (const NodeId operand : entry[id].operands()) {
      if (operand == entry.parameters()[parameter]) return false;
    }
  }
  return true;
}

TEST(KeepOutputs, NarrowsCallsAndBranches) {
  Module module("m");
  Builder f(module, "both");
  const Op a = f.Parameter(0, kVector), c = f.Parameter(1, Shape::Tuple({kVector, kVector}));
  ASSERT_TRUE(f.Build(f.Tuple({f.Unary(kNegate, a), f.GetTupleElement(c, 1)})).ok());
  Builder g(module, "branch");
  const Op in = g.Parameter(0, Shape::Tuple({kVector, kVector}));
  const Op called = g.Call({g.GetTupleElement(in, 0), in}, f.id());
  ASSERT_TRUE(g.Build(called).ok());
  Builder b(module, "main");
  const Op p = b.Parameter(0, Shape::Scalar(kPred)), x = b.Parameter(1, kVector), y = b.Parameter(2, kVector);
  const Op pair = b.Tuple({x, y});
  ASSERT_TRUE(b.Build(b.Conditional(p, {pair, pair}, {g.id(), g.id()})).ok());
  const auto first = KeepOutputs(module, {true, false}), second = KeepOutputs(module, {false, true});
  ASSERT_TRUE(Verify(*first).ok()) << Verify(*first);
  ASSERT_TRUE(Verify(*second).ok()) << Verify(*second);
  EXPECT_FALSE(IsUnread(*first, 1));
  EXPECT_TRUE(IsUnread(*first, 2));
  EXPECT_TRUE(IsUnread(*second, 1));
  EXPECT_FALSE(IsUnread(*second, 2));
}

// A loop over (i, limit, x, w): i counts to limit, x becomes x + x, w becomes w * x.
TEST(KeepOutputs, NarrowsLoops) {
  Module module("m");
  const Shape i = Shape::Scalar(kS32);
  const Shape state = Shape::Tuple({i, i, Shape::Tuple({kVector}), kVector});
  Builder condition(module, "condition");
  const Op in = condition.Parameter(0, state);
  ASSERT_TRUE(condition
                  .Build(condition.Compare(condition.GetTupleElement(in, 0), condition.GetTupleElement(in, 1),
                                           ComparisonDirection::kLt))
                  .ok());
  Builder body(module, "body");
  const Op s = body.Parameter(0, state);
  const Op x = body.GetTupleElement(body.GetTupleElement(s, 2), 0);
  ASSERT_TRUE(body.Build(body.Tuple({body.GetTupleElement(s, 0) + body.Constant(Literal::Scalar<int32_t>(1)),
                                     body.GetTupleElement(s, 1), body.Tuple({x + x}),
                                     body.GetTupleElement(s, 3) * x}))
                  .ok());
  Builder b(module, "main");
  const Op first = b.Parameter(0, i), limit = b.Parameter(1, i), start = b.Parameter(2, kVector),
           w = b.Parameter(3, kVector);
  ASSERT_TRUE(b.Build(b.While(b.Tuple({first, limit, b.Tuple({start}), w}), condition.id(), body.id())).ok());
  ASSERT_TRUE(Verify(module).ok()) << Verify(module);

  const auto without_w = KeepOutputs(module, {true, false, true, false});
  ASSERT_TRUE(Verify(*without_w).ok()) << Verify(*without_w);
  EXPECT_EQ(ToString(without_w->entry().root().shape()), "(s32[], f32[4])");
  EXPECT_TRUE(IsUnread(*without_w, 3));
  const auto all = KeepOutputs(module, {true, true, true, true});
  ASSERT_TRUE(Verify(*all).ok()) << Verify(*all);
  EXPECT_FALSE(IsUnread(*all, 3));
  // A leaf that the loop passes through unchanged does not need the loop.
  const auto handed_on = KeepOutputs(module, {false, true, false, false});
  ASSERT_TRUE(Verify(*handed_on).ok()) << Verify(*handed_on);
  EXPECT_TRUE(IsUnread(*handed_on, 0));
  EXPECT_EQ(handed_on->computation_count(), 1u);
}

TEST(KeepOutputs, LeavesTheGivenTablesAlone) {
  Module module("m");
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.Parameter(0, kVector)).ok());
  const auto kept = KeepOutputs(module, {true});
  EXPECT_NE(&kept->tables(), &module.tables());
}

TEST(KeepOutputs, TakesLeavesOutOfValuesThatAreNoTupleInstruction) {
  Module module("m");
  Builder b(module, "main");
  ASSERT_TRUE(
      b.Build(b.Parameter(0, Shape::Tuple({kVector, Shape::Tuple({Shape::Scalar(kS32), kVector})}))).ok());
  const auto kept = KeepOutputs(module, {false, true, true});
  ASSERT_TRUE(Verify(*kept).ok()) << Verify(*kept);
  EXPECT_EQ(ToString(kept->entry().root().shape()), "(s32[], f32[4])");
}

TEST(KeepOutputs, OfAnArrayIsATupleOfOne) {
  Module module("m");
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.Parameter(0, kVector)).ok());
  EXPECT_EQ(ToString(KeepOutputs(module, {true})->entry().root().shape()), "(f32[4])");
  EXPECT_EQ(ToString(KeepOutputs(module, {false})->entry().root().shape()), "()");
}

}  // namespace
}  // namespace hlod::hlo
