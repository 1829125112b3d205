// StableHLO to HLO: hoisting, cloning and refusals, by results and by errors. Numbers are computed by hand or
// by SciPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "common/base/errors/error.h"
#include "common/base/text/strings.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

absl::StatusOr<std::unique_ptr<hlo::Module>> Converted(const std::string& text,
                                                       const ArgumentSizes& sizes = {}) {
  absl::StatusOr<Program> program = ParseText(text);
  if (!program.ok()) return program.status();
  return ToHlo(*program, {.sizes = sizes});
}

// Returns the program's result for these arguments. Fails the test and returns an empty literal on an error.
Literal RunText(const std::string& text, const std::vector<Literal>& arguments,
                const ArgumentSizes& sizes = {}) {
  const auto module = Converted(text, sizes);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<Literal> result = Evaluate(**module, pointers);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << ToText(**module);
  return result.ok() ? *std::move(result) : Literal();
}

template <typename T>
std::vector<T> Elements(const Literal& literal) {
  return {literal.data<T>().begin(), literal.data<T>().end()};
}

std::string ErrorText(const std::string& text, const ArgumentSizes& sizes = {}) {
  const auto module = Converted(text, sizes);
  if (module.ok()) return "no error";
  EXPECT_NE(KindOf(module.status()), ErrorKind::kNone);
  return ErrorOf(module.status()).text;
}

// Returns a function from f32[2] to f32[2] whose body is `body` and returns %r.
std::string InMain(const std::string& body) {
  return "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n" + body +
         "\n  return %r : tensor<2xf32>\n}\n";
}

const Literal kX = Literal::Vector<float>({3, -5});

TEST(Convert, OneResultStandsAloneAndSeveralAreATuple) {
  EXPECT_THAT(Elements<float>(RunText(InMain("%r = stablehlo.negate %x : tensor<2xf32>"), {kX})),
              ElementsAre(-3, 5));
  const Literal both = RunText(
      "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
      "  %y = stablehlo.add %x, %x : tensor<f32>\n"
      "  return %x, %y : tensor<f32>, tensor<f32>\n}",
      {Literal::Scalar(2.0f)});
  ASSERT_EQ(both.elements().size(), 2);
  EXPECT_THAT(Elements<float>(both.elements()[1]), ElementsAre(4));
  EXPECT_TRUE(RunText("func.func @main() { return }", {}).shape().IsTuple());
}

TEST(Convert, ALargeSplatIsABroadcast) {
  const Literal part = RunText(R"(
func.func @main() -> tensor<2xf32> {
  %c = stablehlo.constant dense<2.5> : tensor<1000x1000xf32>
  %s = stablehlo.slice %c [998:999, 0:2] : (tensor<1000x1000xf32>) -> tensor<1x2xf32>
  %r = stablehlo.reshape %s : (tensor<1x2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
})",
                               {});
  EXPECT_THAT(Elements<float>(part), ElementsAre(2.5f, 2.5f));
  const auto large = Converted(
      "func.func @main() { %c = stablehlo.constant dense<2.5> : tensor<1000000x1000000xf32> return }");
  EXPECT_TRUE(large.ok()) << large.status();
  EXPECT_THAT(ErrorText("func.func @main() { %c = \"stablehlo.constant\"() <{value = dense<2.5> : "
                        "tensor<1000x1000xf32>}> : () -> tensor<1000x999xf32> return }"),
              HasSubstr("Its value is f32[1000,1000], but its type is f32[1000,999]."));
}

TEST(Convert, ALoopCarriesWhatItsRegionsUse) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>, %factor: tensor<f32>, %limit: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.multiply %y, %factor : tensor<f32>
    stablehlo.return %j, %z : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
})";
  const Literal result =
      RunText(text, {Literal::Scalar(1.5f), Literal::Scalar(2.0f), Literal::Scalar(int32_t{3})});
  EXPECT_THAT(Elements<float>(result), ElementsAre(12));
  // The constant is cloned into the body; the factor and the limit are in the state.
  const auto module = Converted(text);
  ASSERT_TRUE(module.ok());
  EXPECT_THAT(ToText(**module), HasSubstr("(s32[], f32[], s32[], f32[]) while("));
}

