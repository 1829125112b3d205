// Data movement: every opcode and element width through each inner kernel, compared with the evaluator to the
// last bit.
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

// Returns an entry with one parameter p0 of `shape`, and the root.
std::string One(const std::string& shape, const std::string& root) {
  return "ENTRY e {\n p0 = " + shape + " parameter(0)\n ROOT r = " + root + "\n}\n";
}
void Check(const std::string& shape, const std::string& root) { ExpectStep(One(shape, root)); }

TEST(Movement, TransposesEveryWidth) {
  for (const std::string type : {"pred", "s8", "bf16", "f32", "f64", "c64", "c128", "s4"}) {
    Check(type + "[37,50]", type + "[50,37] transpose(p0), dimensions={1,0}");
    Check(type + "[5,7,9]", type + "[9,5,7] transpose(p0), dimensions={2,0,1}");
    Check(type + "[5,7,9]", type + "[7,5,9] transpose(p0), dimensions={1,0,2}");
  }
}
TEST(Movement, TransposesWhatIsLargeInBlocks) {
  Check("f32[300,513]", "f32[513,300] transpose(p0), dimensions={1,0}");
  Check("bf16[257,300]", "bf16[300,257] transpose(p0), dimensions={1,0}");
  Check("f32[4,64,8,64]", "f32[4,8,64,64] transpose(p0), dimensions={0,2,1,3}");
  Check("f32[4,64,8,64]", "f32[4,8,64,64] transpose(p0), dimensions={0,2,3,1}");
  Check("f32[70000,3]", "f32[3,70000] transpose(p0), dimensions={1,0}");
  Check("f32[3,70000]", "f32[70000,3] transpose(p0), dimensions={1,0}");
  Check("f32[300,200,2]", "f32[200,300,2] transpose(p0), dimensions={1,0,2}");
}
// Pairs and triples, which are shuffled, also where they are part of longer tuples.
TEST(Movement, TransposesPairsAndTriples) {
  for (const std::string type : {"s8", "bf16", "f32", "f64", "c128"}) {
    for (const std::string count : {"2", "3"}) {
      Check(type + "[77," + count + "]", type + "[" + count + ",77] transpose(p0), dimensions={1,0}");
      Check(type + "[" + count + ",77]", type + "[77," + count + "] transpose(p0), dimensions={1,0}");
      Check(type + "[5,7,11," + count + "]",
            type + "[5," + count + ",7,11] transpose(p0), dimensions={0,3,1,2}");
      Check(type + "[5," + count + ",3]", type + "[3,5," + count + "] transpose(p0), dimensions={2,0,1}");
    }
  }
}
TEST(Movement, TransposesManyDimensions) {
  Check("s16[2,3,4,5,2,3]", "s16[3,2,5,4,3,2] transpose(p0), dimensions={5,4,3,2,1,0}");
  Check("f32[2,1,3,1,4]", "f32[4,1,2,3,1] transpose(p0), dimensions={4,1,0,2,3}");
}
TEST(Movement, Broadcasts) {
  Check("f32[]", "f32[300,400] broadcast(p0), dimensions={}");
  Check("f32[7]", "f32[5,7] broadcast(p0), dimensions={1}");
  Check("bf16[7]", "bf16[7,500] broadcast(p0), dimensions={0}");
  Check("s8[7,3]", "s8[7,6,3] broadcast(p0), dimensions={0,2}");
  Check("f64[7,1]", "f64[2,7,1,4] broadcast(p0), dimensions={1,2}");
  Check("f32[3,5]", "f32[5,3] broadcast(p0), dimensions={1,0}");
}
TEST(Movement, ReversesAndSlices) {
  Check("f32[5,7]", "f32[5,7] reverse(p0), dimensions={1}");
  Check("bf16[300,301]", "bf16[300,301] reverse(p0), dimensions={0,1}");
  Check("c128[5,7,2]", "c128[5,7,2] reverse(p0), dimensions={0,2}");
  Check("f32[10,12]", "f32[3,4] slice(p0), slice={[2:8:2],[1:12:3]}");
  Check("s8[10,12,5]", "s8[4,12,5] slice(p0), slice={[3:7],[0:12],[0:5]}");
  Check("f32[10]", "f32[0] slice(p0), slice={[4:4]}");
  // A step beyond all elements takes one, whatever the step times their distance is (seen by UBSan).
  Check("f32[10,12]", "f32[1,4] slice(p0), slice={[2:8:4611686018427387904],[1:12:3]}");
}
TEST(Movement, CopiesReshapesAndBitcasts) {
  Check("f32[4,6]", "f32[4,6] copy(p0)");
  Check("f32[4,6]", "f32[3,8] reshape(p0)");
  Check("f32[4,6]", "u32[4,6] bitcast-convert(p0)");
  Check("f64[4]", "u16[4,4] bitcast-convert(p0)");
  Check("u8[3,4]", "f32[3] bitcast-convert(p0)");
}

