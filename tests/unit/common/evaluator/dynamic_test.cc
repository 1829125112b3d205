// Bounded dimensions: every value has its actual sizes. Expected values are worked out by hand, as NumPy
// would compute on x[:n].
#include <string>

#include "common/hlo/text/text.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

// The name of the tested value, and the lines of the entry between the parameters x = f32[4] and n = s32[]
// and the end.
struct Dynamic {
  std::string body;
  std::string callees;
};

absl::StatusOr<Literal> RunDynamic(const Dynamic& program, int32_t n) {
  const std::string text = "HloModule m\n" + program.callees + R"(
ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] parameter(1)
  y = f32[<=4] set-dimension-size(x, n), dimensions={0}
)" + program.body + "\n}\n";
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  if (!module.ok()) return module.status();
  if (absl::Status verified = Verify(**module); !verified.ok()) return verified;
  const Literal x = Literal::Vector<float>({1, 2, 4, 8}), size = Literal::Scalar(n);
  return Evaluate(**module, {&x, &size});
}

constexpr char kAdd[] =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";

TEST(DynamicShapes, SetDimensionSizeTakesTheFirst) {
  for (int32_t n = 0; n <= 4; ++n) {
    const Literal result = Result(RunDynamic({"ROOT r = f32[<=4] negate(y)"}, n));
    EXPECT_THAT(result.shape().dims, ElementsAre(n));
    std::vector<double> wanted = {-1, -2, -4, -8};
    wanted.resize(n);
    EXPECT_EQ(Numbers(result), wanted);
  }
}

TEST(DynamicShapes, SizesOutsideTheBoundAreRefused) {
  for (const int32_t n : {-1, 5}) {
    EXPECT_THAT(RunDynamic({"ROOT r = f32[<=4] negate(y)"}, n).status().message(),
                AllOf(HasSubstr("y sets"), HasSubstr(std::to_string(n)), HasSubstr("[0, 4]")));
  }
  EXPECT_THAT(
      RunDynamic({"c = s32[] constant(3)\n ROOT r = f32[<=4] set-dimension-size(y, c), dimensions={0}"}, 2)
          .status()
          .message(),
      HasSubstr("r sets a dimension's size to 3, and only 2"));
}

TEST(DynamicShapes, ReduceSeesWhatIsThere) {
  const double wanted[] = {0, 1, 3, 7, 15};
  for (int32_t n = 0; n <= 4; ++n) {
    EXPECT_THAT(
        Numbers(Result(RunDynamic(
            {"z = f32[] constant(0)\n ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=add", kAdd}, n))),
        ElementsAre(wanted[n]));
  }
}

TEST(DynamicShapes, ConcatenateAndPadFollowTheSizes) {
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = f32[<=8] concatenate(y, x), dimensions={0}"}, 2))),
              ElementsAre(1, 2, 1, 2, 4, 8));
  EXPECT_THAT(
      Numbers(Result(RunDynamic({"z = f32[] constant(9)\n ROOT r = f32[<=10] pad(y, z), padding=1_2_1"}, 2))),
      ElementsAre(9, 1, 9, 2, 9, 9));
}

TEST(DynamicShapes, AStaticOperandIsCut) {
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = f32[<=4] add(x, y)"}, 3))), ElementsAre(2, 4, 8));
}

TEST(DynamicShapes, TwoSizesOfOneDimensionAreRefused) {
  EXPECT_THAT(RunDynamic({"c = s32[] constant(3)\n"
                          "w = f32[<=4] set-dimension-size(x, c), dimensions={0}\n"
                          "ROOT r = f32[<=4] add(w, y)"},
                         2)
                  .status()
                  .message(),
              AllOf(HasSubstr("Operands of r"), HasSubstr("3 and 2")));
}

TEST(DynamicShapes, SliceTakesWhatIsLeft) {
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = f32[<=3] slice(y), slice={[1:4]}"}, 3))),
              ElementsAre(2, 4));
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = f32[<=2] slice(y), slice={[0:4:2]}"}, 3))),
              ElementsAre(1, 4));
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = f32[<=3] slice(y), slice={[1:4]}"}, 0))), ElementsAre());
}