TEST(Convert, BranchesTakeWhatTheyUse) {
  const std::string text = R"(
func.func @main(%p: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = "stablehlo.case"(%p) ({
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }, {
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  }, {
    %c = stablehlo.constant dense<7.0> : tensor<f32>
    stablehlo.return %c, %x : tensor<f32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
})";
  const auto run = [&](int32_t p) {
    const Literal result = RunText(text, {Literal::Scalar(p), Literal::Scalar(2.0f), Literal::Scalar(3.0f)});
    return std::vector<float>{result.elements()[0].data<float>()[0], result.elements()[1].data<float>()[0]};
  };
  EXPECT_THAT(run(0), ElementsAre(2, 3));
  EXPECT_THAT(run(1), ElementsAre(5, 5));
  EXPECT_THAT(run(2), ElementsAre(7, 2));
  EXPECT_THAT(run(9), ElementsAre(7, 2));
}

TEST(Convert, RegionsWithinRegionsReachThroughAll) {
  const std::string text = R"(
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
  cond {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = "stablehlo.if"(%p) ({
      %s = stablehlo.add %y, %x : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }, {
      stablehlo.return %y : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %j, %z : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
})";
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar(true), Literal::Scalar(5.0f)})),
              ElementsAre(15));
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar(false), Literal::Scalar(5.0f)})),
              ElementsAre(5));
}

TEST(Convert, ReducersMayUseConstantsFromOutsideOnly) {
  const auto with = [](const std::string& definition) {
    return absl::StrCat(R"(
func.func @main(%x: tensor<3xf32>, %a: tensor<f32>) -> tensor<f32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  )",
                        definition, R"(
  %r = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    %t = stablehlo.minimum %s, %scale : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
})");
  };
  const std::vector<Literal> arguments = {Literal::Vector<float>({4, 5, 6}), Literal::Scalar(1.0f)};
  EXPECT_THAT(
      Elements<float>(RunText(with("%scale = stablehlo.constant dense<7.0> : tensor<f32>"), arguments)),
      ElementsAre(7));
  const std::string error = ErrorText(with("%scale = stablehlo.negate %a : tensor<f32>"));
  EXPECT_THAT(error, HasSubstr("8:10: stablehlo.minimum: Operand 1 is a value from outside the region"));
}

TEST(Convert, AFunctionIsOneComputationHoweverOftenItIsCalled) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = call @twice(%x) : (tensor<f32>) -> tensor<f32>
  %b = call @twice(%a) : (tensor<f32>) -> tensor<f32>
  return %b : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
func.func private @unused(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
})";
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar(1.0f)})), ElementsAre(4));
  const auto module = Converted(text);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->computation_count(), 2u);
}

TEST(Convert, DimensionsOfSizeOneAreExpanded) {
  const std::string text = InMain(
      "%c = stablehlo.constant dense<[[10.0]]> : tensor<1x1xf32>\n"
      "%b = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x2xf32>\n"
      "%f = stablehlo.reshape %b : (tensor<1x2xf32>) -> tensor<2xf32>\n"
      "%r = stablehlo.add %x, %f : tensor<2xf32>");
  EXPECT_THAT(Elements<float>(RunText(text, {kX})), ElementsAre(13, 5));
}

TEST(Convert, AttributesOfTheEntryBecomeTheModules) {
  const auto module = Converted(R"(
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
func.func public @main(%a: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %b: tensor<2xf32> {jax.buffer_donor = true},
                       %c: tensor<2x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> (tensor<2x4xf32>, tensor<2xf32>) {
  %s = stablehlo.add %a, %b : tensor<2xf32> loc("jit(step)/add"("model.py":7:3))
  return %c, %s : tensor<2x4xf32>, tensor<2xf32>
}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::Module& m = **module;
  EXPECT_EQ(m.name(), "jit_step");
  EXPECT_EQ(m.config.replica_count, 2);
  ASSERT_EQ(m.config.input_output_alias.size(), 1u);
  EXPECT_EQ(m.config.input_output_alias[0].parameter_number, 0);
  EXPECT_THAT(m.config.input_output_alias[0].output_index, ElementsAre(1));
  ASSERT_EQ(m.config.buffer_donors.size(), 1u);
  EXPECT_EQ(m.config.buffer_donors[0].parameter_number, 1);
  const std::string text = ToText(m);
  EXPECT_THAT(text, HasSubstr("sharding={devices=[2,1]<=[2]}"));
  EXPECT_THAT(text, HasSubstr(R"(op_name="jit(step)/add" source_file="model.py" source_line=7)"));
}

// JAX exported for TPUs so until 2023.
TEST(Convert, ACustomCallMayHaveOneResultThatIsATuple) {
  const Literal result = RunText(
      InMain("%a = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<2x1xf32>\n"
             "%t = stablehlo.custom_call @LuDecomposition(%a) : (tensor<2x1xf32>) -> tuple<tensor<2x1xf32>, "
             "tensor<1xi32>, tensor<2xi32>>\n"
             "%f = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x1xf32>, tensor<1xi32>, "
             "tensor<2xi32>>) -> tensor<2x1xf32>\n"
             "%r = stablehlo.reshape %f : (tensor<2x1xf32>) -> tensor<2xf32>\n"),
      {Literal::Vector<float>({3, 6})});
  EXPECT_THAT(Elements<float>(result), ElementsAre(6, 0.5));  // The rows change places.
}

TEST(Convert, ATypedCustomCallKeepsItsDictionaryAsText) {
  const auto module =
      Converted(InMain("%r = stablehlo.custom_call @my.call(%x) {mhlo.backend_config = {scale = 2.5 : f32, "
                       "uplo = 76 : ui8, on = true, "
                       "name = \"a\\22b\", sizes = array<i64: 1, 2>}, has_side_effect = true} : "
                       "(tensor<2xf32>) -> tensor<2xf32>"));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto& attributes = (*module)->entry().root().attributes<hlo::CustomCallAttributes>();
  EXPECT_EQ(attributes.target, "my.call");
  EXPECT_EQ(
      attributes.backend_config,
      R"({name = "a\22b", on = true, scale = 2.500000e+00 : f32, sizes = array<i64: 1, 2>, uplo = 76 : ui8})");
  EXPECT_EQ(attributes.api_version, 4);
  EXPECT_TRUE(attributes.has_side_effect);
}

TEST(Convert, ACompositeCallsItsDecomposition) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.composite "my.twice" %x {composite_attributes = {n = 2 : i64}, decomposition = @impl, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @impl(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  return %y : tensor<f32>
})";
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar(4.0f)})), ElementsAre(8));
  const auto module = Converted(text);
  ASSERT_TRUE(module.ok());
  EXPECT_THAT(ToText(**module), HasSubstr("is_composite=true"));
  EXPECT_THAT(ToText(**module), HasSubstr(R"(composite.name="my.twice")"));
}