TEST(Movement, DynamicSliceClampsItsStart) {
  for (const int32_t start : {-5, 0, 2, 3, 100}) {
    ExpectStep(
        R"(ENTRY e {
      p0 = f32[6,9] parameter(0)
      p1 = s32[] parameter(1)
      p2 = s32[] parameter(2)
      ROOT r = f32[3,4] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={3,4}
    })",
        {.arguments = {{1, Literal::Scalar<int32_t>(start)}, {2, Literal::Scalar<int32_t>(start + 1)}}});
  }
  ExpectStep(R"(ENTRY e {
    p0 = s8[6] parameter(0)
    p1 = u64[] parameter(1)
    ROOT r = s8[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}
  })",
             {.arguments = {{1, Literal::Scalar<uint64_t>(UINT64_MAX)}}});
}
TEST(Movement, DynamicUpdateSliceWritesOnlyItsWindow) {
  for (const int32_t start : {-5, 0, 2, 100}) {
    ExpectStep(R"(ENTRY e {
      p0 = bf16[6,9] parameter(0)
      p1 = bf16[3,4] parameter(1)
      p2 = s32[] parameter(2)
      p3 = s32[] parameter(3)
      ROOT r = bf16[6,9] dynamic-update-slice(p0, p1, p2, p3)
    })",
               {.arguments = {{2, Literal::Scalar<int32_t>(start)}, {3, Literal::Scalar<int32_t>(1)}}});
  }
  ExpectStep(R"(ENTRY e {
    p0 = f32[4] parameter(0)
    p1 = f32[4] parameter(1)
    p2 = s64[] parameter(2)
    ROOT r = f32[4] dynamic-update-slice(p0, p1, p2)
  })");
}

