// gather and scatter: all kinds of dimension numbers, indices in and out of range, every combiner, compared
// with the evaluator.
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

// Indices in [-2, range + 2), so that some are out of range.
template <typename T>
Literal Indices(std::initializer_list<int64_t> dims, int64_t range) {
  Literal literal(Shape::Array(hlo::kPrimitiveTypeOf<T>, dims));
  uint32_t state = 7;
  for (T& index : literal.data<T>()) {
    state = state * 1664525u + 1013904223u;
    index = static_cast<T>(static_cast<int64_t>((state >> 8) % static_cast<uint32_t>(range + 4)) - 2);
  }
  return literal;
}

void Gather(const std::string& operand, const std::string& indices, const std::string& out,
            const std::string& numbers, const Literal& values) {
  ExpectStep("ENTRY e {\n p0 = " + operand + " parameter(0)\n p1 = " + indices +
                 " parameter(1)\n ROOT r = " + out + " gather(p0, p1), " + numbers + "\n}\n",
             {.arguments = {{1, values}}});
}

TEST(Gather, RowsOfATable) {
  for (const std::string type : {"f32", "bf16", "s8", "c128", "f64"}) {
    Gather(type + "[50,24]", "s32[4,11]", type + "[4,11,24]",
           "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, "
           "slice_sizes={1,24}",
           Indices<int32_t>({4, 11}, 50));
  }
  Gather("f32[500,64]", "s32[3000]", "f32[3000,64]",
         "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
         "slice_sizes={1,64}",
         Indices<int32_t>({3000}, 500));
}
// Windows that lie side by side in the result: columns by number, in blocks and across them, between
// dimensions, with two operands' dimensions in the window.
TEST(Gather, ColumnsOfATable) {
  for (const std::string type : {"f32", "bf16", "s8", "c128", "f64"}) {
    Gather(type + "[70,50]", "s32[11]", type + "[70,11]",
           "offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
           "slice_sizes={70,1}",
           Indices<int32_t>({11}, 50));
  }
  Gather("f32[3,40,500]", "s64[700]", "f32[3,40,700]",
         "offset_dims={0,1}, collapsed_slice_dims={2}, start_index_map={2}, index_vector_dim=1, "
         "slice_sizes={3,40,1}",
         Indices<int64_t>({700}, 500));
  Gather("f32[90,40]", "s32[9,12]", "f32[80,9,12]",
         "offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, "
         "slice_sizes={80,1}",
         Indices<int32_t>({9, 12}, 40));
}
// Short runs side by side: columns of vectors, by signed and unsigned numbers.
TEST(Gather, ColumnsOfRuns) {
  for (const std::string type : {"f32", "bf16", "s8", "c128", "f64"}) {
    for (const std::string run : {"2", "5", "16"}) {
      Gather(type + "[4,6,20," + run + "]", "s32[30]", type + "[4,6,30," + run + "]",
             "offset_dims={0,1,3}, collapsed_slice_dims={2}, start_index_map={2}, index_vector_dim=1, "
             "slice_sizes={4,6,1," +
                 run + "}",
             Indices<int32_t>({30}, 20));
    }
  }
  Gather("f32[9,20,3]", "u32[700]", "f32[9,700,3]",
         "offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
         "slice_sizes={9,1,3}",
         Indices<uint32_t>({700}, 20));
  Gather("f32[20]", "u32[700]", "f32[700]",
         "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
         Indices<uint32_t>({700}, 20));
}
TEST(Gather, SingleElements) {
  for (const std::string type : {"f32", "bf16", "s8", "f64", "c128"}) {
    Gather(type + "[6,9]", "s64[5,2]", type + "[5]",
           "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1, "
           "slice_sizes={1,1}",
           Indices<int64_t>({5, 2}, 9));
  }
}
TEST(Gather, UnsignedPlaces) {
  Gather("f32[20]", "u32[700]", "f32[700]",
         "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
         Indices<uint32_t>({700}, 20));
  Gather("f32[20,30]", "u32[2,700]", "f32[700]",
         "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, "
         "slice_sizes={1,1}",
         Indices<uint32_t>({2, 700}, 20));
}
TEST(Gather, LongListsOfSingleElements) {
  for (const std::string type : {"pred", "f8e5m2", "f16", "f32", "c64", "c128"}) {
    Gather(type + "[90]", "s32[1100,1]", type + "[1100]",
           "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
           "slice_sizes={1}",
           Indices<int32_t>({1100, 1}, 90));
    Gather(type + "[9,10]", "s64[600]", type + "[600,10]",
           "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
           "slice_sizes={1,10}",
           Indices<int64_t>({600}, 9));
  }
}
TEST(Gather, BatchingDimensions) {
  Gather("f32[32,10]", "s32[32,1,1]", "f32[32,1]",
         "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
         "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}",
         Indices<int32_t>({32, 1, 1}, 10));
  Gather("f32[3,7,4,5]", "s32[4,6,3]", "f32[4,6,3,2]",
         "offset_dims={3}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0,2}, "
         "start_indices_batching_dims={2,0}, index_vector_dim=3, slice_sizes={1,1,1,2}",
         Indices<int32_t>({4, 6, 3}, 7));
}
// Gathers all channels of an image at given points: the elements of a window are not adjacent in the operand,
// nor in the result.
TEST(Gather, ScatteredWindowsOfAFewElements) {
  for (const std::string type : {"s8", "bf16", "f32", "f64", "c128"}) {
    Gather(type + "[2,3,50]", "s64[2,700]", type + "[2,3,700]",
           "offset_dims={1}, collapsed_slice_dims={2}, start_index_map={2}, operand_batching_dims={0}, "
           "start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,3,1}",
           Indices<int64_t>({2, 700}, 50));
  }
  Gather("f32[5,6,7]", "s32[2,40,9]", "f32[40,3,9,2]",
         "offset_dims={1,3}, collapsed_slice_dims={1}, start_index_map={0,2}, index_vector_dim=0, "
         "slice_sizes={3,1,2}",
         Indices<int32_t>({2, 40, 9}, 6));
}
// Index vectors and batches with several strides.
TEST(Gather, RunsOfIndices) {
  Gather("f32[4,5,600]", "s32[5,4,300]", "f32[5,4,300]",
         "offset_dims={}, collapsed_slice_dims={2}, start_index_map={2}, operand_batching_dims={0,1}, "
         "start_indices_batching_dims={1,0}, index_vector_dim=3, slice_sizes={1,1,1}",
         Indices<int32_t>({5, 4, 300}, 600));
  Gather("f32[30,40]", "s64[2,700]", "f32[700]",
         "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=0, "
         "slice_sizes={1,1}",
         Indices<int64_t>({2, 700}, 30));
  Gather("f32[7]", "s32[3,2,5,1]", "f32[3,2,5]",
         "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=3, slice_sizes={1}",
         Indices<int32_t>({3, 2, 5, 1}, 7));
}
TEST(Gather, WindowsInTheMiddleOfTheResult) {
  Gather("f32[10,8,6]", "u8[2,5]", "f32[3,5,2,6]",
         "offset_dims={0,2,3}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=0, "
         "slice_sizes={3,2,6}",
         [] {
           Literal literal(Shape::Array(hlo::kU8, {2, 5}));
           for (size_t i = 0; i < 10; ++i) literal.data<uint8_t>()[i] = static_cast<uint8_t>(i * 27);
           return literal;
         }());
  Gather("s32[10,8,6]", "s32[5]", "s32[6,5,4,1]",
         "offset_dims={0,2,3}, collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=1, "
         "slice_sizes={6,4,1}",
         Indices<int32_t>({5}, 8));
  Gather(
      "f32[4,4]", "s32[0,1]", "f32[0,4]",
      "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
      Literal(Shape::Array(hlo::kS32, {0, 1})));
}