TEST(Convert, CompositesOfChloAreThoseFunctions) {
  const std::string text = R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %v, %i = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64}, decomposition = @impl} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %v, %i : tensor<2xf32>, tensor<2xi32>
})";
  const Literal result = RunText(text, {Literal::Vector<float>({1, 9, 3, 7})});
  EXPECT_THAT(Elements<float>(result.elements()[0]), ElementsAre(9, 7));
  EXPECT_THAT(Elements<int32_t>(result.elements()[1]), ElementsAre(1, 3));
}

// Expects name(x) in f64 within 1e-12 of SciPy's values.
void ExpectFunction(const std::string& name, const std::vector<std::vector<double>>& arguments,
                    const std::vector<double>& expected) {
  const std::string type = absl::StrCat("tensor<", expected.size(), "xf64>");
  std::vector<Literal> literals;
  std::string parameters, operands, types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char* comma = i == 0 ? "" : ", ";
    absl::StrAppend(&parameters, comma, "%a", i, ": ", type);
    absl::StrAppend(&operands, comma, "%a", i);
    absl::StrAppend(&types, comma, type);
    Literal literal(Shape::Array(hlo::kF64, {static_cast<int64_t>(expected.size())}));
    std::ranges::copy(arguments[i], literal.data<double>().begin());
    literals.push_back(std::move(literal));
  }
  const Literal result =
      RunText(absl::StrCat("func.func @main(", parameters, ") -> ", type, " {\n%r = \"chlo.", name, "\"(",
                           operands, ") : (", types, ") -> ", type, "\nreturn %r : ", type, "\n}"),
              literals);
  ASSERT_EQ(result.element_count(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double got = result.data<double>()[i];
    if (std::isnan(expected[i]) || std::isinf(expected[i])) {
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(got) : got == expected[i])
          << name << " " << i << ": " << got;
    } else {
      EXPECT_NEAR(got, expected[i], 1e-12 * std::max(1.0, std::abs(expected[i]))) << name << " " << i;
    }
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Convert, SpecialFunctionsOfDoubles) {
  const std::vector<double> x = {-7.3, -2.5, -1.0, -0.3, 0.2, 0.5, 0.9, 1.5, 3.0, 8.5, 20.0, 170.0};
  ExpectFunction("lgamma", {x},
                 {-7.7791016298268527, -0.056243716497674012, kInfinity, 1.4648400508576027,
                  1.5240638224307845, 0.57236494292469997, 0.06637623973474327, -0.12078223763524526,
                  0.69314718055994529, 9.5492672573009969, 39.339884187199495, 701.43726380873716});
  ExpectFunction("digamma", {x},
                 {4.33730730551005, 1.1031566406452433, kNan, 2.1133097796353972, -5.289039896592189,
                  -1.9635100260214235, -0.7549269499470516, 0.03648997397857652, 0.9227843350984671,
                  2.08009081757942, 2.970523992242149, 5.132854377083308});
  ExpectFunction("erfc", {x},
                 {2.0, 1.999593047982555, 1.8427007929497148, 1.3286267594591274, 0.77729741078952153,
                  0.47950012218695348, 0.20309178757716784, 0.033894853524689267, 2.2090496998585445e-05,
                  2.7623240713337712e-33, 5.3958656116079012e-176, 0.0});
  ExpectFunction("bessel_i1e", {x},
                 {-0.1396957915033168, -0.20658464953126654, -0.2079104153497085, -0.11237756063983881,
                  0.08228312352881216, 0.15642080318487173, 0.20211653087685588, 0.21903938742092574,
                  0.19682671329730084, 0.13054935509459586, 0.08750622218328867, 0.03052985701657797});
  ExpectFunction("erf_inv", {{-0.999999, -0.9, -0.3, 0.0, 0.5, 0.99, 1.0}},
                 {-3.458910737275499, -1.1630871536766743, -0.2724627147267544, 0.0, 0.4769362762044699,
                  1.8213863677184496, kInfinity});
  ExpectFunction(
      "zeta", {{2.0, 3.5, 1.1, 5.0, 1.0, 0.5}, {1.0, 0.25, 4.0, 100.0, 2.0, 2.0}},
      {1.6449340668482266, 128.54695896428433, 8.8192791492354736, 2.550416637504999e-09, kInfinity, kNan});
  ExpectFunction(
      "polygamma", {{0, 1, 2, 5, 0.5}, {1.5, 0.5, 3.0, 10.0, 1.0}},
      {0.03648997397857652, 4.9348022005446799, -0.15411380631918856, 3.0594516211726819e-04, kNan});
  ExpectFunction("next_after", {{0.0, 1.0, -1.0, 2.0, kNan}, {1.0, 2.0, 1.0, 2.0, 1.0}},
                 {std::nextafter(0.0, 1.0), std::nextafter(1.0, 2.0), std::nextafter(-1.0, 1.0), 2.0, kNan});
}