void CheckPad(const std::string& shape, const std::string& result, const std::string& padding) {
  const std::string type = shape.substr(0, shape.find('['));
  ExpectStep("ENTRY e {\n p0 = " + shape + " parameter(0)\n p1 = " + type +
             "[] parameter(1)\n ROOT r = " + result + " pad(p0, p1), padding=" + padding + "\n}\n");
}
TEST(Movement, PadsEveryWay) {
  CheckPad("f32[3,4]", "f32[6,9]", "1_2x2_3");
  CheckPad("f32[3,4]", "f32[3,4]", "0_0x0_0");
  CheckPad("f32[3,4]", "f32[7,10]", "1_1_1x0_0_2");
  CheckPad("bf16[3,4]", "bf16[2,7]", "-1_0x1_2");
  CheckPad("s32[5]", "s32[2]", "-2_-1");
  CheckPad("s32[5]", "s32[6]", "-2_-1_1");
  CheckPad("s32[5]", "s32[3]", "-3_-3_1");
  CheckPad("s32[5]", "s32[2]", "-5_2");
  CheckPad("s32[5]", "s32[1]", "3_-7");
  CheckPad("f32[0]", "f32[4]", "1_3");
  CheckPad("c64[2,3,4]", "c64[4,3,7]", "1_1x0_0x2_1");
  // The largest extents that inference accepts: 2^40.
  CheckPad("u8[1]", "u8[1]", "-1099511627776_1099511627776_1099511627776");
  CheckPad("u8[1]", "u8[64]", "-70000_70063_1099511627776");
  CheckPad("f32[200,300]", "f32[202,304]", "1_1x2_2");
}
TEST(Movement, Concatenates) {
  ExpectStep(R"(ENTRY e {
    p0 = f32[3,4] parameter(0)
    p1 = f32[3,2] parameter(1)
    p2 = f32[3,0] parameter(2)
    ROOT r = f32[3,10] concatenate(p0, p1, p2, p0), dimensions={1}
  })");
  ExpectStep(R"(ENTRY e {
    p0 = s8[3,4,2] parameter(0)
    p1 = s8[1,4,2] parameter(1)
    ROOT r = s8[4,4,2] concatenate(p0, p1), dimensions={0}
  })");
}
// Two to four arrays element by element, also from views, and arrays of which only some are single.
TEST(Movement, InterleavesElements) {
  for (const std::string type : {"pred", "bf16", "f32", "c64", "c128"}) {
    for (const int count : {2, 3, 4, 5}) {
      std::string parameters, operands;
      for (int i = 0; i < count; ++i) {
        const std::string name = "p" + std::to_string(i);
        parameters += " " + name + " = " + type + "[7,11,1] parameter(" + std::to_string(i) + ")\n";
        operands += (i == 0 ? "" : ", ") + name;
      }
      ExpectStep("ENTRY e {\n" + parameters + " ROOT r = " + type + "[7,11," + std::to_string(count) +
                 "] concatenate(" + operands + "), dimensions={2}\n}\n");
    }
    ExpectStep("ENTRY e {\n p0 = " + type + "[50,1] parameter(0)\n p1 = " + type +
               "[50,2] parameter(1)\n ROOT r = " + type + "[50,3] concatenate(p0, p1), dimensions={1}\n}\n");
  }
}
// Expects the evaluator's values from a plan of `steps` steps.
void ExpectSteps(const std::string& entry, int64_t steps) {
  auto module = hlo::ParseModule("HloModule m\nENTRY e {\n" + entry + "\n}\n");
  ASSERT_TRUE(module.ok()) << module.status() << entry;
  const std::unique_ptr<Plan> plan = ExpectAgreesWithEvaluator(**module, 0, 0);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stats().steps, steps) << plan->Dump();
}
TEST(Movement, InterleavesViews) {
  ExpectSteps(
      "p = f32[40,1] parameter(0)\n a = f32[20,1] slice(p), slice={[3:23], [0:1]}\n"
      " b = f32[20,1] slice(p), slice={[20:40], [0:1]}\n"
      " ROOT r = f32[20,2] concatenate(a, b), dimensions={1}",
      1);
  ExpectSteps(
      "p = f32[40,1] parameter(0)\n a = f32[20,1] slice(p), slice={[0:40:2], [0:1]}\n"
      " b = f32[20,1] slice(p), slice={[20:40], [0:1]}\n"
      " ROOT r = f32[20,2] concatenate(a, b), dimensions={1}",
      1);
}
TEST(Movement, ReadsThroughViews) {
  // A roll of a reversed array, as JAX makes it.
  ExpectSteps(
      "x = f32[3,9,5] parameter(0)\n v = f32[3,9,5] reverse(x), dimensions={1}\n"
      " a = f32[3,2,5] slice(v), slice={[0:3],[7:9],[0:5]}\n b = f32[3,7,5] slice(v), slice={[0:3],[0:7],[0:5]}\n"
      " ROOT r = f32[3,9,5] concatenate(a, b), dimensions={1}",
      1);
  ExpectSteps(
      "x = s8[7,6] parameter(0)\n s = s8[3,2] slice(x), slice={[1:7:2],[2:6:2]}\n"
      " v = s8[3,2] reverse(s), dimensions={0,1}\n ROOT r = s8[2,3] transpose(v), dimensions={1,0}",
      1);
  ExpectSteps(
      "x = bf16[4,6] parameter(0)\n z = bf16[] parameter(1)\n w = bf16[8,3] reshape(x)\n"
      " s = bf16[4,3] slice(w), slice={[0:8:2],[0:3]}\n ROOT r = bf16[6,4] pad(s, z), padding=-1_3x1_0",
      1);
  ExpectSteps(
      "x = f64[5] parameter(0)\n b = f64[3,5] broadcast(x), dimensions={1}\n y = f64[3,2] parameter(1)\n"
      " s = f64[3,4] slice(b), slice={[0:3],[1:5]}\n ROOT r = f64[3,6] concatenate(y, s), dimensions={1}",
      1);
}
TEST(Movement, ReadsViewsThatOtherStepsNeed) {
  // A broadcast reads the array that it broadcasts.
  ExpectSteps(
      "x = u32[2,3] parameter(0)\n s = u32[2,1] slice(x), slice={[0:2],[1:2]}\n w = u32[2] reshape(s)\n"
      " b = u32[2,4] broadcast(w), dimensions={0}\n ROOT t = (u32[2], u32[2,4]) tuple(w, b)",
      2);
  // The reversed array is a result, too.
  ExpectSteps(
      "x = f32[6] parameter(0)\n v = f32[6] reverse(x), dimensions={0}\n s = f32[4] slice(v), slice={[1:5]}\n"
      " ROOT t = (f32[6], f32[4]) tuple(v, s)",
      2);
  // Numbers that count are made in memory, because no array holds them.
  ExpectSteps(
      "i = s32[20000] iota(), iota_dimension=0\n p = s32[2] parameter(0)\n s = s32[19998] slice(i), slice={[1:19999]}\n"
      " ROOT r = s32[20000] concatenate(p, s), dimensions={0}",
      3);
  ExpectSteps(
      "i = s32[150,200] iota(), iota_dimension=0\n ROOT r = s32[200,150] transpose(i), dimensions={1,0}", 2);
  // The window of a reshape that is not a view of its operand.
  ExpectSteps(
      "x = f32[4,6] parameter(0)\n t = f32[6,4] transpose(x), dimensions={1,0}\n w = f32[3,8] reshape(t)\n"
      " ROOT s = f32[3,5] slice(w), slice={[0:3],[2:7]}",
      2);
}
TEST(Movement, EmptyArraysAreNoViews) {
  for (const char* const entry :
       {"x = f32[0,6] parameter(0)\n w = f32[3,0,2] reshape(x)\n"
        " ROOT s = f32[2,0,2] slice(w), slice={[1:3],[0:0],[0:2]}",
        "x = f32[4,6] parameter(0)\n e = f32[4,0] slice(x), slice={[0:4],[3:3]}\n"
        " w = f32[0,7] reshape(e)\n v = f32[0,7] reverse(w), dimensions={0,1}\n y = f32[2,7] parameter(1)\n"
        " ROOT r = f32[2,7] concatenate(v, y), dimensions={0}",
        "x = f32[0] parameter(0)\n v = f32[0] reverse(x), dimensions={0}\n w = f32[2,0] reshape(v)\n"
        " z = f32[] parameter(1)\n ROOT r = f32[4,3] pad(w, z), padding=1_1x2_1",
        "x = f32[3] parameter(0)\n b = f32[0,3] broadcast(x), dimensions={1}\n w = f32[3,0] reshape(b)\n"
        " ROOT t = f32[0,3] transpose(w), dimensions={1,0}"}) {
    auto module = hlo::ParseModule(std::string("HloModule m\nENTRY e {\n") + entry + "\n}\n");
    ASSERT_TRUE(module.ok()) << module.status() << entry;
    EXPECT_NE(ExpectAgreesWithEvaluator(**module, 0, 0), nullptr) << entry;
  }
}
TEST(Movement, ALongChainOfViewsIsCutIntoSteps) {
  std::string entry = "x0 = f32[100] parameter(0)\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string size = "f32[" + std::to_string(100 - i) + "]";
    entry += (i == 40 ? " ROOT x" : " x") + std::to_string(i) + " = " + size + " slice(x" +
             std::to_string(i - 1) + "), slice={[1:" + std::to_string(101 - i) + "]}\n";
  }
  ExpectSteps(entry, 3);
}
TEST(Movement, CountsAlongAnyDimension) {
  for (const std::string type : {"s32", "f32", "bf16", "u8", "c64", "f64", "s4"}) {
    ExpectStep("ENTRY e { ROOT r = " + type + "[3,5,2] iota(), iota_dimension=1 }");
    ExpectStep("ENTRY e { ROOT r = " + type + "[6] iota(), iota_dimension=0 }");
  }
  ExpectStep("ENTRY e { ROOT r = s32[400,300] iota(), iota_dimension=1 }");
}

TEST(Movement, PadsAsByHand) {
  const std::vector<Literal> result =
      RunStepText(R"(ENTRY e {
    p0 = s32[3] parameter(0)
    p1 = s32[] parameter(1)
    ROOT r = s32[7] pad(p0, p1), padding=-1_3_1
  })",
                  {Literal::Vector<int32_t>({1, 2, 3}), Literal::Scalar<int32_t>(9)});
  ASSERT_EQ(result.size(), 1u);
  // 1 9 2 9 3 without the first element, then three more.
  EXPECT_EQ(result[0], Literal::Vector<int32_t>({9, 2, 9, 3, 9, 9, 9}));
}

}  // namespace
}  // namespace hlod::engine