std::string Scatter(const std::string& op, const std::string& type, const std::string& operand,
                    const std::string& indices, const std::string& updates, const std::string& numbers) {
  const std::string root = op == "second" ? "" : " ROOT c = " + type + "[] " + op + "(a, b)\n";
  return "f {\n a = " + type + "[] parameter(0)\n " + (op == "second" ? "ROOT " : "") + "b = " + type +
         "[] parameter(1)\n" + root + "}\nENTRY e {\n p0 = " + type + operand +
         " parameter(0)\n p1 = " + indices + " parameter(1)\n p2 = " + type + updates +
         " parameter(2)\n ROOT r = " + type + operand + " scatter(p0, p1, p2), " + numbers +
         ", to_apply=f\n}\n";
}
const char kRows[] =
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

struct OneWindow {
  std::string op, table, update, numbers;
  int64_t indices;
};
// A loop of 40 iterations, each of which scatters one window of `type` at its own indices of type `index`.
std::string ScatterLoop(const OneWindow& c, const std::string& type, const std::string& index) {
  const std::string n = std::to_string(c.indices), table = type + c.table, places = index + "[40," + n + "]";
  const std::string state = "(s32[], " + table + ", " + places + ", " + type + "[40])";
  const std::string variables =
      " p = " + state + " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = " + table +
      " get-tuple-element(p), index=1\n m = " + places + " get-tuple-element(p), index=2\n v = " + type +
      "[40] get-tuple-element(p), index=3\n o = s32[] constant(0)\n";
  const std::string window = " w = " + index + "[1," + n +
                             "] dynamic-slice(m, i, o), dynamic_slice_sizes={1," + n + "}\n at = " + index +
                             "[" + n + "] reshape(w)\n y = " + type +
                             "[1] dynamic-slice(v, i), dynamic_slice_sizes={1}\n z = " + type +
                             "[] reshape(y)\n u = " + type + c.update + " broadcast(z), dimensions={}\n";
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT c = " + type +
         "[] " + c.op + "(a, b)\n}\nbody {\n" + variables + window + " r = " + table +
         " scatter(x, at, u), " + c.numbers +
         ", index_vector_dim=0, to_apply=f\n one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT t = " +
         state + " tuple(j, r, m, v)\n}\ncondition {\n p = " + state +
         " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n e = s32[] constant(40)\n"
         " ROOT l = pred[] compare(i, e), direction=LT\n}\nENTRY e {\n x = " +
         table + " parameter(0)\n m = " + places + " parameter(1)\n v = " + type +
         "[40] parameter(2)\n o = s32[] constant(0)\n s = " + state + " tuple(o, x, m, v)\n w = " + state +
         " while(s), condition=condition, body=body\n ROOT r = " + table +
         " get-tuple-element(w), index=1\n}\n";
}