TEST(Convert, SizesThatAreKnownRefineDynamicOperations) {
  const std::string text = R"(
func.func @main(%x: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x3xi32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %m = stablehlo.multiply %n, %two : tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  %z = call @filled(%n) : (tensor<i32>) -> tensor<?x3xi32>
  return %y, %z : tensor<?xf32>, tensor<?x3xi32>
}
func.func private @filled(%n: tensor<i32>) -> tensor<?x3xi32> {
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %s, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %z = stablehlo.dynamic_broadcast_in_dim %n, %sizes, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x3xi32>
  return %z : tensor<?x3xi32>
})";
  EXPECT_THAT(ErrorText(text), HasSubstr("func.func @main: Argument 0 is f32[?,2]: its size is not known"));
  ArgumentSizes sizes = {{0, {2, 2}}};
  const Literal result = RunText(text, {Literal::Array<float>({2, 2}, {1, 2, 3, 4})}, sizes);
  EXPECT_THAT(Elements<float>(result.elements()[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Elements<int32_t>(result.elements()[1]), ElementsAre(2, 2, 2, 2, 2, 2));
  sizes = {{0, {2, 3}}};
  EXPECT_THAT(ErrorText(text, sizes),
              HasSubstr("Argument 0 of the function @main is f32[?,2]; the call has f32[2,3]"));
}

// A step beyond the last number of 64 bits once led to what lies before the array.
TEST(Convert, ASliceOfSizesMayHaveAnyStep) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi64>
  %s = stablehlo.slice %c [1:3:9223372036854775807] : (tensor<3xi64>) -> tensor<1xi64>
  %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})";
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar<float>(2)})), ElementsAre(2, 2, 2, 2));
}

// JAX divides a size like this: in a function of two results, by signs and remainders.
TEST(Convert, SizesAreKnownThroughCallsAndArithmetic) {
  const std::string text = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %half:2 = call @divmod(%n, %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reshape %half#0 : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.reshape %half#1 : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %limit = stablehlo.add %start, %m : tensor<1xi32>
  %part = stablehlo.real_dynamic_slice %x, %start, %limit, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %before = stablehlo.subtract %m, %one : tensor<1xi32>
  %after = stablehlo.subtract %one, %one : tensor<1xi32>
  %low = stablehlo.reshape %before : (tensor<1xi32>) -> tensor<1x1xi32>
  %high = stablehlo.reshape %after : (tensor<1xi32>) -> tensor<1x1xi32>
  %padding = stablehlo.concatenate %low, %high, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %sum = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%part, %zero, %m, %one, %one, %one, %padding) {api_version = 2 : i32, called_computations = [@add]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}
func.func private @divmod(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %q = stablehlo.divide %a, %b : tensor<i32>
  %r = stablehlo.remainder %a, %b : tensor<i32>
  %sa = stablehlo.sign %a : tensor<i32>
  %sb = stablehlo.sign %b : tensor<i32>
  %differ = stablehlo.compare NE, %sa, %sb, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %less = stablehlo.subtract %q, %one : tensor<i32>
  %floor = stablehlo.select %differ, %less, %q : tensor<i1>, tensor<i32>
  return %floor, %r : tensor<i32>, tensor<i32>
})";
  // Sums elements 1 to 3 of the numbers 1 to 7.
  const ArgumentSizes sizes = {{0, {7}}};
  const Literal result = RunText(text, {Literal::Vector<float>({1, 2, 3, 4, 5, 6, 7})}, sizes);
  EXPECT_THAT(Elements<float>(result), ElementsAre(2, 5, 9));
}

