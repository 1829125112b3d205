// Compares the results of CHLO's operations, and of those in StableHLO's own tests, with JAX (XLA on the CPU)
// or hand arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "common/base/errors/error.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo::results {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// Returns the program's result. Fails the test and returns an empty literal when the program is refused.
Literal ResultOf(const std::string& text, const std::vector<Literal>& arguments,
                 const ReadOptions& options = {}) {
  const auto module = ReadModule(text, options);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return {};
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<Literal> result = Evaluate(**module, pointers);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << hlo::ToText(**module);
  return result.ok() ? *std::move(result) : Literal();
}

std::string RefusalOf(const std::string& text, const ReadOptions& options = {}) {
  const auto module = ReadModule(text, options);
  return module.ok() ? "no error" : hlod::ErrorOf(module.status()).text;
}

template <typename T>
std::vector<T> NumbersIn(const Literal& literal) {
  return std::vector<T>(literal.data<T>().begin(), literal.data<T>().end());
}

template <typename T>
Literal ArrayOf(const hlo::Dims& dims, const std::vector<T>& values) {
  Literal array(Shape::Array(hlo::kPrimitiveTypeOf<T>, dims));
  std::copy(values.begin(), values.end(), array.data<T>().begin());
  return array;
}

// Returns 0, 1, 2, ... in f32.
Literal CountedUp(const hlo::Dims& dims) {
  Literal array(Shape::Array(hlo::kF32, dims));
  for (int64_t i = 0; i < array.element_count(); ++i) array.data<float>()[i] = static_cast<float>(i);
  return array;
}

std::string MainOf(const std::string& arguments, const std::string& results, const std::string& body) {
  return absl::StrCat("func.func public @main(", arguments, ") -> ", results, " {\n", body, "\n}\n");
}

TEST(Chlo, OperandsBroadcastToOneShape) {
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(MainOf("%a: tensor<4x1xf32>, %b: tensor<3xf32>", "tensor<4x3xf32>",
                                       "%0 = chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> "
                                       "tensor<4x3xf32>\n return %0 : tensor<4x3xf32>"),
                                {CountedUp({4, 1}), ArrayOf<float>({3}, {1, 2, 3})})),
      ElementsAre(1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6));
  // broadcast_dimensions selects the rows, not the columns.
  EXPECT_THAT(NumbersIn<float>(ResultOf(
                  MainOf("%a: tensor<2x3xf32>, %b: tensor<2xf32>", "tensor<2x3xf32>",
                         "%0 = chlo.broadcast_subtract %a, %b {broadcast_dimensions = array<i64: 0>} : "
                         "(tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>\n"
                         " return %0 : tensor<2x3xf32>"),
                  {CountedUp({2, 3}), ArrayOf<float>({2}, {10, 20})})),
              ElementsAre(-10, -9, -8, -17, -16, -15));
  EXPECT_THAT(
      NumbersIn<bool>(ResultOf(
          MainOf("%a: tensor<3xf32>, %b: tensor<f32>", "tensor<3xi1>",
                 "%0 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction "
                 "GT>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>\n return %0 : tensor<3xi1>"),
          {CountedUp({3}), Literal::Scalar(1.0f)})),
      ElementsAre(false, false, true));
  EXPECT_THAT(NumbersIn<float>(
                  ResultOf(MainOf("%p: tensor<i1>, %a: tensor<2x1xf32>, %b: tensor<2xf32>", "tensor<2x2xf32>",
                                  "%0 = chlo.broadcast_select %p, %a, %b : (tensor<i1>, tensor<2x1xf32>, "
                                  "tensor<2xf32>) -> tensor<2x2xf32>\n return %0 : tensor<2x2xf32>"),
                           {Literal::Scalar(false), CountedUp({2, 1}), ArrayOf<float>({2}, {5, 6})})),
              ElementsAre(5, 6, 5, 6));
  EXPECT_THAT(
      RefusalOf(MainOf("%a: tensor<4xf32>, %b: tensor<3xf32>", "tensor<4xf32>",
                       "%0 = chlo.broadcast_add %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>\n"
                       " return %0 : tensor<4xf32>")),
      HasSubstr("Operand 1 (f32[3]) does not broadcast"));
}

