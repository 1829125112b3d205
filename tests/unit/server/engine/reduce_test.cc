// reduce: all arrangements of kept and reduced dimensions, every reducer and type, and reducers of several
// operands.
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

std::string Reduce(const std::string& op, const std::string& type, const std::string& in,
                   const std::string& out, const std::string& dimensions) {
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT c = " + type +
         "[] " + op + "(a, b)\n}\nENTRY e {\n p0 = " + type + in + " parameter(0)\n p1 = " + type +
         "[] parameter(1)\n ROOT r = " + type + out + " reduce(p0, p1), dimensions={" + dimensions +
         "}, to_apply=f\n}\n";
}

TEST(Reduce, EveryArrangementOfDimensions) {
  const StepTestOptions options{.rtol = 1e-5, .atol = 1e-3};
  ExpectStep(Reduce("add", "f32", "[7,300]", "[7]", "1"), options);
  ExpectStep(Reduce("add", "f32", "[300,7]", "[7]", "0"), options);
  ExpectStep(Reduce("add", "f32", "[5,70,9]", "[5,9]", "1"), options);
  ExpectStep(Reduce("add", "f32", "[5,70,9]", "[70]", "0,2"), options);
  ExpectStep(Reduce("add", "f32", "[5,7,9]", "[]", "0,1,2"), options);
  ExpectStep(Reduce("add", "f32", "[3,4,5,6,7]", "[3,5,7]", "1,3"), options);
  ExpectStep(Reduce("add", "f32", "[3,4,5,6,7]", "[4,6]", "0,2,4"), options);
  ExpectStep(Reduce("add", "f32", "[3,1,5]", "[3,5]", "1"), options);
  ExpectStep(Reduce("add", "f32", "[3,5]", "[3,5]", ""), options);
  ExpectStep(Reduce("add", "f32", "[]", "[]", ""), options);
}
TEST(Reduce, LargeEnoughForATeam) {
  const StepTestOptions options{.rtol = 1e-4, .atol = 2e-1};
  ExpectStep(Reduce("add", "f32", "[300000]", "[]", "0"), options);
  ExpectStep(Reduce("add", "f32", "[100000,3]", "[3]", "0"), options);
  ExpectStep(Reduce("maximum", "f32", "[3,100000]", "[3]", "1"), options);
  ExpectStep(Reduce("add", "f32", "[200,700]", "[700]", "0"), options);
  ExpectStep(Reduce("add", "bf16", "[200,700]", "[200]", "1"), {.rtol = 0.05, .atol = 16});
}
TEST(Reduce, EmptyGivesTheInitialValue) {
  ExpectStep(Reduce("add", "f32", "[4,0]", "[4]", "1"));
  ExpectStep(Reduce("maximum", "s32", "[0,4]", "[4]", "0"));
  ExpectStep(Reduce("add", "f32", "[0,4]", "[0]", "1"));
}
TEST(Reduce, EveryReducerAndType) {
  for (const std::string type :
       {"f32", "f64", "bf16", "f16", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    const bool real = type[0] == 'f' || type[0] == 'b';
    for (const std::string op : {"add", "multiply", "minimum", "maximum", "and", "or", "xor"}) {
      if (real && (op == "and" || op == "or" || op == "xor")) continue;
      const double rtol = type == "bf16" || type == "f16" ? 5e-2 : 1e-5,
                   atol = type == "bf16" || type == "f16" ? 1 : 1e-4;
      ExpectStep(Reduce(op, type, "[5,12]", "[5]", "1"), {.rtol = rtol, .atol = atol});
      ExpectStep(Reduce(op, type, "[12,5]", "[5]", "0"), {.rtol = rtol, .atol = atol});
    }
  }
  for (const std::string op : {"and", "or", "xor", "add", "multiply", "maximum", "minimum"}) {
    ExpectStep(Reduce(op, "pred", "[5,12]", "[5]", "1"));
  }
  for (const std::string type : {"c64", "c128"}) {
    ExpectStep(Reduce("add", type, "[5,40]", "[5]", "1"), {.rtol = 1e-5, .atol = 1e-3});
    ExpectStep(Reduce("multiply", type, "[5,4]", "[5]", "1"), {.rtol = 1e-5, .atol = 1e-3});
  }
}
TEST(Reduce, NanWinsAMaximum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string op : {"minimum", "maximum"}) {
    ExpectStep(Reduce(op, "f32", "[2,3]", "[2]", "1"),
               {.arguments = {{0, Literal::Array<float>({2, 3}, {1, nan, 2, 3, 4, 5})},
                              {1, Literal::Scalar<float>(0)}}});
    ExpectStep(Reduce(op, "f32", "[3,2]", "[2]", "0"),
               {.arguments = {{0, Literal::Array<float>({3, 2}, {1, 2, nan, 3, 4, 5})},
                              {1, Literal::Scalar<float>(0)}}});
  }
}
TEST(Reduce, ExtremaOfHalvesHaveTheirNanAndZeros) {
  const auto numbers = [](int64_t rows, int64_t columns, int64_t nan_at) {
    Literal literal(hlo::Shape::Array(hlo::kF16, {rows, columns}));
    int64_t i = 0;
    for (hlo::F16& x : literal.data<hlo::F16>()) {
      x = hlo::F16(static_cast<float>(i * 37 % 101 - 50));
      if (i % 7 == 0) x = hlo::F16::FromBits(i % 2 == 0 ? 0x8000 : 0);
      if (i++ == nan_at) x = hlo::F16::FromBits(0xfe00);  // A NaN whose sign bit is set.
    }
    return literal;
  };
  for (const std::string op : {"minimum", "maximum"}) {
    for (const int64_t nan_at : {-1, 0, 211, 5 * 300 - 1}) {
      const std::map<int, Literal> arguments = {{0, numbers(5, 300, nan_at)},
                                                {1, Literal::Scalar<hlo::F16>(hlo::F16(0.f))}};
      ExpectStep(Reduce(op, "f16", "[5,300]", "[5]", "1"), {.arguments = arguments});
      ExpectStep(Reduce(op, "f16", "[5,300]", "[300]", "0"), {.arguments = arguments});
      ExpectStep(Reduce(op, "f16", "[5,300]", "[]", "0,1"), {.arguments = arguments});
    }
  }
}
// Boxes of a few rows each, of columns that fill parts of registers; and rows of one output that are joined
// before their elements are.
TEST(Reduce, BoxesAndRowsAcross) {
  for (const std::string type : {"f32", "f64", "bf16", "s8", "u16", "s32"}) {
    for (const std::string op : {"add", "maximum", "minimum"}) {
      const bool small = type == "bf16";
      const StepTestOptions options{.rtol = small ? 2e-2 : 1e-5, .atol = small ? 0.5 : 1e-3};
      ExpectStep(Reduce(op, type, "[8,9,2,5,2,7]", "[8,9,5,7]", "2,4"), options);
      ExpectStep(Reduce(op, type, "[70,2,2,3,21]", "[70,2,21]", "1,3"), options);
      ExpectStep(Reduce(op, type, "[65,3,64]", "[65,64]", "1"), options);
      ExpectStep(Reduce(op, type, "[12,5,33]", "[5]", "0,2"), options);
      ExpectStep(Reduce(op, type, "[100,3,2]", "[3]", "0,2"), options);
      ExpectStep(Reduce(op, type, "[9,2,256]", "[2]", "0,2"), options);
    }
  }
  Literal numbers(hlo::Shape::Array(hlo::kF32, {70, 2, 10}));
  for (int i = 0; i < 1400; ++i) {
    const float zero = i % 2 == 0 ? -0.0f : 0.0f;
    numbers.data<float>()[i] = i % 33 == 0  ? std::numeric_limits<float>::quiet_NaN()
                               : i % 3 == 0 ? -5.f
                                            : zero;
  }
  for (const std::string op : {"minimum", "maximum"}) {
    const std::map<int, Literal> arguments = {{0, numbers},
                                              {1, Literal::Scalar<float>(op == "minimum" ? 1 : -1)}};
    ExpectStep(Reduce(op, "f32", "[70,2,10]", "[70,10]", "1"), {.arguments = arguments});
    ExpectStep(Reduce(op, "f32", "[70,2,10]", "[2]", "0,2"), {.arguments = arguments});
  }
  ExpectStep(Reduce("add", "c64", "[70,3,6]", "[70,6]", "1"), {.rtol = 1e-5, .atol = 1e-5});
  ExpectStep(Reduce("and", "pred", "[70,3,6]", "[70,6]", "1"));
}
// Short rows are joined 64 at a time.
TEST(Reduce, ManyShortRows) {
  for (const std::string op : {"minimum", "maximum"}) {
    for (const std::string type : {"f32", "f64", "bf16", "f16", "s8", "u16", "s32", "u64"}) {
      ExpectStep(Reduce(op, type, "[3,65,2]", "[3,65]", "2"));
      ExpectStep(Reduce(op, type, "[130,15]", "[130]", "1"));
    }
    Literal numbers(hlo::Shape::Array(hlo::kF32, {131, 5}));
    for (int i = 0; i < 131 * 5; ++i) {
      const float zero = i % 2 == 0 ? -0.0f : 0.0f;
      numbers.data<float>()[i] = i % 33 == 0  ? std::numeric_limits<float>::quiet_NaN()
                                 : i % 3 == 0 ? -5.f
                                              : zero;
    }
    ExpectStep(Reduce(op, "f32", "[131,5]", "[131]", "1"),
               {.arguments = {{0, numbers}, {1, Literal::Scalar<float>(op == "minimum" ? 1 : -1)}}});
  }
  ExpectStep(Reduce("add", "f32", "[20000,4]", "[20000]", "1"), {.rtol = 1e-5, .atol = 1e-5});
  ExpectStep(Reduce("add", "s32", "[129,7]", "[129]", "1"));
  ExpectStep(Reduce("and", "pred", "[200,3]", "[200]", "1"));
  ExpectStep(Reduce("add", "c64", "[70,3]", "[70]", "1"), {.rtol = 1e-5, .atol = 1e-5});
}
TEST(Reduce, AMillionTenthsAddUp) {
  Literal tenths(hlo::Shape::Array(hlo::kF32, {1 << 20}));
  for (float& x : tenths.data<float>()) x = 0.1f;
  const std::vector<Literal> sum =
      RunStepText(Reduce("add", "f32", "[1048576]", "[]", "0"), {tenths, Literal::Scalar<float>(0)});
  ASSERT_EQ(sum.size(), 1u);
  EXPECT_NEAR(sum[0].data<float>()[0], 104857.6, 0.02);
}