// By hand: -8 as u32, shifted with its top bit, is -4.
TEST(Convert, ShiftsOfSizesKeepTheTopBitOfUnsignedTypes) {
  const Literal result = RunText(R"(
func.func @main() -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xui32>
  %big = stablehlo.constant dense<4294967288> : tensor<1xui32>
  %less = stablehlo.shift_right_arithmetic %big, %one : tensor<1xui32>
  %size = stablehlo.negate %less : tensor<1xui32>
  %z = stablehlo.constant dense<2.0> : tensor<f32>
  %y = stablehlo.dynamic_broadcast_in_dim %z, %size, dims = [] : (tensor<f32>, tensor<1xui32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})",
                                 {});
  EXPECT_THAT(Elements<float>(result), ElementsAre(2, 2, 2, 2));
}

TEST(Convert, OperandsThatStateSizesLeaveNoneDynamic) {
  const auto module = Converted(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<4> : tensor<1xi32>
  %y = stablehlo.custom_call @mine(%x, %s) {indices_of_shape_operands = dense<[1]> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::Instruction root = (*module)->entry().root();
  EXPECT_EQ(hlo::ToStringNoLayout(root.shape()), "f32[4]");
  EXPECT_EQ(root.operand_count(), 1u);
}

// Converts infeed and outfeed to HLO, and back to StableHLO.
TEST(Convert, TransfersAreInstructionsWithTheirEnds) {
  const std::string text = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %in:3 = "stablehlo.infeed"(%t) <{infeed_config = "a"}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<s32>, !stablehlo.token)
  %one:2 = "stablehlo.infeed"(%in#2) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %out = "stablehlo.outfeed"(%in#0, %one#0, %one#1) <{outfeed_config = "b"}> : (tensor<2xf32>, tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %sent = "stablehlo.send"(%x, %out) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %got:2 = "stablehlo.recv"(%sent) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 3>, is_host_transfer = true, source_target_pairs = array<i64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %got#0 : tensor<2xf32>
})";
  std::string replaced = text;
  replaced.replace(replaced.find("tensor<s32>"), 11, "tensor<i32>");
  const auto module = Converted(replaced);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string hlo = hlo::ToText(**module);
  EXPECT_THAT(hlo, HasSubstr("((f32[2], s32[]), token[]) infeed("));
  EXPECT_THAT(hlo, HasSubstr("(f32[2], token[]) infeed("));
  EXPECT_THAT(hlo, HasSubstr("outfeed_shape=(f32[2], f32[2]), outfeed_config=\"b\""));
  EXPECT_THAT(hlo, HasSubstr("send-done("));
  EXPECT_THAT(hlo, HasSubstr("channel_id=8, is_host_transfer=true"));
  EXPECT_THAT(hlo, HasSubstr("recv-done("));
  EXPECT_THAT(
      ErrorText("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %t = \"stablehlo.outfeed\"(%x) : "
                "(tensor<2xf32>) -> !stablehlo.token\n  return %x : tensor<2xf32>\n}"),
      HasSubstr("Its last operand is not a token"));
}

// JAX exports lax.top_k with a symbolic k like this. By hand.
TEST(Convert, TopKTakesKFromAnOperand) {
  const std::string text = R"(
func.func @main(%x: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xi32>) {
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x?xf32>) -> tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %k = stablehlo.subtract %n, %one : tensor<i32>
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<2x?xf32>, tensor<i32>) -> (tensor<2x?xf32>, tensor<2x?xi32>)
  return %r#0, %r#1 : tensor<2x?xf32>, tensor<2x?xi32>
})";
  const Literal x = Literal::Array<float>({2, 3}, {3, 1, 2, -1, 0, 7});
  const Literal both = RunText(text, {x}, {{0, {2, 3}}});
  ASSERT_EQ(both.elements().size(), 2);
  EXPECT_THAT(Elements<float>(both.elements()[0]), ElementsAre(3, 2, 7, 0));
  EXPECT_THAT(Elements<int32_t>(both.elements()[1]), ElementsAre(0, 2, 2, 1));
  const std::string unknown = R"(