// From StableHLO's own test: sums of suffixes. Then a scan along the second dimension whose carry is an
// array.
TEST(Chlo, AScanCarries) {
  const std::string scan =
      "%0:2 = chlo.scan(%a) inits(%i) dimension=0 attributes {is_reverse = true} {\n"
      "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n %s = stablehlo.add %x, %y : tensor<i32>\n"
      " stablehlo.return %s, %s : tensor<i32>, tensor<i32>\n} : (tensor<4xi32>, tensor<i32>) -> "
      "(tensor<4xi32>, tensor<i32>)\n return %0#0, %0#1 : tensor<4xi32>, tensor<i32>";
  const Literal sums =
      ResultOf(MainOf("%a: tensor<4xi32>, %i: tensor<i32>", "(tensor<4xi32>, tensor<i32>)", scan),
               {Literal::Vector<int32_t>({1, 2, 3, 4}), Literal::Scalar(10)});
  EXPECT_THAT(NumbersIn<int32_t>(sums.elements()[0]), ElementsAre(20, 19, 17, 14));
  EXPECT_THAT(NumbersIn<int32_t>(sums.elements()[1]), ElementsAre(20));
  const std::string rows =
      "%0:2 = chlo.scan(%a) inits(%i) dimension=1 {\n^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):\n"
      " %s = stablehlo.add %x, %y : tensor<2xf32>\n stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>\n}"
      " : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)\n return %0#0 : "
      "tensor<2x3xf32>";
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(MainOf("%a: tensor<2x3xf32>, %i: tensor<2xf32>", "tensor<2x3xf32>", rows),
                                {CountedUp({2, 3}), ArrayOf<float>({2}, {0, 0})})),
      ElementsAre(0, 1, 3, 3, 7, 12));
}

TEST(Chlo, ConstantsLikeAnOperand) {
  EXPECT_THAT(NumbersIn<float>(ResultOf(
                  MainOf("%a: tensor<2x1xf32>", "tensor<2x1xf32>",
                         "%0 = \"chlo.constant_like\"(%a) <{value = 2.5 : f32}> : (tensor<2x1xf32>) -> "
                         "tensor<2x1xf32>\n return %0 : tensor<2x1xf32>"),
                  {CountedUp({2, 1})})),
              ElementsAre(2.5, 2.5));
}

// The results of einsum and torch_index_select are XLA's.
TEST(Einsum, LettersSayWhatIsMultipliedAndSummed) {
  const auto einsum = [](const char* config, const char* a, const char* b, const char* result) {
    return MainOf(absl::StrCat("%a: ", a, ", %b: ", b), result,
                  absl::StrCat("%0 = \"stablehlo.einsum\"(%a, %b) <{einsum_config = \"", config, "\"}> : (",
                               a, ", ", b, ") -> ", result, "\n return %0 : ", result));
  };
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(einsum("ab,bc->ca", "tensor<4x5xf32>", "tensor<5x3xf32>", "tensor<3x4xf32>"),
                                {CountedUp({4, 5}), CountedUp({5, 3})})),
      ElementsAre(90, 240, 390, 540, 100, 275, 450, 625, 110, 310, 510, 710));
  // One letter is a batch dimension, another occurs on one side only and not in the result.
  EXPECT_THAT(NumbersIn<float>(
                  ResultOf(einsum("...a,...b->...", "tensor<2x2xf32>", "tensor<2x2xf32>", "tensor<2xf32>"),
                           {CountedUp({2, 2}), CountedUp({2, 2})})),
              ElementsAre(1, 25));
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(MainOf("%a: tensor<2x3xf32>", "tensor<3xf32>",
                                       "%0 = \"stablehlo.unary_einsum\"(%a) <{einsum_config = \"ab->b\"}> : "
                                       "(tensor<2x3xf32>) -> tensor<3xf32>\n return %0 : tensor<3xf32>"),
                                {CountedUp({2, 3})})),
      ElementsAre(3, 5, 7));
  EXPECT_THAT(RefusalOf(einsum("ab,bc->ad", "tensor<4x5xf32>", "tensor<5x3xf32>", "tensor<4x3xf32>")),
              HasSubstr("a letter that no operand has"));
  EXPECT_THAT(RefusalOf(einsum("abc,bc->a", "tensor<4x5xf32>", "tensor<5x3xf32>", "tensor<4xf32>")),
              HasSubstr("\"abc\" for an operand of (2) dimensions"));
}