const char kArgMax[] = R"(f {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  first = pred[] or(gt, nan)
  v = f32[] select(first, a, b)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  pick = pred[] or(first, tie)
  k = s32[] select(pick, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
)";
std::string ArgMax(const std::string& in, const std::string& out, const std::string& dimension) {
  return std::string(kArgMax) + "ENTRY e {\n p0 = f32" + in + " parameter(0)\n p1 = s32" + in +
         " parameter(1)\n p2 = f32[] parameter(2)\n p3 = s32[] parameter(3)\n ROOT r = (f32" + out + ", s32" +
         out + ") reduce(p0, p1, p2, p3), dimensions={" + dimension + "}, to_apply=f\n}\n";
}
TEST(Reduce, ArgMaxOverAnyDimension) {
  const std::map<int, Literal> inits = {{2, Literal::Scalar<float>(-std::numeric_limits<float>::infinity())},
                                        {3, Literal::Scalar<int32_t>(0)}};
  ExpectStep(ArgMax("[1000]", "[]", "0"), {.arguments = inits});
  ExpectStep(ArgMax("[3,1000]", "[3]", "1"), {.arguments = inits});
  ExpectStep(ArgMax("[1000,3]", "[3]", "0"), {.arguments = inits});
  ExpectStep(ArgMax("[500,7]", "[500]", "1"), {.arguments = inits});
  ExpectStep(ArgMax("[700,83]", "[700]", "1"), {.arguments = inits});
  ExpectStep(ArgMax("[7,500]", "[500]", "0"), {.arguments = inits});
  ExpectStep(ArgMax("[3,50,4,9]", "[3,9]", "1,2"), {.arguments = inits});
  ExpectStep(ArgMax("[4,0]", "[4]", "1"), {.arguments = inits});
  ExpectStep(ArgMax("[4,0,3]", "[4,3]", "1"), {.arguments = inits});
  ExpectStep(ArgMax("[0,5,3]", "[0,3]", "1"), {.arguments = inits});
}
// The forms of an argmax's reducer: with the rule that the lower of two places wins, and without.
struct ArgForm {
  const char* direction;
  bool nan, lower;
};
constexpr ArgForm kArgForms[] = {{"GT", true, true},   {"LT", true, true},   {"GT", false, true},
                                 {"GE", false, false}, {"LE", false, false}, {"LT", false, false}};