func.func @main(%x: tensor<4xf32>, %k: tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
})";
  EXPECT_THAT(ErrorText(unknown),
              HasSubstr("Its k depends on values that are known only when the program runs"));
}

// JAX exports lax.approx_max_k with symbolic sizes like this: k may be an operand, and sizes of results are.
// By hand.
TEST(Convert, ApproximateTopKTakesItsNumbersFromOperands) {
  const std::string text = R"(
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %k = stablehlo.divide %n, %two : tensor<i32>
  %size = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
  %all = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %i = stablehlo.dynamic_iota %all, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  CALL
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %r = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %r : tensor<i1>
})";
  const std::string config =
      "aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, "
      "reduction_input_size_override = -1 : i64";
  for (
      const std::string& call :
      {"%r:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %low, %none, %k, %size, %size) "
       "{called_computations = [@greater], indices_of_shape_operands = dense<[5, 6]> : tensor<2xi64>, "
       "mhlo.backend_config = {" +
           config +
           "}} : (tensor<?xf32>, tensor<?xi32>, tensor<f32>, tensor<i32>, "
           "tensor<i32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<?xf32>, tensor<?xi32>)",
       "%r:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %low, %none, %k) "
       "{called_computations = [@greater], mhlo.backend_config = {" +
           config +
           "}} : (tensor<?xf32>, "
           "tensor<?xi32>, tensor<f32>, tensor<i32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)",
       "%r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %low, %none, %size, %size) {called_computations = "
       "[@greater], indices_of_shape_operands = dense<[4, 5]> : tensor<2xi64>, mhlo.backend_config = {top_k = 2 : "
       "i64, " +
           config +
           "}} : (tensor<?xf32>, tensor<?xi32>, tensor<f32>, tensor<i32>, tensor<1xi32>, "
           "tensor<1xi32>) -> (tensor<?xf32>, tensor<?xi32>)"}) {
    std::string program = text;
    program.replace(program.find("CALL"), 4, call);
    const Literal both = RunText(program, {Literal::Vector<float>({1, 4, 3, 2})}, {{0, {4}}});
    ASSERT_EQ(both.elements().size(), 2) << call;
    EXPECT_THAT(Elements<float>(both.elements()[0]), ElementsAre(4, 3));
    EXPECT_THAT(Elements<int32_t>(both.elements()[1]), ElementsAre(1, 2));
  }
}

// The bits are those of lax.rng_bit_generator in JAX 0.10.2.
TEST(Convert, RandomBitsTakeTheirSizesFromAnOperand) {
  const std::string text = R"(
func.func @main(%key: tensor<2xui64>, %x: tensor<?xf32>) -> (tensor<2xui64>, tensor<?x2xui32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %sizes = stablehlo.concatenate %rows, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%key, %sizes) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x2xui32>)
  return %r#0, %r#1 : tensor<2xui64>, tensor<?x2xui32>
})";
  const Literal both =
      RunText(text, {Literal::Vector<uint64_t>({1, 2}), Literal::Vector<float>({0, 0, 0})}, {{1, {3}}});
  ASSERT_EQ(both.elements().size(), 2);
  EXPECT_THAT(Elements<uint64_t>(both.elements()[0]), ElementsAre(1, 5));
  EXPECT_THAT(Elements<uint32_t>(both.elements()[1]),
              ElementsAre(43444564, 2150618427, 3979645651, 3745730563, 1672743891, 4240503393));
}

TEST(Convert, SizesThatDependOnValuesAreRefused) {
  const std::string text = R"(
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})";
  EXPECT_THAT(ErrorText(text), StartsWith("3:8: stablehlo.dynamic_reshape: Operand 1 states sizes that are "
                                          "known only when the program runs"));
}

TEST(Convert, ShapeAssertionsAreChecked) {
  const std::string text = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %ok = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "b is {0}; it is at least 4", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
})";
  ArgumentSizes sizes = {{0, {4}}};
  EXPECT_TRUE(Converted(text, sizes).ok());
  sizes = {{0, {3}}};
  EXPECT_THAT(ErrorText(text, sizes), HasSubstr("b is 3; it is at least 4"));
}

TEST(Convert, RecursionIsRefused) {
  EXPECT_THAT(ErrorText(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %y = call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
})"),
              HasSubstr("7:8: func.call: The function @main calls itself; HLO has no recursion."));
}

