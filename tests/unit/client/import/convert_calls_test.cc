// StableHLO to HLO: custom calls, composites and the functions of CHLO, by their results. Numbers are
// computed by hand or by SciPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/hlo/text/text.h"
#include "tests/unit/client/import/convert.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// JAX exported for TPUs so until 2023.
TEST(ConvertCalls, ACustomCallMayHaveOneResultThatIsATuple) {
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

TEST(ConvertCalls, ATypedCustomCallKeepsItsDictionaryAsText) {
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

TEST(ConvertCalls, ACompositeCallsItsDecomposition) {
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

TEST(ConvertCalls, CompositesOfChloAreThoseFunctions) {
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

TEST(ConvertCalls, SpecialFunctionsOfDoubles) {
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

// JAX exports lax.top_k with a symbolic k like this. By hand.
TEST(ConvertCalls, TopKTakesKFromAnOperand) {
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
TEST(ConvertCalls, ApproximateTopKTakesItsNumbersFromOperands) {
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
TEST(ConvertCalls, RandomBitsTakeTheirSizesFromAnOperand) {
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

}  // namespace
}  // namespace hlod::stablehlo