std::string ArgReduce(const ArgForm& form, const std::string& type, const std::string& place,
                      const std::string& in, const std::string& out, const std::string& dimension) {
  const std::string t = type + "[]", p = place + "[]";
  std::string text = "f {\n a = " + t + " parameter(0)\n i = " + p + " parameter(1)\n b = " + t +
                     " parameter(2)\n j = " + p +
                     " parameter(3)\n better = pred[] compare(a, b), direction=" + form.direction +
                     "\n nan = pred[] compare(a, a), direction=NE\n" +
                     " either = pred[] or(better, nan)\n equal = pred[] compare(a, b), direction=EQ\n" +
                     " less = pred[] compare(i, j), direction=LT\n tie = pred[] and(equal, less)\n";
  const std::string first = form.nan ? "either" : "better";
  text += " kept = pred[] or(" + first + ", tie)\n v = " + t + " select(" + first + ", a, b)\n k = " + p +
          " select(" + (form.lower ? "kept" : first) + ", i, j)\n ROOT t = (" + t + ", " + p +
          ") tuple(v, k)\n}\n";
  return text + "ENTRY e {\n p0 = " + type + in + " parameter(0)\n p1 = " + t + " parameter(1)\n p2 = " + p +
         " parameter(2)\n p3 = " + place + in + " iota(), iota_dimension=" + dimension + "\n ROOT r = (" +
         type + out + ", " + place + out + ") reduce(p0, p3, p1, p2), dimensions={" + dimension +
         "}, to_apply=f\n}\n";
}
// Numbers with ties and zeros of both signs; each `nan_every`th is NaN, if there are NaNs.
template <typename T>
Literal Ties(const hlo::Shape& shape, int nan_every) {
  Literal literal(shape);
  int64_t i = 0;
  for (T& x : literal.data<T>()) {
    const int64_t number = i * 7919 % 1009 % 13 - 12;
    x = T(static_cast<float>(number + (i % 2 == 0 ? 6 : 0)));
    if constexpr (!std::numeric_limits<T>::is_integer) {
      if (number == -12) x = T(-0.f);
      if (nan_every > 0 && i % nan_every == nan_every - 1) x = T(std::numeric_limits<float>::quiet_NaN());
    }
    ++i;
  }
  return literal;
}
template <typename T>
void ExpectArgReduce(const ArgForm& form, const std::string& type, const std::string& place,
                     const std::string& in, const std::string& out, const std::string& dimension,
                     int nan_every, float init) {
  const auto module = hlo::ParseModule(ArgReduce(form, type, place, in, out, dimension));
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::Instruction values = (*module)->entry()[(*module)->entry().parameters()[0]];
  const std::vector<Literal> arguments = {
      Ties<T>(values.shape(), nan_every), Literal::Scalar<T>(T(init)),
      place == "s64" ? Literal::Scalar<int64_t>(2) : Literal::Scalar<int32_t>(2)};
  const auto plan = Compile(**module, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->stats().steps, 1) << "The positions are made, too.";
  const auto results = RunPlan(**plan, arguments), expected = RunEvaluator(**module, arguments);
  ASSERT_TRUE(results.ok() && expected.ok()) << results.status() << expected.status();
  for (size_t r = 0; r < 2; ++r)
    EXPECT_EQ(Difference((*results)[r], (*expected)[r], 0, 0), "")
        << form.direction << form.nan << form.lower << " " << type << in << " over " << dimension << " NaN "
        << nan_every << " result " << r;
}