// A subscript longer than the alphabet must repeat a letter: it is refused at the first repetition, and the
// error has the start of the text.
TEST(Einsum, ALongListOfLettersIsRefusedAtOnce) {
  std::string letters;
  for (int i = 0; i < 100'000; ++i) letters += static_cast<char>('a' + i % 26);
  for (const std::string& config : {absl::StrCat(letters, ",a->a"), absl::StrCat("a,a->", letters)}) {
    const std::string refusal = RefusalOf(MainOf(
        "%a: tensor<2xf32>", "tensor<2xf32>",
        absl::StrCat("%0 = \"stablehlo.einsum\"(%a, %a) <{einsum_config = \"", config,
                     "\"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n return %0 : tensor<2xf32>")));
    EXPECT_THAT(refusal, HasSubstr("expected letters, each at most once"));
    EXPECT_LT(refusal.size(), 1000u);
  }
}

TEST(Einsum, TorchIndexSelect) {
  EXPECT_THAT(NumbersIn<float>(ResultOf(
                  MainOf("%a: tensor<4x5xf32>, %i: tensor<2xi32>", "tensor<2x5xf32>",
                         "%0 = \"stablehlo.torch_index_select\"(%a, %i) <{dim = 0 : i64, batch_dims = 0 "
                         ": i64}> : (tensor<4x5xf32>, tensor<2xi32>) -> tensor<2x5xf32>\n"
                         " return %0 : tensor<2x5xf32>"),
                  {CountedUp({4, 5}), Literal::Vector<int32_t>({2, 0})})),
              ElementsAre(10, 11, 12, 13, 14, 0, 1, 2, 3, 4));
  // Each row of the batch picks its own element.
  EXPECT_THAT(NumbersIn<float>(ResultOf(
                  MainOf("%a: tensor<2x3xf32>, %i: tensor<2x1xi32>", "tensor<2x1xf32>",
                         "%0 = \"stablehlo.torch_index_select\"(%a, %i) <{dim = 1 : i64, batch_dims = 1 "
                         ": i64}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>\n"
                         " return %0 : tensor<2x1xf32>"),
                  {CountedUp({2, 3}), ArrayOf<int32_t>({2, 1}, {2, 0})})),
              ElementsAre(2, 3));
}

// 60000 + 60000 is infinite in f16.
TEST(Accumulators, MayBeWiderThanTheOperand) {
  const std::string wide =
      " ({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32>\n"
      " stablehlo.return %s : tensor<f32>})";
  const Literal narrow = [] {
    Literal values(Shape::Array(hlo::kF16, {4}));
    const float numbers[] = {60000, 60000, 1, 2};
    for (size_t i = 0; i < 4; ++i) values.data<hlo::F16>()[i] = static_cast<hlo::F16>(numbers[i]);
    return values;
  }();
  EXPECT_THAT(NumbersIn<float>(ResultOf(
                  MainOf("%a: tensor<4xf16>", "tensor<f32>",
                         absl::StrCat("%i = stablehlo.constant dense<0.0> : tensor<f16>\n"
                                      "%0 = \"stablehlo.reduce\"(%a, %i) <{dimensions = array<i64: 0>}>",
                                      wide,
                                      " : (tensor<4xf16>, tensor<f16>) -> tensor<f32>\n"
                                      " return %0 : tensor<f32>")),
                  {narrow})),
              ElementsAre(120003));
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(
          MainOf("%a: tensor<4xf16>", "tensor<2xf32>",
                 absl::StrCat("%i = stablehlo.constant dense<0.0> : tensor<f16>\n"
                              "%0 = \"stablehlo.reduce_window\"(%a, %i) <{window_dimensions = array<i64: "
                              "2>, window_strides = array<i64: 2>}>",
                              wide,
                              " : (tensor<4xf16>, tensor<f16>) -> tensor<2xf32>\n"
                              " return %0 : tensor<2xf32>")),
          {narrow})),
      ElementsAre(120000, 3));
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(
          MainOf(
              "%a: tensor<4xf16>, %i: tensor<1x1xi32>", "tensor<4xf32>",
              absl::StrCat(
                  "%u = stablehlo.constant dense<60000.0> : tensor<1xf16>\n"
                  "%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
                  "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1,>}>",
                  wide,
                  " : (tensor<4xf16>, tensor<1x1xi32>, tensor<1xf16>) -> tensor<4xf32>\n"
                  " return %0 : tensor<4xf32>")),
          {narrow, ArrayOf<int32_t>({1, 1}, {1})})),
      ElementsAre(60000, 120000, 1, 2));
  EXPECT_THAT(
      RefusalOf(MainOf(
          "%a: tensor<4xf64>", "tensor<f32>",
          absl::StrCat("%i = stablehlo.constant dense<0.0> : tensor<f32>\n"
                       "%0 = \"stablehlo.reduce\"(%a, %i) <{dimensions = array<i64: 0>}>",
                       wide, " : (tensor<4xf64>, tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>"))),
      HasSubstr("elements of type f64, which its region's argument of type f32 cannot hold"));
}