TEST(Convert, ErrorsNameTheOperationAndItsPlace) {
  EXPECT_THAT(ErrorText(InMain("%r = stablehlo.uniform_dequantize %x : (tensor<2xf32>) -> tensor<2xf32>")),
              StartsWith("2:6: stablehlo.uniform_dequantize: It has no conversion to HLO."));
  EXPECT_THAT(ErrorText(InMain("%r = \"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>")),
              StartsWith("2:6: stablehlo.transpose: It has no attribute permutation."));
  EXPECT_THAT(ErrorText(InMain("%r = \"stablehlo.add\"(%x) : (tensor<2xf32>) -> tensor<2xf32>")),
              StartsWith("2:6: stablehlo.add: It has (1) operands; expected (2)."));
  EXPECT_THAT(ErrorText(InMain("%r = call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>")),
              StartsWith("2:6: func.call: It names the function @g, which the program does not have."));
  EXPECT_THAT(
      ErrorText(InMain("%s = stablehlo.constant dense<1.0> : tensor<3xf32>\n"
                       "%r = \"stablehlo.add\"(%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>")),
      HasSubstr("3:6: stablehlo.add: Operand 1 shape (f32[3]) of add differs from operand 0 shape (f32[2])"));
  EXPECT_THAT(
      ErrorText(InMain("%s = \"stablehlo.negate\"(%x) : (tensor<2xf32>) -> tensor<3xf32>\n"
                       "%r = stablehlo.negate %x : tensor<2xf32>")),
      HasSubstr(
          "2:6: stablehlo.negate: Its result 0 is stated to be f32[3]; its operands determine f32[2]."));
  EXPECT_THAT(ErrorText("func.func private @f() { return }"),
              HasSubstr("no function @main, and (0) public functions"));
}

// Programs that the readers never produce.

Operation Op(std::string name, std::vector<ValueId> operands, std::vector<Value> results) {
  Operation operation;
  operation.name = std::move(name);
  operation.operands = std::move(operands);
  operation.results = std::move(results);
  return operation;
}

const Type kScalar = Shape::Scalar(hlo::kF32);

// Returns a function main of one argument, value 0, that runs `operations` and returns value `returned`.
Program ProgramOf(std::vector<Operation> operations, ValueId returned) {
  Program program;
  Function& main = program.functions.emplace_back();
  main.name = "main";
  main.type = {{kScalar}, {kScalar}};
  Block& block = main.body.blocks.emplace_back();
  block.arguments = {{0, kScalar}};
  block.operations = std::move(operations);
  block.operations.push_back(Op("func.return", {returned}, {}));
  program.values = 100;
  return program;
}

std::string ErrorOfProgram(const Program& program) {
  const auto module = ToHlo(program);
  return module.ok() ? "no error" : ErrorOf(module.status()).text;
}

TEST(ConvertByHand, WhatIsNotDefinedIsAnError) {
  EXPECT_EQ(ErrorOfProgram(ProgramOf({}, 0)), "no error");
  EXPECT_THAT(ErrorOfProgram(ProgramOf({}, 7)),
              HasSubstr("func.return: Operand 0 is not defined before it is used."));
  EXPECT_THAT(ErrorOfProgram(ProgramOf({}, -1)), HasSubstr("is not defined"));
  EXPECT_THAT(
      ErrorOfProgram(ProgramOf(
          {Op("stablehlo.negate", {2}, {{1, kScalar}}), Op("stablehlo.negate", {0}, {{2, kScalar}})}, 1)),
      HasSubstr("stablehlo.negate: Operand 0 is not defined"));
}

TEST(ConvertByHand, BlocksAndTerminatorsAreChecked) {
  Program program = ProgramOf({}, 0);
  program.functions[0].body.blocks[0].operations.clear();
  EXPECT_THAT(ErrorOfProgram(program), HasSubstr("does not end with return"));
  program.functions[0].body.blocks.clear();
  EXPECT_THAT(ErrorOfProgram(program), HasSubstr("@main, which has no body"));
  EXPECT_THAT(ErrorOfProgram(ProgramOf({Op("stablehlo.return", {0}, {})}, 0)),
              HasSubstr("It is not at the end of a block."));
  program = ProgramOf({}, 0);
  program.functions[0].type.inputs.push_back(kScalar);
  EXPECT_THAT(ErrorOfProgram(program), HasSubstr("Its body takes (1) arguments; its type has (2)"));
  program = ProgramOf({}, 0);
  program.functions[0].type.results.clear();
  EXPECT_THAT(ErrorOfProgram(program), HasSubstr("It returns (1) values; its type has (0)"));
}

