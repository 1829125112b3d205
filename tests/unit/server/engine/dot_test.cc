// dot: any dimension numbers and types against the evaluator, by the libraries of this processor's table.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "gtest/gtest.h"
#include "server/engine/contraction/products.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& out,
                const std::string& numbers) {
  return "ENTRY e {\n p0 = " + lhs + " parameter(0)\n p1 = " + rhs + " parameter(1)\n ROOT r = " + out +
         " dot(p0, p1), " + numbers + "\n}\n";
}
const char kPlain[] = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";

TEST(Dot, SmallOnesUseOurLoops) {
  for (const std::string type : {"f32", "f64", "s32", "u8", "s64", "c64", "c128"}) {
    ExpectStep(Dot(type + "[3,5]", type + "[5,7]", type + "[3,7]", kPlain), {.rtol = 1e-5, .atol = 1e-4});
    ExpectStep(Dot(type + "[5,3]", type + "[7,5]", type + "[3,7]",
                   "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
               {.rtol = 1e-5, .atol = 1e-4});
  }
  for (const std::string type : {"bf16", "f16", "f8e4m3fn"}) {
    ExpectStep(Dot(type + "[3,5]", type + "[5,7]", "f32[3,7]", kPlain), {.rtol = 1e-5, .atol = 1e-4});
    ExpectStep(Dot(type + "[3,5]", type + "[5,7]", type + "[3,7]", kPlain), {.rtol = 2e-2, .atol = 2e-2});
  }
}
// Many short products of a row with a column, whose batches are neighbours in one operand or in none.
TEST(Dot, ManyShortSums) {
  const std::string rows = "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={2}, ";
  for (const std::string type : {"f32", "f64", "s32", "c64", "bf16"}) {
    const std::string out = type == "bf16" ? "f32" : type;
    const auto check = [&](const std::string& lhs, const std::string& rhs, const std::string& batch,
                           const std::string& numbers) {
      ExpectStep(Dot(type + lhs, type + rhs, out + batch, numbers), {.rtol = 1e-5, .atol = 1e-4});
    };
    check("[9,37,4]", "[9,37,4]", "[9,37]", rows + "rhs_contracting_dims={2}");
    check("[9,37,32]", "[32,9,37]", "[9,37]",
          "lhs_batch_dims={0,1}, rhs_batch_dims={1,2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}");
    check("[9,37,3]", "[37,9,3]", "[9,37]",
          "lhs_batch_dims={0,1}, rhs_batch_dims={1,0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}");
    check("[40000,32]", "[40000,32]", "[40000]",
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}");
    check("[400,1]", "[400,1]", "[400]",
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  }
}
// Many matrices of a few rows and columns, in every order of their dimensions, and with one operand for all.
TEST(Dot, ManyTinyMatrices) {
  for (const std::string type : {"f32", "f64", "s32", "bf16"}) {
    const std::string out = type == "bf16" ? "f32" : type;
    const auto check = [&](const std::string& lhs, const std::string& rhs, const std::string& result,
                           const std::string& numbers) {
      ExpectStep(Dot(type + lhs, type + rhs, out + result, numbers), {.rtol = 1e-5, .atol = 1e-4});
    };
    for (const int n : {2, 3, 4}) {
      for (const int k : {2, 3, 4}) {
        const std::string columns = std::to_string(n), depth = std::to_string(k);
        check("[50,3," + depth + "]", "[50," + depth + "," + columns + "]", "[50,3," + columns + "]",
              "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}");
        check(
            "[5,9," + depth + ",8]", "[9,5," + columns + "," + depth + "]", "[5,9,8," + columns + "]",
            "lhs_batch_dims={0,1}, rhs_batch_dims={1,0}, lhs_contracting_dims={2}, rhs_contracting_dims={3}");
      }
    }
    check("[40000,3,3]", "[40000,3,3]", "[40000,3,3]",
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}");
  }
}
TEST(Dot, ByHand) {
  const std::vector<Literal> result = RunStepText(
      Dot("f32[2,3]", "f32[3,2]", "f32[2,2]", kPlain),
      {Literal::Array<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Literal::Array<float>({3, 2}, {1, 0, 0, 1, 1, 1})});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], Literal::Array<float>({2, 2}, {4, 5, 10, 11}));
}
Literal Square(int64_t side, float value) {
  Literal square(Shape::Array(hlo::kF32, {side, side}));
  for (float& element : square.data<float>()) element = value;
  return square;
}
// The products of 1e-40 and 1e30 are 1e-10, but 1e-40 counts as zero. JAX's results on the CPU are zeros,
// too.
TEST(Dot, SubnormalsCountAsZeros) {
  for (const int threads : {1, 2}) {
    for (const int64_t n : {4, 20, 64, 300}) {
      const std::string type = "f32[" + std::to_string(n) + "," + std::to_string(n) + "]";
      const std::vector<Literal> result =
          RunStepText(Dot(type, type, type, kPlain), {Square(n, 1e-40F), Square(n, 1e30F)}, threads);
      ASSERT_EQ(result.size(), 1u);
      EXPECT_EQ(result[0], Square(n, 0)) << n << " " << threads;
    }
  }
  // Afterwards the thread computes as before.
  volatile float tiny = 1e-40F;
  EXPECT_NE(tiny * 1e30F, 0);
}
TEST(Dot, IntegersBecomeFloatsBeforeTheyAreMultiplied) {
  const Literal integers = Literal::Array<int32_t>({2, 2}, {1, 2, 3, 4});
  const std::vector<Literal> f32 =
      RunStepText(Dot("s32[2,2]", "s32[2,2]", "f32[2,2]", kPlain), {integers, integers});
  ASSERT_EQ(f32.size(), 1u);
  EXPECT_EQ(f32[0], Literal::Array<float>({2, 2}, {7, 10, 15, 22}));
  const Literal wide = Literal::Array<int64_t>({2, 2}, {1, 2, 3, 4});
  const std::vector<Literal> f64 = RunStepText(Dot("s64[2,2]", "s64[2,2]", "f64[2,2]", kPlain), {wide, wide});
  ASSERT_EQ(f64.size(), 1u);
  EXPECT_EQ(f64[0], Literal::Array<double>({2, 2}, {7, 10, 15, 22}));
}
// An array whose sums overflow: 32 products of 3 * 3 are 288, and of 200 * 200 are 1,280,000.
template <typename T>
Literal Filled(T value) {
  Literal filled(Shape::Array(hlo::kPrimitiveTypeOf<T>, {32, 32}));
  for (T& element : filled.data<T>()) element = value;
  return filled;
}
template <typename T>
void ExpectWraps(const std::string& type, T factor, T expected) {
  const std::vector<Literal> result =
      RunStepText(Dot(type + "[32,32]", type + "[32,32]", type + "[32,32]", kPlain),
                  {Filled<T>(factor), Filled<T>(factor)});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], Filled<T>(expected)) << type;
}
TEST(Dot, NarrowIntegersWrap) {
  ExpectWraps<int8_t>("s8", 3, 288 - 256);
  ExpectWraps<uint8_t>("u8", 3, 288 - 256);
  ExpectWraps<int16_t>("s16", 200, 1280000 - 20 * 65536);
  ExpectWraps<uint16_t>("u16", 200, 1280000 - 19 * 65536);
}
// The most terms whose sums f32 represents, and more.
template <typename T>
void ExpectSum(const std::string& type, T value, int64_t terms) {
  const auto filled = [&](int64_t rows, int64_t columns) {
    Literal array(Shape::Array(hlo::kPrimitiveTypeOf<T>, {rows, columns}));
    for (T& element : array.data<T>()) element = value;
    return array;
  };
  const std::string n = std::to_string(terms);
  const std::vector<Literal> result =
      RunStepText(Dot(type + "[16," + n + "]", type + "[" + n + ",16]", "s32[16,16]", kPlain),
                  {filled(16, terms), filled(terms, 16)});
  ASSERT_EQ(result.size(), 1u);
  for (const int32_t sum : result[0].data<int32_t>()) ASSERT_EQ(sum, terms * value * value) << type << terms;
}
TEST(Dot, SumsOfBytesAreExact) {
  for (const int64_t terms : {1023, 1024, 1025, 3001}) ExpectSum<int8_t>("s8", -128, terms);
  for (const int64_t terms : {257, 258, 259, 1001}) ExpectSum<uint8_t>("u8", 255, terms);
}
// 16-bit integers are multiplied in pairs by every processor, 8-bit ones by those that do not multiply bytes.
TEST(Dot, IntegersInPairs) {
  for (const auto& [a, b] : {std::pair("s16", "s16"), {"s8", "s16"}, {"u8", "s16"}, {"s16", "u8"}}) {
    for (const std::string rows : {"9", "13", "99"}) {
      for (const std::string columns : {"16", "17", "31", "70"}) {
        for (const std::string depth : {"33", "48", "1030"}) {
          ExpectStep(Dot(a + ("[" + rows + "," + depth + "]"), b + ("[" + depth + "," + columns + "]"),
                         "s32[" + rows + "," + columns + "]", kPlain),
                     {.describe = "[pairs]"});
        }
      }
    }
  }
}
TEST(Dot, BytesOfEverySignAndOrder) {
  const std::string turned = "lhs_contracting_dims={0}, rhs_contracting_dims={1}";
  for (const auto& [a, b] : {std::pair("s8", "s8"), {"u8", "s8"}, {"s8", "u8"}, {"u8", "u8"}}) {
    for (const std::string out : {"s32", "u32", "s16", "u8"}) {
      for (const std::string depth : {"31", "64", "600"}) {
        ExpectStep(Dot(a + ("[23," + depth + "]"), b + ("[" + depth + ",37]"), out + "[23,37]", kPlain));
        ExpectStep(Dot(a + ("[" + depth + ",23]"), b + ("[37," + depth + "]"), out + "[23,37]", turned));
      }
    }
    ExpectStep(Dot(
        a + std::string("[3,40,5,18]"), b + std::string("[5,3,18,40]"), "s32[3,5,40,40]",
        "lhs_batch_dims={0,2}, rhs_batch_dims={1,0}, lhs_contracting_dims={3}, rhs_contracting_dims={2}"));
  }
}
// Sums of the products of the smallest numbers exceed 32 bits, by hand: 2^30 for each.
TEST(Dot, PairsOfTheSmallestNumbersWrap) {
  Literal lhs(Shape::Array(hlo::kS16, {16, 67})), rhs(Shape::Array(hlo::kS16, {67, 16}));
  for (Literal* array : {&lhs, &rhs}) {
    for (int16_t& element : array->data<int16_t>()) element = -32768;
  }
  const std::vector<Literal> result =
      RunStepText(Dot("s16[16,67]", "s16[67,16]", "s32[16,16]", kPlain), {lhs, rhs});
  ASSERT_EQ(result.size(), 1u);
  for (const int32_t sum : result[0].data<int32_t>()) ASSERT_EQ(sum, -(int32_t{1} << 30));
}
TEST(Dot, SubByteIntegersWrap) {
  for (const std::string type : {"s4", "u4", "s2", "u2"})
    ExpectStep(Dot(type + "[23,40]", type + "[40,31]", type + "[23,31]", kPlain));
}
TEST(Dot, PanelsAndTheirEdges) {
  for (const std::string type : {"f64", "s32", "s64", "c64", "c128"}) {
    for (const std::string rows : {"5", "12", "13", "205"}) {
      ExpectStep(Dot(type + "[" + rows + ",530]", type + "[530,43]", type + "[" + rows + ",43]", kPlain),
                 {.rtol = 1e-5, .atol = 1e-3});
    }
  }
}
TEST(Dot, EveryOrderOfAMatrix) {
  for (const std::string type : {"f32", "f64", "bf16", "s8", "f16"}) {
    const std::string out = type == "bf16" || type == "f16" ? "f32" : type == "s8" ? "s32" : type;
    const StepTestOptions options{.rtol = 1e-4, .atol = 2e-2};
    ExpectStep(Dot(type + "[40,50]", type + "[50,60]", out + "[40,60]", kPlain), options);
    ExpectStep(Dot(type + "[50,40]", type + "[50,60]", out + "[40,60]",
                   "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
               options);
    ExpectStep(Dot(type + "[40,50]", type + "[60,50]", out + "[40,60]",
                   "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
               options);
    ExpectStep(Dot(type + "[50,40]", type + "[60,50]", out + "[40,60]",
                   "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
               options);
  }
}
TEST(Dot, UsesOneDnn) {
  ExpectStep(Dot("f32[40,50]", "f32[50,60]", "f32[40,60]", kPlain),
             {.rtol = 1e-4, .atol = 1e-3, .describe = "[oneDNN ", .library = ProductLibrary::kOneDnn});
  ExpectStep(
      Dot("f32[4,16,8,12]", "f32[4,20,8,12]", "f32[4,8,16,20]",
          "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}"),
      {.rtol = 1e-4, .atol = 1e-3, .describe = "[oneDNN ", .library = ProductLibrary::kOneDnn});
}
TEST(Dot, BatchesOfAttention) {
  for (const std::string type : {"f32", "bf16", "f64"}) {
    const std::string out = type == "f64" ? "f64" : "f32";
    const StepTestOptions options{.rtol = 1e-4, .atol = 1e-2};
    // The heads are between sequence and depth, so no single stride describes a copy.
    ExpectStep(
        Dot(type + "[2,33,4,16]", type + "[2,21,4,16]", out + "[2,4,33,21]",
            "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}"),
        options);
    ExpectStep(
        Dot(type + "[2,4,33,21]", type + "[2,21,4,16]", out + "[2,4,33,16]",
            "lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={1}"),
        options);
    ExpectStep(
        Dot(type + "[8,9,10]", type + "[8,10,11]", out + "[8,9,11]",
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
        options);
  }
}
TEST(Dot, DimensionsThatNoStrideJoins) {
  const StepTestOptions options{.rtol = 1e-4, .atol = 1e-2};
  ExpectStep(Dot("f32[6,7,8,9]", "f32[9,7,10]", "f32[6,8,10]",
                 "lhs_contracting_dims={1,3}, rhs_contracting_dims={1,0}"),
             options);
  ExpectStep(Dot("f32[6,7,8,9]", "f32[8,6,10]", "f32[7,9,10]",
                 "lhs_contracting_dims={0,2}, rhs_contracting_dims={1,0}"),
             options);
  ExpectStep(Dot("bf16[6,7,8,9]", "bf16[10,7,11,8]", "f32[6,9,10,11]",
                 "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,3}"),
             options);
  ExpectStep(Dot("f64[6,7,8,9]", "f64[9,7,10]", "f64[6,8,10]",
                 "lhs_contracting_dims={1,3}, rhs_contracting_dims={1,0}"),
             options);
  ExpectStep(Dot("f32[2,3,2,3,4,5]", "f32[3,2,3,2,5,6]", "f32[2,3,2,3,4,6]",
                 "lhs_batch_dims={0,1,2,3}, lhs_contracting_dims={5}, rhs_batch_dims={1,0,3,2}, "
                 "rhs_contracting_dims={4}"),
             options);
}
TEST(Dot, VectorsAndScalars) {
  const StepTestOptions options{.rtol = 1e-4, .atol = 1e-2};
  ExpectStep(Dot("f32[300]", "f32[300]", "f32[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
             options);
  ExpectStep(Dot("f32[9000]", "f32[9000]", "f32[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
             {.rtol = 1e-4, .atol = 0.1});
  ExpectStep(
      Dot("f32[200,100]", "f32[100]", "f32[200]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      options);
  ExpectStep(
      Dot("f32[100,200]", "f32[100]", "f32[200]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      options);
  ExpectStep(
      Dot("f64[100,200]", "f64[100]", "f64[200]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      options);
  ExpectStep(Dot("f32[100]", "f32[120]", "f32[100,120]", "lhs_contracting_dims={}, rhs_contracting_dims={}"),
             options);
  ExpectStep(
      Dot("f32[8,1,50]", "f32[8,50,60]", "f32[8,1,60]",
          "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
      options);
}
TEST(Dot, NothingToSumIsZero) {
  ExpectStep(Dot("f32[3,0]", "f32[0,4]", "f32[3,4]", kPlain));
  ExpectStep(Dot("f32[0,3]", "f32[3,4]", "f32[0,4]", kPlain));
}
TEST(Dot, LargeEnoughForATeam) {
  ExpectStep(Dot("f64[70,300]", "f64[300,90]", "f64[70,90]", kPlain), {.rtol = 1e-11, .atol = 1e-9});
  ExpectStep(Dot("s32[70,300]", "s32[300,90]", "s32[70,90]", kPlain));
  ExpectStep(Dot("c64[70,100]", "c64[100,90]", "c64[70,90]", kPlain), {.rtol = 1e-4, .atol = 1e-2});
}
TEST(Dot, IntegersWrap) {
  const std::vector<Literal> result =
      RunStepText(Dot("s8[1,2]", "s8[2,1]", "s8[1,1]", kPlain),
                  {Literal::Array<int8_t>({1, 2}, {100, 100}), Literal::Array<int8_t>({2, 1}, {2, 1})});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], Literal::Array<int8_t>({1, 1}, {44}));  // 300 - 256
}
TEST(Dot, RunsFromManyThreadsAtOnce) {
  const std::string text = Dot("f32[64,80]", "f32[80,48]", "f32[64,48]", kPlain);
  const std::vector<Literal> arguments = {Sample(Shape::Array(hlo::kF32, {64, 80}), 1),
                                          Sample(Shape::Array(hlo::kF32, {80, 48}), 2)};
  const std::vector<Literal> expected = RunStepText(text, arguments, 1);
  std::vector<std::thread> threads;
  std::vector<int> same(6, 0);
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) same[t] += RunStepText(text, arguments, 1) == expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(6, 20));
}

}  // namespace
}  // namespace hlod::engine