// Rows are subtracted one after another: 100 - 0 - 3, and so on.
TEST(Accumulators, MayBeArrays) {
  const std::string reduce =
      "%0 = \"stablehlo.reduce\"(%a, %i) <{dimensions = array<i64: 0>}> ({\n"
      "^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>): %s = stablehlo.subtract %x, %y : tensor<3xf32>\n"
      " stablehlo.return %s : tensor<3xf32>}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
      " return %0 : tensor<3xf32>";
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(MainOf("%a: tensor<2x3xf32>, %i: tensor<3xf32>", "tensor<3xf32>", reduce),
                                {CountedUp({2, 3}), ArrayOf<float>({3}, {100, 200, 300})})),
      ElementsAre(97, 195, 293));
}

TEST(Elements, AComparisonReadsBitsAsItSays) {
  const auto compare = [](const char* type, const char* word) {
    return MainOf(absl::StrCat("%a: tensor<2x", type, ">, %b: tensor<2x", type, ">"), "tensor<2xi1>",
                  absl::StrCat("%0 = stablehlo.compare LT, %a, %b, ", word, " : (tensor<2x", type,
                               ">, tensor<2x", type, ">) -> tensor<2xi1>\n return %0 : tensor<2xi1>"));
  };
  const std::vector<Literal> with_sign = {Literal::Vector<int32_t>({-1, 1}),
                                          Literal::Vector<int32_t>({1, -1})};
  EXPECT_THAT(NumbersIn<bool>(ResultOf(compare("i32", "UNSIGNED"), with_sign)), ElementsAre(false, true));
  EXPECT_THAT(NumbersIn<bool>(ResultOf(compare("i32", "SIGNED"), with_sign)), ElementsAre(true, false));
  const std::vector<Literal> without = {Literal::Vector<uint32_t>({UINT32_MAX, 1}),
                                        Literal::Vector<uint32_t>({1, UINT32_MAX})};
  EXPECT_THAT(NumbersIn<bool>(ResultOf(compare("ui32", "SIGNED"), without)), ElementsAre(true, false));
}

// As in XLA, the real part of a complex number is converted: i is false.
TEST(Elements, OfComplexNumbersTheRealPartIsConverted) {
  using Complex = std::complex<float>;
  const Literal numbers = Literal::Vector<Complex>({{-1, 0}, {0, 1}, {1, 0}, {0, 0}});
  const auto convert = [](const std::string& type) {
    return MainOf("%a: tensor<4xcomplex<f32>>", absl::StrCat("tensor<4x", type, ">"),
                  absl::StrCat("%0 = stablehlo.convert %a : (tensor<4xcomplex<f32>>) -> tensor<4x", type,
                               ">\n return %0 : tensor<4x", type, ">"));
  };
  EXPECT_THAT(NumbersIn<bool>(ResultOf(convert("i1"), {numbers})), ElementsAre(true, false, true, false));
  EXPECT_THAT(NumbersIn<int32_t>(ResultOf(convert("i32"), {numbers})), ElementsAre(-1, 0, 1, 0));
  EXPECT_THAT(NumbersIn<float>(ResultOf(convert("f32"), {numbers})), ElementsAre(-1, 0, 1, 0));
}

// e2m3: 0x08 is 1, 0x1f 7.5, 0x20 -0.
TEST(Elements, OfSixBits) {
  EXPECT_THAT(NumbersIn<float>(
                  ResultOf(MainOf("", "tensor<3xf32>",
                                  "%c = stablehlo.constant dense<[0x08, 0x1F, 0x20]> : tensor<3xf6E2M3FN>\n"
                                  "%0 = stablehlo.convert %c : (tensor<3xf6E2M3FN>) -> tensor<3xf32>\n"
                                  " return %0 : tensor<3xf32>"),
                           {})),
              ElementsAre(1, 7.5, 0));
}