// Operations with a rule of their own.
constexpr const char* kOperations[] = {
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.broadcast",
    "stablehlo.broadcast_in_dim",
    "stablehlo.case",
    "stablehlo.cholesky",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.collective_reduce",
    "stablehlo.compare",
    "stablehlo.composite",
    "stablehlo.concatenate",
    "stablehlo.constant",
    "stablehlo.convolution",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_conv",
    "stablehlo.dynamic_gather",
    "stablehlo.dynamic_iota",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.fft",
    "stablehlo.gather",
    "stablehlo.get_dimension_size",
    "stablehlo.get_tuple_element",
    "stablehlo.if",
    "stablehlo.iota",
    "stablehlo.map",
    "stablehlo.optimization_barrier",
    "stablehlo.pad",
    "stablehlo.partition_id",
    "stablehlo.real_dynamic_slice",
    "stablehlo.reduce",
    "stablehlo.reduce_precision",
    "stablehlo.reduce_scatter",
    "stablehlo.reduce_window",
    "stablehlo.replica_id",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.rng",
    "stablehlo.rng_bit_generator",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.set_dimension_size",
    "stablehlo.slice",
    "stablehlo.sort",
    "stablehlo.transpose",
    "stablehlo.triangular_solve",
    "stablehlo.tuple",
    "stablehlo.while",
    "chlo.top_k",
    "chlo.lgamma",
    "chlo.zeta",
    "chlo.next_after",
    "chlo.conj",
    "sdy.manual_computation",
    "sdy.sharding_constraint",
    "func.call",
};

// Returns an operation without attributes, whose regions are a block that returns its first argument, an
// empty region, and another such block.
Operation Bare(const char* name, size_t operands, int results, size_t regions) {
  Operation operation = Op(name, std::vector<ValueId>(operands, 0), {});
  for (int i = 0; i < results; ++i) operation.results.push_back({1 + i, kScalar});
  for (size_t i = 0; i < regions; ++i) {
    Region& region = operation.regions.emplace_back();
    if (i == 1) continue;
    Block& block = region.blocks.emplace_back();
    for (size_t a = 0; a < operands; ++a) block.arguments.push_back({static_cast<ValueId>(10 + a), kScalar});
    block.operations.push_back(
        Op("stablehlo.return", operands == 0 ? std::vector<ValueId>{} : std::vector<ValueId>{10}, {}));
  }
  return operation;
}

TEST(ConvertByHand, EveryOperationSurvivesAnyOperandsAndNoAttributes) {
  // Each known operation without attributes, with no, one and many operands, results and regions, is an error
  // or a conversion, never a crash.
  for (const char* name : kOperations) {
    for (size_t operands = 0; operands <= 5; ++operands) {
      for (int results = 0; results <= 3; ++results) {
        for (size_t regions = 0; regions <= 2; ++regions)
          ErrorOfProgram(ProgramOf({Bare(name, operands, results, regions)}, 0));
      }
    }
  }
}

TEST(ConvertByHand, DeepNestingIsALimitAndNotACrash) {
  Operation inner = Op("stablehlo.negate", {0}, {{1, kScalar}});
  for (int depth = 0; depth < 1000; ++depth) {
    Operation outer = Op("stablehlo.if", {0}, {{2, kScalar}});
    outer.regions.resize(2);
    outer.regions[0].blocks.emplace_back().operations.push_back(std::move(inner));
    inner = std::move(outer);
  }
  EXPECT_THAT(ErrorOfProgram(ProgramOf({std::move(inner)}, 0)),
              HasSubstr("Its regions nest deeper than the limit (64)."));
}

TEST(ConvertByHand, FunctionsThatDoubleAreALimit) {
  // f30 calls f29 twice with different numbers, f29 calls f28 twice, and so on: 2^30 computations.
  std::string text =
      "func.func @main(%x: tensor<?xf32>) -> tensor<i32> {\n"
      "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "%r = call @f30(%n) : (tensor<i32>) -> tensor<i32>\nreturn %r : tensor<i32>\n}\n";
  for (int i = 30; i > 0; --i) {
    absl::StrAppend(
        &text, "func.func private @f", i, "(%n: tensor<i32>) -> tensor<i32> {\n",
        "%two = stablehlo.constant dense<2> : tensor<i32>\n%one = stablehlo.constant dense<1> : "
        "tensor<i32>\n",
        "%a = stablehlo.multiply %n, %two : tensor<i32>\n%b = stablehlo.add %a, %one : tensor<i32>\n",
        "%p = call @f", i - 1, "(%a) : (tensor<i32>) -> tensor<i32>\n%q = call @f", i - 1,
        "(%b) : (tensor<i32>) -> tensor<i32>\n%r = stablehlo.add %p, %q : tensor<i32>\n",
        "return %r : tensor<i32>\n}\n");
  }
  text += "func.func private @f0(%n: tensor<i32>) -> tensor<i32> {\nreturn %n : tensor<i32>\n}\n";
  ArgumentSizes sizes = {{0, {1}}};
  EXPECT_THAT(ErrorText(text, sizes), HasSubstr("have more versions than the limit (10000)"));
}

}  // namespace
}  // namespace hlod::stablehlo