TEST(DynamicShapes, ReshapeKeepsTheOrderOfWhatIsThere) {
  // Two rows of n elements become 2 n elements without gaps.
  const std::string rows = R"(
  b = f32[2,<=4] broadcast(y), dimensions={1}
  ROOT r = f32[<=8] reshape(b))";
  EXPECT_THAT(Numbers(Result(RunDynamic({rows}, 3))), ElementsAre(1, 2, 4, 1, 2, 4));
  EXPECT_THAT(Result(RunDynamic({"ROOT r = f32[<=2,2] reshape(y)"}, 2)).shape().dims, ElementsAre(1, 2));
  EXPECT_THAT(RunDynamic({"ROOT r = f32[<=2,2] reshape(y)"}, 3).status().message(), HasSubstr("3 elements"));
}

TEST(DynamicShapes, DimensionSizeIsTheActualOne) {
  EXPECT_THAT(Numbers(Result(RunDynamic({"ROOT r = s32[] get-dimension-size(y), dimensions={0}"}, 3))),
              ElementsAre(3));
}

TEST(DynamicShapes, DotContractsWhatIsThere) {
  EXPECT_THAT(Numbers(Result(RunDynamic(
                  {"ROOT r = f32[] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}"}, 3))),
              ElementsAre(21));
}

TEST(DynamicShapes, SortOrdersWhatIsThere) {
  const std::string greater =
      "gt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GT "
      "}\n";
  EXPECT_THAT(
      Numbers(Result(RunDynamic({"ROOT r = f32[<=4] sort(y), dimensions={0}, to_apply=gt", greater}, 3))),
      ElementsAre(4, 2, 1));
}

// A loop that halves its state while it has more than one element.
TEST(DynamicShapes, ALoopsStateMayShrink) {
  const std::string callees = R"(
more { s = (f32[<=4]) parameter(0)
  a = f32[<=4] get-tuple-element(s), index=0
  k = s32[] get-dimension-size(a), dimensions={0}
  one = s32[] constant(1)
  ROOT c = pred[] compare(k, one), direction=GT }
half { s = (f32[<=4]) parameter(0)
  a = f32[<=4] get-tuple-element(s), index=0
  k = s32[] get-dimension-size(a), dimensions={0}
  two = s32[] constant(2)
  h = s32[] divide(k, two)
  d = f32[<=4] add(a, a)
  c = f32[<=4] set-dimension-size(d, h), dimensions={0}
  ROOT t = (f32[<=4]) tuple(c) }
)";
  const std::string body = R"(
  t = (f32[<=4]) tuple(y)
  w = (f32[<=4]) while(t), condition=more, body=half
  ROOT r = f32[<=4] get-tuple-element(w), index=0)";
  EXPECT_THAT(Numbers(Result(RunDynamic({body, callees}, 4))), ElementsAre(4));
  EXPECT_THAT(Numbers(Result(RunDynamic({body, callees}, 1))), ElementsAre(1));
}

TEST(DynamicShapes, AParameterTakesAnySizeUpToItsBound) {
  absl::StatusOr<std::unique_ptr<Module>> module =
      ParseModule("HloModule m\nENTRY e { x = f32[<=3] parameter(0)\n ROOT r = f32[<=3] negate(x) }\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const Literal two = Literal::Vector<float>({1, 2}), four = Literal::Vector<float>({1, 2, 3, 4});
  EXPECT_THAT(Numbers(Result(Evaluate(**module, {&two}))), ElementsAre(-1, -2));
  EXPECT_THAT(Evaluate(**module, {&four}).status().message(), HasSubstr("f32[<=3]"));
}

TEST(DynamicShapes, ABroadcastSizeThatNothingSaysIsRefused) {
  EXPECT_THAT(RunDynamic({"z = f32[] constant(0)\n ROOT r = f32[<=4] broadcast(z), dimensions={}"}, 2)
                  .status()
                  .message(),
              HasSubstr("no operand says"));
}

}  // namespace
}  // namespace hlod