TEST(Control, AFutureIsItsResults) {
  EXPECT_THAT(NumbersIn<float>(
                  ResultOf(MainOf("%a: tensor<4xf32>", "tensor<2xf32>",
                                  "%0 = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<4xf32>):\n"
                                  " %y = stablehlo.slice %x [1:3] : (tensor<4xf32>) -> tensor<2xf32>\n"
                                  " stablehlo.return %y : tensor<2xf32>}) : (tensor<4xf32>) -> "
                                  "!stablehlo.future<tensor<2xf32>>\n"
                                  "%1 = \"stablehlo.async_done\"(%0) : (!stablehlo.future<tensor<2xf32>>) -> "
                                  "tensor<2xf32>\n return %1 : tensor<2xf32>"),
                           {CountedUp({4})})),
              ElementsAre(1, 2));
}

TEST(Entry, IsChosenByItsName) {
  const std::string two =
      "func.func private @declared(tensor<f32>) -> tensor<f32>\n"
      "func.func public @twice(%a: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.add %a, %a : tensor<f32>\n"
      " return %0 : tensor<f32>\n}\n"
      "func.func public @square(%a: tensor<f32>) -> tensor<f32> {\n %0 = stablehlo.multiply %a, %a : "
      "tensor<f32>\n"
      " return %0 : tensor<f32>\n}\n"
      "func.func public @outside(%a: tensor<f32>) -> tensor<f32> {\n"
      " %0 = func.call @declared(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}\n";
  EXPECT_THAT(NumbersIn<float>(ResultOf(two, {Literal::Scalar(3.0f)}, {.entry = "twice"})), ElementsAre(6));
  EXPECT_THAT(NumbersIn<float>(ResultOf(two, {Literal::Scalar(3.0f)}, {.entry = "square"})), ElementsAre(9));
  EXPECT_THAT(RefusalOf(two),
              HasSubstr("(3) public functions, of which one must be the entry, to be chosen by its name "
                        "(--entry): @twice, @square, @outside"));
  EXPECT_THAT(RefusalOf(two, {.entry = "cube"}),
              HasSubstr("no function @cube; its public functions are @twice"));
  EXPECT_THAT(RefusalOf(two, {.entry = "outside"}), HasSubstr("@declared, which has no body"));
}

TEST(Sizes, FollowFromTheNumbersOfArguments) {
  const std::string reshape =
      MainOf("%a: tensor<6xf32>, %s: tensor<2xi64>", "tensor<?x?xf32>",
             "%0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>\n"
             " return %0 : tensor<?x?xf32>");
  const Literal result =
      ResultOf(reshape, {CountedUp({6}), Literal::Vector<int64_t>({3, 2})}, {.numbers = {{1, {3, 2}}}});
  EXPECT_EQ(result.shape().dims, hlo::Dims({3, 2}));
  EXPECT_THAT(RefusalOf(reshape),
              HasSubstr("Operand 1 states sizes that are known only when the program runs"));
  EXPECT_THAT(RefusalOf(reshape, {.numbers = {{1, {3}}}}),
              HasSubstr("Argument 1 is s64[2], but has (1) stated numbers"));
}

// The start is known only when the program runs, but the size is constant: elements three and four of row 1
// of [2,5].
TEST(Sizes, OfASliceThatEndsAFixedWayBehindItsStart) {
  const std::string slice = MainOf(
      "%a: tensor<2x5xf32>, %s: tensor<2xi32>", "tensor<?x?xf32>",
      "%l = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
      "%one = stablehlo.constant dense<1> : tensor<2xi32>\n"
      "%e = stablehlo.add %s, %l : tensor<2xi32>\n"
      "%0 = stablehlo.real_dynamic_slice %a, %s, %e, %one : (tensor<2x5xf32>, tensor<2xi32>, tensor<2xi32>, "
      "tensor<2xi32>) -> tensor<?x?xf32>\n return %0 : tensor<?x?xf32>");
  const Literal result = ResultOf(slice, {CountedUp({2, 5}), Literal::Vector<int32_t>({1, 2})});
  EXPECT_EQ(result.shape().dims, hlo::Dims({1, 2}));
  EXPECT_THAT(NumbersIn<float>(result), ElementsAre(7, 8));
  const std::string free = MainOf(
      "%a: tensor<5xf32>, %s: tensor<1xi32>, %e: tensor<1xi32>", "tensor<?xf32>",
      "%one = stablehlo.constant dense<1> : tensor<1xi32>\n"
      "%0 = stablehlo.real_dynamic_slice %a, %s, %e, %one : (tensor<5xf32>, tensor<1xi32>, tensor<1xi32>, "
      "tensor<1xi32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>");
  EXPECT_THAT(RefusalOf(free), HasSubstr("a slice whose size depends on values"));
}

