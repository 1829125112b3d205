// Collectives without partners, asynchronous pairs, ragged dots: worked out by hand.
#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

absl::StatusOr<Literal> RunText(const std::string& text, const std::vector<Literal>& arguments) {
  const auto module = ParseModule(text);
  if (!module.ok()) return module.status();
  if (absl::Status verified = Verify(**module); !verified.ok()) return verified;
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  return Evaluate(**module, pointers);
}

TEST(Collectives, NameTheDeviceThatIsNotThere) {
  const auto message = [](const std::string& body) {
    const auto result =
        RunText("add {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q)\n}\n"
            "ENTRY e {\n x = f32[4] parameter(0)\n ROOT y = " +
                body + "\n}\n",
            {Literal::Vector<float>({1, 2, 3, 4})});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
    return std::string(FromAbsl(result.status().message()));
  };
  EXPECT_THAT(message("f32[4] all-reduce(x), replica_groups={{0,7}}, to_apply=add"),
              testing::AllOf(HasSubstr("all-reduce (y)"), HasSubstr("device (7)"), HasSubstr("num_replicas (1)"),
                    HasSubstr("num_partitions (1)")));
  EXPECT_THAT(message("f32[8] all-gather(x), replica_groups={}, dimensions={0}"),
              HasSubstr("more than one device"));
  EXPECT_THAT(message("f32[2] reduce-scatter(x), replica_groups=[1,2]<=[2], dimensions={0}, to_apply=add"),
              HasSubstr("device (1)"));
  EXPECT_THAT(message("f32[4] collective-permute(x), source_target_pairs={{0,1}}"), HasSubstr("device (1)"));
  EXPECT_THAT(message("(f32[4], f32[4]) all-to-all(x, x), replica_groups={}"), HasSubstr("(2) operands"));
}

TEST(Collectives, RaggedAllToAllMovesRowsAndLeavesOutWhatDoesNotFit) {
  const Literal input = Literal::Array<int32_t>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Literal output = Literal::Array<int32_t>({3, 2}, {-1, -1, -2, -2, -3, -3});
  const auto result =
      RunText("ENTRY e {\n x = s32[4,2] parameter(0)\n y = s32[3,2] parameter(1)\n i = s32[2] constant({1, 3})\n"
          " s = s32[2] constant({1, 5})\n o = s32[2] constant({2, 0})\n"
          " ROOT r = s32[3,2] ragged-all-to-all(x, y, i, s, o, s), replica_groups={{0}}\n}\n",
          {input, output});
  // Row 1 goes to row 2. Of the five rows from row 3 on only one exists; it goes to row 0.
  EXPECT_EQ(Result(result), Literal::Array<int32_t>({3, 2}, {7, 8, -2, -2, 3, 4}));
}

TEST(Collectives, BroadcastAndReduceAloneAreTheOperand) {
  const Literal x = Literal::Vector<float>({1, 2});
  const auto result =
      RunText("add {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q)\n}\n"
          "ENTRY e {\n x = f32[2] parameter(0)\n a = f32[2] collective-broadcast(x), replica_groups={{0}}\n"
          " b = f32[2] collective-reduce(x), replica_groups={{0}}, to_apply=add\n"
          " c = (f32[2]) all-to-all(x), replica_groups={{0}}\n c0 = f32[2] get-tuple-element(c), index=0\n"
          " ROOT t = (f32[2], f32[2], f32[2]) tuple(a, b, c0)\n}\n",
          {x});
  const Literal all = Result(result);
  for (const Literal* leaf : all.Leaves()) EXPECT_EQ(*leaf, x);
}

TEST(RaggedDot, GroupsThatAreNegativeOrReachTooFarAreCut) {
  const Literal rows = Literal::Array<float>({4, 1}, {1, 2, 3, 4});
  const Literal factors = Literal::Array<float>({3, 1, 1}, {10, 100, 1000});
  const std::string text =
      "ENTRY e {\n a = f32[4,1] parameter(0)\n b = f32[3,1,1] parameter(1)\n g = s64[3] parameter(2)\n"
      " ROOT d = f32[4,1] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={0}, rhs_group_dims={0}\n}\n";
  const auto run = [&](int64_t a, int64_t b, int64_t c) {
    return Numbers(Result(RunText(text, {rows, factors, Literal::Vector<int64_t>({a, b, c})})));
  };
  EXPECT_THAT(run(1, 2, 1), ElementsAre(10, 200, 300, 4000));
  EXPECT_THAT(run(1, 0, 2), ElementsAre(10, 2000, 3000, 0));
  EXPECT_THAT(run(2, -5, 1), ElementsAre(10, 20, 3000, 0));
  EXPECT_THAT(run(1, INT64_MAX, INT64_MAX), ElementsAre(10, 200, 300, 400));
}

}  // namespace
}  // namespace hlod