void ExpectLoop(const std::string& text, Literal indices) {
  const auto module = hlo::ParseModule("HloModule test\n" + text);
  ASSERT_TRUE(module.ok()) << module.status() << text;
  std::vector<Literal> arguments;
  for (const hlo::NodeId id : (*module)->entry().parameters())
    arguments.push_back(Sample((*module)->entry()[id].shape(), static_cast<uint32_t>(arguments.size()) + 1));
  arguments[1] = std::move(indices);
  const auto plan = Compile(**module, {});
  ASSERT_TRUE(plan.ok()) << plan.status() << text;
  const auto expected = RunEvaluator(**module, arguments), actual = RunPlan(**plan, arguments);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status() << text;
  EXPECT_EQ(Difference((*actual)[0], (*expected)[0], 1e-6, 1e-6), "") << text;
}

// Loops read, combine and write one window per iteration; windows that are not wholly inside change nothing.
TEST(Scatter, OneWindowPerIterationOfALoop) {
  const std::vector<OneWindow> cases = {
      {"add", "[20]", "[]",
       "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}", 1},
      {"maximum", "[7,5]", "[]",
       "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}", 2},
      {"multiply", "[9,6]", "[6]",
       "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}", 1},
      {"add", "[9,6]", "[3,6]",
       "update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}", 1}};
  for (const OneWindow& c : cases) {
    for (const std::string type : {"f32", "f64", "s32", "u64"}) {
      ExpectLoop(ScatterLoop(c, type, "s32"), Indices<int32_t>({40, c.indices}, 6));
      ExpectLoop(ScatterLoop(c, type, "s64"), Indices<int64_t>({40, c.indices}, 6));
    }
  }
}