TEST(Groups, MayBeAxesOfAMesh) {
  const auto reduce = [](const std::string& axes) {
    return absl::StrCat(
        "sdy.mesh @grid = <[\"x\"=2, \"y\"=4]>\n",
        MainOf("%a: tensor<4xf32>", "tensor<4xf32>",
               absl::StrCat(
                   "%0 = \"stablehlo.all_reduce\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<",
                   axes,
                   ">, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
                   "use_global_device_ids}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):"
                   " %s = stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %s : tensor<f32>})"
                   " : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32>")));
  };
  const auto groups = [&](const std::string& axes) {
    const auto module = ReadModule(reduce(axes));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return std::vector<hlo::Dims>();
    return hlo::ListGroups((*module)->entry().root().attributes<hlo::CollectiveAttributes>().groups);
  };
  // Devices are numbered along y first.
  EXPECT_THAT(groups("mesh = @grid, axes = [#stablehlo.axis_ref<name = \"x\">]"),
              ElementsAre(hlo::Dims{0, 4}, hlo::Dims{1, 5}, hlo::Dims{2, 6}, hlo::Dims{3, 7}));
  EXPECT_THAT(groups("mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"y\", size = 4>]>, axes = "
                     "[#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>]"),
              ElementsAre(hlo::Dims{0, 2}, hlo::Dims{1, 3}));
  EXPECT_THAT(RefusalOf(reduce("mesh = @none, axes = []")), HasSubstr("no mesh @none"));
  EXPECT_THAT(RefusalOf(reduce("mesh = @grid, axes = [#stablehlo.axis_ref<name = \"z\">]")),
              HasSubstr("no axis \"z\""));
}

TEST(Forms, ThatOtherPrintersWrite) {
  EXPECT_THAT(NumbersIn<float>(
                  ResultOf(MainOf("", "tensor<2xf32>",
                                  "%0 = stablehlo.constant() {value = dense<1.5> : tensor<2xf32>} : () -> "
                                  "tensor<2xf32>\n return %0 : tensor<2xf32>"),
                           {})),
              ElementsAre(1.5, 1.5));
  EXPECT_EQ(
      RefusalOf(MainOf("%a: tensor<2xf32>", "tensor<2xf32>",
                       "%0 = stablehlo.custom_call @f(%a) {backend_config = \"b\", x = \"text\" : i32} : "
                       "(tensor<2xf32>) -> tensor<2xf32>\n return %0 : tensor<2xf32>")),
      "no error");
  EXPECT_EQ(RefusalOf(MainOf(
                "%a: tensor<2xf32>", "tensor<2xf32>",
                "%0 = \"stablehlo.cross-replica-sum\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}>"
                " : (tensor<2xf32>) -> tensor<2xf32>\n return %0 : tensor<2xf32>")),
            "no error");
  // 1 2 / 3 4 is slid over ones.
  EXPECT_THAT(
      NumbersIn<float>(ResultOf(
          MainOf(
              "%a: tensor<1x2x2x1xf32>, %k: tensor<2x1x1x1xf32>", "tensor<1x1x2x1xf32>",
              "%0 = \"stablehlo.convolution\"(%a, %k) <{dimension_numbers = #stablehlo.conv<raw "
              "input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], "
              "kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, "
              "kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, "
              "output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : "
              "i64}> : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>) -> tensor<1x1x2x1xf32>\n"
              " return %0 : tensor<1x1x2x1xf32>"),
          {ArrayOf<float>({1, 2, 2, 1}, {1, 2, 3, 4}), ArrayOf<float>({2, 1, 1, 1}, {1, 1})})),
      ElementsAre(4, 6));
}

// The number of participants of a pod.
TEST(Groups, MayHaveManyMembers) {
  std::string ids;
  for (int i = 0; i < 512; ++i) absl::StrAppend(&ids, i == 0 ? "" : ", ", i);
  EXPECT_EQ(RefusalOf(MainOf(
                "%a: tensor<4xf32>", "tensor<4xf32>",
                absl::StrCat("%0 = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[", ids,
                             "]]> : tensor<1x512xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):"
                             " %s = stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %s : tensor<f32>})"
                             " : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32>"))),
            "no error");
}

}  // namespace
}  // namespace hlod::stablehlo::results