TEST(Reduce, ExtremaAndTheirPlacesReadTheValuesOnly) {
  for (const ArgForm& form : kArgForms) {
    for (const int nan_every : {0, 37, 1000}) {
      ExpectArgReduce<float>(form, "f32", "s32", "[5,301]", "[5]", "1", nan_every, -1e9f);
      ExpectArgReduce<float>(form, "f32", "s32", "[301,21]", "[21]", "0", nan_every, 1e9f);
      ExpectArgReduce<double>(form, "f64", "s64", "[3,70,4]", "[3,4]", "1", nan_every, 0);
      ExpectArgReduce<hlo::BF16>(form, "bf16", "s32", "[5,301]", "[5]", "1", nan_every, -1e9f);
      ExpectArgReduce<hlo::F16>(form, "f16", "s32", "[301,5]", "[5]", "0", nan_every, 0);
    }
    ExpectArgReduce<int32_t>(form, "s32", "s32", "[5,301]", "[5]", "1", 0, -100);
    ExpectArgReduce<int8_t>(form, "s8", "s32", "[9,20]", "[9]", "1", 0, 100);
    ExpectArgReduce<int64_t>(form, "s64", "s64", "[301,5]", "[5]", "0", 0, 0);
    for (const float init : {0.f, 1.f}) {
      ExpectArgReduce<bool>(form, "pred", "s32", "[5,301]", "[5]", "1", 0, init);
      ExpectArgReduce<bool>(form, "pred", "s64", "[301,5]", "[5]", "0", 0, init);
    }
  }
}
// Lines side by side are joined in vectors, whose last ones read beyond a row; short lines are transposed.
TEST(Reduce, PlacesInLinesSideBySide) {
  for (const ArgForm& form : kArgForms) {
    for (const int nan_every : {0, 5, 37}) {
      for (const float init : {-1e9f, 1e9f, 0.f, std::numeric_limits<float>::quiet_NaN()}) {
        ExpectArgReduce<float>(form, "f32", "s32", "[3,12,12]", "[3,12]", "1", nan_every, init);
        ExpectArgReduce<float>(form, "f32", "s32", "[130,3]", "[130]", "1", nan_every, init);
      }
      ExpectArgReduce<float>(form, "f32", "s32", "[2,3]", "[3]", "0", nan_every, 0);
      ExpectArgReduce<float>(form, "f32", "s32", "[5,2,2]", "[5,2]", "1", nan_every, 0);
      ExpectArgReduce<float>(form, "f32", "s64", "[2,200,300]", "[2,300]", "1", nan_every, 0);
      ExpectArgReduce<float>(form, "f32", "s32", "[200,64]", "[200]", "1", nan_every, 0);
      ExpectArgReduce<double>(form, "f64", "s32", "[4,7,37]", "[4,37]", "1", nan_every, 0);
      ExpectArgReduce<double>(form, "f64", "s64", "[129,9]", "[129]", "1", nan_every, 0);
      ExpectArgReduce<hlo::BF16>(form, "bf16", "s32", "[131,10]", "[131]", "1", nan_every, -1e9f);
      ExpectArgReduce<hlo::F16>(form, "f16", "s32", "[3,70,150]", "[3,150]", "1", nan_every, 0);
    }
    ExpectArgReduce<int32_t>(form, "s32", "s32", "[4,6,35]", "[4,35]", "1", 0, -100);
    ExpectArgReduce<uint8_t>(form, "u8", "s64", "[40,9]", "[40]", "1", 0, 100);
    ExpectArgReduce<int16_t>(form, "s16", "s32", "[3,9,20]", "[3,20]", "1", 0, 0);
    ExpectArgReduce<uint32_t>(form, "u32", "s32", "[3,9,20]", "[3,20]", "1", 0, 3e9f);
    ExpectArgReduce<uint64_t>(form, "u64", "s64", "[301,21]", "[21]", "0", 0, 0);
    ExpectArgReduce<bool>(form, "pred", "s32", "[4,6,35]", "[4,35]", "1", 0, 0);
    ExpectArgReduce<bool>(form, "pred", "s32", "[130,3]", "[130]", "1", 0, 1);
  }
}
// The initial place does not fit into the lanes of places: only the elements' do.
TEST(Reduce, AnInitialPlaceOfManyBitsIsKept) {
  const auto module = hlo::ParseModule(ArgReduce(kArgForms[0], "f32", "s64", "[2,3,17]", "[2,17]", "1"));
  ASSERT_TRUE(module.ok());
  const Literal values = Ties<float>(hlo::Shape::Array(hlo::kF32, {2, 3, 17}), 0);
  for (const int64_t place : {int64_t{1} << 40, -(int64_t{1} << 40)}) {
    for (const float init : {5.f, 1000.f}) {
      const std::vector<Literal> arguments = {values, Literal::Scalar<float>(init),
                                              Literal::Scalar<int64_t>(place)};
      const auto plan = Compile(**module, {});
      ASSERT_TRUE(plan.ok());
      const auto results = RunPlan(**plan, arguments), expected = RunEvaluator(**module, arguments);
      ASSERT_TRUE(results.ok() && expected.ok());
      for (size_t r = 0; r < 2; ++r)
        EXPECT_EQ(Difference((*results)[r], (*expected)[r], 0, 0), "") << place << " " << init;
    }
  }
}
TEST(Reduce, PlacesInLinesOfSeveralPiecesAndChunks) {
  for (const ArgForm& form : {kArgForms[0], kArgForms[1], kArgForms[5]}) {
    ExpectArgReduce<float>(form, "f32", "s32", "[70000]", "[]", "0", 0, 0);
    if (form.nan) ExpectArgReduce<float>(form, "f32", "s32", "[70000]", "[]", "0", 30000, 0);
    ExpectArgReduce<bool>(form, "pred", "s32", "[70000]", "[]", "0", 0, 0);
    ExpectArgReduce<float>(form, "f32", "s32", "[2,5000]", "[2]", "1", 0, 0);
    ExpectArgReduce<float>(form, "f32", "s32", "[5000,3]", "[3]", "0", 0, 0);
  }
}
TEST(Reduce, PlacesOfRowsThatRise) {  // The best is in the last piece, and beyond the first chunk.
  const auto module = hlo::ParseModule(ArgReduce(kArgForms[0], "f32", "s32", "[100000]", "[]", "0"));
  ASSERT_TRUE(module.ok());
  Literal rising(hlo::Shape::Array(hlo::kF32, {100000}));
  for (int i = 0; i < 100000; ++i) rising.data<float>()[i] = static_cast<float>(i / 10);
  const auto plan = Compile(**module, {});
  ASSERT_TRUE(plan.ok());
  const auto results = RunPlan(**plan, {rising, Literal::Scalar<float>(0), Literal::Scalar<int32_t>(0)});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].data<float>()[0], 9999);
  EXPECT_EQ((*results)[1].data<int32_t>()[0], 99990);
}