TEST(Scatter, RowsWithRepeatsAddInOrder) {
  for (const std::string type : {"f32", "bf16", "s32", "f64", "c64", "u8"}) {
    ExpectStep(Scatter("add", type, "[20,24]", "s32[100,1]", "[100,24]", kRows),
               {.rtol = type == "bf16" ? 2e-2 : 1e-6,
                .atol = type == "bf16" ? 0.5 : 1e-5,
                .arguments = {{1, Indices<int32_t>({100, 1}, 20)}}});
  }
  ExpectStep(Scatter("add", "f32", "[200,64]", "s32[3000,1]", "[3000,64]", kRows),
             {.rtol = 1e-6, .atol = 1e-5, .arguments = {{1, Indices<int32_t>({3000, 1}, 200)}}});
}
// Rows of whole parts of eight elements, of less, and of both; all indices in range, or some out of it.
TEST(Scatter, ShortRowsOfAllLengths) {
  for (const int width : {2, 4, 7, 8, 11, 12, 16, 19}) {
    const std::string row = "," + std::to_string(width) + "]";
    for (const int64_t range : {50, 55}) {
      for (const std::string type : {"f32", "s8", "f64", "f16"}) {
        for (const std::string op : {"maximum", "second"}) {
          ExpectStep(Scatter(op, type, "[50" + row, "s32[700,1]", "[700" + row, kRows),
                     {.arguments = {{1, Indices<int32_t>({700, 1}, range)}}});
        }
      }
      ExpectStep(Scatter("add", "f32", "[50" + row, "s64[700,1]", "[700" + row, kRows),
                 {.rtol = 1e-5, .atol = 1e-4, .arguments = {{1, Indices<int64_t>({700, 1}, range)}}});
    }
  }
}
// Windows that lie side by side in the updates: columns by number, with repeats, in order, out of range.
TEST(Scatter, ColumnsWithRepeatsAddInOrder) {
  const std::string columns =
      "update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
      "index_vector_dim=1";
  for (const std::string type : {"f32", "s32", "f64", "c64", "u8"}) {
    for (const std::string op : {"add", "second"}) {
      ExpectStep(Scatter(op, type, "[70,50]", "s32[90,1]", "[70,90]", columns),
                 {.rtol = 1e-6, .atol = 1e-5, .arguments = {{1, Indices<int32_t>({90, 1}, 50)}}});
    }
  }
  ExpectStep(Scatter("add", "f32", "[3,20,60]", "s64[700,1]", "[3,20,700]",
                     "update_window_dims={0,1}, inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, "
                     "index_vector_dim=1"),
             {.rtol = 1e-5, .atol = 1e-5, .arguments = {{1, Indices<int64_t>({700, 1}, 60)}}});
  // Windows that overlap one another keep the order of the updates.
  ExpectStep(Scatter("second", "f32", "[12,30]", "s32[40,1]", "[5,40]",
                     "update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={0}, "
                     "index_vector_dim=1"),
             {.arguments = {{1, Indices<int32_t>({40, 1}, 12)}}});
}
TEST(Scatter, EveryCombiner) {
  for (const std::string op :
       {"add", "multiply", "minimum", "maximum", "and", "or", "xor", "second", "subtract"}) {
    ExpectStep(Scatter(op, "s32", "[20,3]", "s32[30,1]", "[30,3]", kRows),
               {.arguments = {{1, Indices<int32_t>({30, 1}, 20)}}});
  }
  for (const std::string op : {"add", "multiply", "minimum", "maximum", "second", "divide"}) {
    ExpectStep(Scatter(op, "f32", "[20]", "s32[9,1]", "[9]",
                       "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                       "index_vector_dim=1"),
               {.rtol = 1e-6, .atol = 1e-6, .arguments = {{1, Indices<int32_t>({9, 1}, 20)}}});
  }
}
constexpr char kPoints[] =
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";
TEST(Scatter, SmallFloats) {
  for (const std::string type : {"f16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz"}) {
    for (const std::string op : {"minimum", "maximum", "second"}) {
      ExpectStep(Scatter(op, type, "[20,3]", "s32[30,1]", "[30,3]", kRows),
                 {.rtol = 0, .atol = 0, .arguments = {{1, Indices<int32_t>({30, 1}, 20)}}});
      ExpectStep(Scatter(op, type, "[20]", "s64[1100,1]", "[1100]", kPoints),
                 {.rtol = 0, .atol = 0, .arguments = {{1, Indices<int64_t>({1100, 1}, 25)}}});
    }
  }
  // The step rounds after each update; the evaluator rounds once.
  ExpectStep(Scatter("add", "f16", "[20,3]", "s32[30,1]", "[30,3]", kRows),
             {.rtol = 1e-2, .atol = 0.1, .arguments = {{1, Indices<int32_t>({30, 1}, 20)}}});
}
Literal Reshaped(const Literal& array, int64_t side) {
  Literal square(Shape::Array(array.shape().type, {side, side}));
  std::copy(array.bytes().begin(), array.bytes().end(), square.bytes().begin());
  return square;
}
// Each element is updated once, so sums are rounded once, as by the evaluator.
TEST(Scatter, SpecialNumbersAreComparedAndAdded) {
  const auto check = []<typename T>(const std::string& type, std::initializer_list<T> numbers) {
    // Pairs each number with each number.
    const auto n = static_cast<int64_t>(numbers.size());
    Literal operand(Shape::Array(hlo::kPrimitiveTypeOf<T>, {n * n})),
        updates(Shape::Array(hlo::kPrimitiveTypeOf<T>, {n * n}));
    Literal places(Shape::Array(hlo::kS32, {n * n, 1}));
    for (int64_t i = 0; i < n * n; ++i) {
      operand.data<T>()[i] = numbers.begin()[i / n];
      updates.data<T>()[i] = numbers.begin()[i % n];
      places.data<int32_t>()[i] = static_cast<int32_t>(i);
    }
    const std::string count = std::to_string(n * n);
    for (const std::string op : {"minimum", "maximum", "add"}) {
      ExpectStep(Scatter(op, type, "[" + count + "]", "s32[" + count + ",1]", "[" + count + "]", kPoints),
                 {.arguments = {{0, operand}, {1, places}, {2, updates}}});
      // The same as rows.
      const std::string side = std::to_string(n), square = "[" + side + "," + side + "]";
      const Literal rows = Reshaped(operand, n), row_updates = Reshaped(updates, n);
      Literal numbers_of_rows(Shape::Array(hlo::kS32, {n, 1}));
      for (int64_t i = 0; i < n; ++i) numbers_of_rows.data<int32_t>()[i] = static_cast<int32_t>(i);
      ExpectStep(Scatter(op, type, square, "s32[" + side + ",1]", square, kRows),
                 {.arguments = {{0, rows}, {1, numbers_of_rows}, {2, row_updates}}});
    }
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  check("f32", {0.f, -0.f, 1.f, -1.f, inf, -inf, nan, 2e-45f, -2e-45f});
  check("f64", {0., -0., 1., -1., double{inf}, -double{inf}, double{nan}, 5e-324});
  const auto half = [](float value) { return hlo::F16(value); };
  check("f16", {half(0), half(-0.f), half(1), half(-1), half(inf), half(-inf), half(nan), half(6e-8f),
                half(65504), half(4.8e-4f), half(-1.001f), half(2048)});
  const auto brain = [](float value) { return hlo::BF16(value); };
  check("bf16", {brain(0), brain(-0.f), brain(1), brain(-1), brain(inf), brain(-inf), brain(nan)});
}
TEST(Scatter, SubByteIntegers) {
  for (const std::string op : {"add", "multiply", "minimum", "maximum"}) {
    for (const std::string type : {"s4", "u4", "s2"}) {
      ExpectStep(Scatter(op, type, "[300]", "s32[1100,1]", "[1100]", kPoints),
                 {.arguments = {{1, Indices<int32_t>({1100, 1}, 320)}}});
      ExpectStep(Scatter(op, type, "[20,3]", "s32[30,1]", "[30,3]", kRows),
                 {.arguments = {{1, Indices<int32_t>({30, 1}, 20)}}});
    }
  }
}
TEST(Scatter, SingleElements) {
  for (const std::string type : {"pred", "s8", "s64", "c64", "c128"}) {
    ExpectStep(Scatter(type == "pred" ? "or" : "add", type, "[300]", "s32[1100,1]", "[1100]", kPoints),
               {.rtol = 1e-5, .atol = 1e-4, .arguments = {{1, Indices<int32_t>({1100, 1}, 320)}}});
    ExpectStep(Scatter("second", type, "[300]", "s64[1100,1]", "[1100]",
                       kPoints + std::string(", unique_indices=false")),
               {.arguments = {{1, Indices<int64_t>({1100, 1}, 320)}}});
  }
}
TEST(Scatter, AWindowPartlyOutsideIsLeftOut) {
  const std::string text = Scatter("add", "f32", "[5]", "s32[1]", "[3]",
                                   "update_window_dims={0}, inserted_window_dims={}, "
                                   "scatter_dims_to_operand_dims={0}, index_vector_dim=0");
  // Values from XLA (jax 0.10 on CPU): the array does not change for start -1, 3 and 4; for 2 its last three
  // elements change.
  for (const int32_t start : {-1, 3, 4, 6}) {
    const auto result =
        RunStepText(text, {Literal::Vector<float>({0, 0, 0, 0, 0}), Literal::Vector<int32_t>({start}),
                           Literal::Vector<float>({1, 1, 1})});
    ASSERT_EQ(result.size(), 1u);
    EXPECT_EQ(result[0], Literal::Vector<float>({0, 0, 0, 0, 0})) << start;
  }
  const auto result = RunStepText(text, {Literal::Vector<float>({0, 0, 0, 0, 0}),
                                         Literal::Vector<int32_t>({2}), Literal::Vector<float>({1, 1, 1})});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], Literal::Vector<float>({0, 0, 1, 1, 1}));
}
// JAX's zeros(0).at[i].add(1) is such a scatter. Its largest start is -1, which as an unsigned number bounds
// nothing.
TEST(Scatter, IntoAnArrayWithoutElementsWritesNothing) {
  for (const std::string op : {"add", "second"}) {
    ExpectStep(Scatter(op, "f32", "[0]", "u32[4,1]", "[4]", kPoints),
               {.arguments = {{1, Indices<uint32_t>({4, 1}, 9)}}});
    ExpectStep(Scatter(op, "f32", "[0,3]", "u32[4,1]", "[4,3]", kRows),
               {.arguments = {{1, Indices<uint32_t>({4, 1}, 9)}}});
    ExpectStep(Scatter(op, "f32", "[0]", "s32[4,1]", "[4]", kPoints),
               {.arguments = {{1, Indices<int32_t>({4, 1}, 9)}}});
  }
  const auto module =
      hlo::ParseModule("HloModule m\n\n" + Scatter("second", "f32", "[0]", "s32[1]", "[]",
                                                   "update_window_dims={}, inserted_window_dims={0}, "
                                                   "scatter_dims_to_operand_dims={0}, index_vector_dim=0"));
  ASSERT_TRUE(module.ok()) << module.status();
  const MaybeStep step = MakeStep(**module, (*module)->entry().root(), 1);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->copies(), nullptr);
}
TEST(Scatter, BatchingAndStridedWindows) {
  ExpectStep(Scatter("add", "f32", "[32,10]", "s32[32,1,1]", "[32,1]",
                     "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
                     "input_batching_dims={0}, "
                     "scatter_indices_batching_dims={0}, index_vector_dim=2"),
             {.arguments = {{1, Indices<int32_t>({32, 1, 1}, 10)}}});
  ExpectStep(Scatter("add", "f32", "[6,7,8]", "s32[4,2]", "[3,4,2]",
                     "update_window_dims={0,2}, inserted_window_dims={1}, "
                     "scatter_dims_to_operand_dims={2,1}, index_vector_dim=1"),
             {.arguments = {{1, Indices<int32_t>({4, 2}, 6)}}});
  ExpectStep(Scatter("add", "f32", "[2,700]", "s32[40,1]", "[700,40]",
                     "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                     "index_vector_dim=1"),
             {.rtol = 1e-6, .atol = 1e-4, .arguments = {{1, Indices<int32_t>({40, 1}, 2)}}});
}
TEST(Scatter, UniqueIndicesRunSideBySide) {
  Literal indices(Shape::Array(hlo::kS32, {3000, 1}));
  for (int i = 0; i < 3000; ++i) indices.data<int32_t>()[i] = (i * 7) % 3001;
  ExpectStep(Scatter("second", "f32", "[3001,32]", "s32[3000,1]", "[3000,32]",
                     std::string(kRows) + ", unique_indices=true"),
             {.arguments = {{1, indices}}});
}
TEST(Scatter, SeveralOperands) {
  ExpectStep(R"(f {
    a = f32[] parameter(0)
    i = s32[] parameter(1)
    b = f32[] parameter(2)
    j = s32[] parameter(3)
    s = f32[] add(a, b)
    m = s32[] maximum(i, j)
    ROOT t = (f32[], s32[]) tuple(s, m)
  }
  ENTRY e {
    p0 = f32[9,4] parameter(0)
    p1 = s32[9,4] parameter(1)
    p2 = s32[6,1] parameter(2)
    p3 = f32[6,4] parameter(3)
    p4 = s32[6,4] parameter(4)
    ROOT r = (f32[9,4], s32[9,4]) scatter(p0, p1, p2, p3, p4),
      update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
  })",
             {.rtol = 1e-6, .atol = 1e-6, .arguments = {{2, Indices<int32_t>({6, 1}, 9)}}});
}

}  // namespace
}  // namespace hlod::engine