TEST(Reduce, AReducerThatDoesNotCommuteKeepsItsOrder) {
  // The reducer "the last element" is associative, but not commutative.
  ExpectStep(R"(f {
    a = s32[] parameter(0)
    ROOT b = s32[] parameter(1)
  }
  ENTRY e {
    p0 = s32[4,1000] parameter(0)
    p1 = s32[] parameter(1)
    ROOT r = s32[4] reduce(p0, p1), dimensions={1}, to_apply=f
  })");
  // The same reducer over rows longer than one block, for every element width.
  for (const std::string type : {"s8", "f16", "s32", "f64", "c128"}) {
    ExpectStep("f {\n a = " + type + "[] parameter(0)\n ROOT b = " + type +
               "[] parameter(1)\n}\nENTRY e {\n p0 = " + type + "[601,131] parameter(0)\n p1 = " + type +
               "[] parameter(1)\n ROOT r = " + type +
               "[601] reduce(p0, p1), dimensions={1}, to_apply=f\n}\n");
  }
  // The reducer sqrt(a^2 + b^2).
  ExpectStep(R"(f {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    aa = f32[] multiply(a, a)
    bb = f32[] multiply(b, b)
    s = f32[] add(aa, bb)
    ROOT r = f32[] sqrt(s)
  }
  ENTRY e {
    p0 = f32[4,300] parameter(0)
    p1 = f32[] parameter(1)
    ROOT r = f32[4] reduce(p0, p1), dimensions={1}, to_apply=f
  })",
             {.rtol = 1e-5, .atol = 1e-4});
}
TEST(Reduce, RareTypesGoThroughTheGeneralPath) {
  ExpectStep(Reduce("maximum", "f8e4m3fn", "[5,12]", "[5]", "1"));
  ExpectStep(Reduce("add", "s4", "[5,12]", "[5]", "1"));
}

}  // namespace
}  // namespace hlod::engine
