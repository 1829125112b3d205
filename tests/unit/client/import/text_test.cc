// The conversion of StableHLO text, rule by rule, and its errors. Expected values follow MLIR's language
// reference and StableHLO's specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/import/program/attribute_text.h"
#include "client/import/program/operation.h"
#include "common/hlo/elements/small_types.h"
#include "tests/unit/client/import/program_text.h"

namespace hlod::stablehlo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program Parse(std::string_view text) {
  absl::StatusOr<Program> program = ParseText(text);
  EXPECT_TRUE(program.ok()) << text << "\n" << program.status();
  return program.ok() ? *std::move(program) : Program();
}

// Returns a function with these operations and a few arguments.
std::string Function(std::string_view body) {
  return absl::StrCat(
      "func.func @main(%x: tensor<4xf32>, %n: tensor<4xi32>, %s: tensor<f32>, %p: tensor<i1>) {\n",
      std::string(body), "\n  return\n}\n");
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Program> program = ParseText(text);
  EXPECT_FALSE(program.ok()) << text;
  return std::string(program.status().message());
}

// Returns the first operation of a function with this body.
Operation First(std::string_view body) {
  Program program = Parse(Function(body));
  if (program.functions.empty()) return {};
  return std::move(program.functions[0].body.blocks[0].operations[0]);
}

// Returns the attribute `a` of an operation that states this value.
Attribute AttributeOf(std::string_view value, std::string_view before = "") {
  Program program =
      Parse(absl::StrCat(std::string(before), "\n",
                         Function(absl::StrCat("\"a.b\"() {a = ", std::string(value), "} : () -> ()"))));
  if (program.functions.empty()) return {};
  return program.functions[0].body.blocks[0].operations[0].attributes["a"];
}

template <typename T>
std::vector<T> Elements(std::string_view constant) {
  Operation operation = First(absl::StrCat("%c = stablehlo.constant ", std::string(constant)));
  const hlo::Literal literal = std::get<hlo::Literal>(operation.attributes["value"].value);
  const auto data = literal.data<T>();
  return std::vector<T>(data.begin(), data.end());
}

TEST(Text, ValuesAreNumberedInTheOrderOfTheirDefinitions) {
  const Program program = Parse(R"(
module @m attributes {a.b = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0:2 = stablehlo.while(%a = %arg0, %b = %arg0) : tensor<2xf32>, tensor<2xf32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %b, %a : tensor<2xf32>, tensor<2xf32>
    }
    return %0#1 : tensor<2xf32>
  }
})");
  EXPECT_EQ(ToText(program), R"(module m {a.b = 1 : s32} 8
public main (f32[2]) -> (f32[2])
  {}
  {}
  (%0: f32[2])
    stablehlo.while(%0, %0) -> (%1: f32[2], %2: f32[2])
      (%3: f32[2], %4: f32[2])
        stablehlo.constant() -> (%5: pred[])
            value = pred[] 01
        stablehlo.return(%5) -> ()
      (%6: f32[2], %7: f32[2])
        stablehlo.return(%7, %6) -> ()
    func.return(%2) -> ()
)");
}

TEST(Text, AppliedOperationIsARegionOfScalars) {
  const Operation reduce = First(
      "%r = stablehlo.reduce(%x init: %s) applies stablehlo.maximum across dimensions = [0] : "
      "(tensor<4xf32>, tensor<f32>) -> tensor<f32>");
  EXPECT_EQ(ToText(reduce), R"(stablehlo.reduce(%0, %2) -> (%4: f32[])
    dimensions = [0] : s64
  (%5: f32[], %6: f32[])
    stablehlo.maximum(%5, %6) -> (%7: f32[])
    stablehlo.return(%7) -> ()
)");
}

TEST(Text, RegionsSeeOuterValuesAndSiblingsRepeatNames) {
  Parse(Function(R"(
    %r = "stablehlo.if"(%p) ({
      %y = stablehlo.add %x, %x : tensor<4xf32>
      stablehlo.return %y : tensor<4xf32>
    }, {
      %y = stablehlo.negate %x : tensor<4xf32>
      stablehlo.return %y : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>)"));
  EXPECT_THAT(ErrorOf(Function(R"("stablehlo.if"(%p) ({
      %x = stablehlo.negate %s : tensor<f32>
      stablehlo.return
    }, { stablehlo.return }) : (tensor<i1>) -> ())")),
              HasSubstr("3:7: %x is defined twice; the first definition is at 1:17"));
  EXPECT_THAT(ErrorOf(Function(R"("stablehlo.if"(%p) ({
      %y = stablehlo.negate %s : tensor<f32>
      stablehlo.return
    }, { stablehlo.return %y : tensor<f32> }) : (tensor<i1>) -> ())")),
              HasSubstr("5:27: %y is not defined before its use here"));
}

TEST(Text, UsesAreChecked) {
  EXPECT_THAT(ErrorOf(Function("%y = stablehlo.add %x, %z : tensor<4xf32>")),
              HasSubstr("2:24: %z is not defined before its use here"));
  EXPECT_THAT(ErrorOf(Function("%y = stablehlo.add %x, %y : tensor<4xf32>")), HasSubstr("%y is not defined"));
  EXPECT_THAT(ErrorOf(Function("%y = stablehlo.negate %x#1 : tensor<4xf32>")), HasSubstr("%x has 1 values"));
  EXPECT_THAT(
      ErrorOf(Function("%y = stablehlo.negate %n : tensor<4xf32>")),
      HasSubstr("2:6: operand 0 of stablehlo.negate has the type s32[4], but is stated to be f32[4]"));
  EXPECT_THAT(ErrorOf(Function("%y:2 = stablehlo.negate %x : tensor<4xf32>")),
              HasSubstr("has 1 results, but names for 2"));
  EXPECT_THAT(ErrorOf("func.func @f(%a: tensor<f32>) { return }\nfunc.func @g() { return %a : tensor<f32> }"),
              HasSubstr("%a is not defined"));
}

TEST(Text, IntegersOfEachWidth) {
  EXPECT_THAT(Elements<int8_t>("dense<[-128, 127, 255]> : tensor<3xi8>"), ElementsAre(-128, 127, -1));
  EXPECT_THAT(Elements<uint64_t>("dense<[18446744073709551615, 0x10]> : tensor<2xui64>"),
              ElementsAre(~0ull, 16));
  EXPECT_THAT(Elements<int64_t>("dense<-9223372036854775808> : tensor<1xi64>"), ElementsAre(INT64_MIN));
  EXPECT_THAT(Elements<bool>("dense<[[true], [false]]> : tensor<2x1xi1>"), ElementsAre(true, false));
  EXPECT_EQ(static_cast<int>(Elements<hlo::S4>("dense<[-8, 7]> : tensor<2xi4>")[0]), -8);
  EXPECT_THAT(Elements<int32_t>("dense<3> : tensor<2x2xi32>"), ElementsAre(3, 3, 3, 3));
  for (const char* wrong : {"256", "-129", "1.0", "true", "0x100"}) {
    SCOPED_TRACE(wrong);
    ErrorOf(Function(absl::StrCat("%c = stablehlo.constant dense<", wrong, "> : tensor<i8>")));
  }
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense<-1> : tensor<ui8>")), HasSubstr("unsigned"));
}

TEST(Text, FloatsInDecimalAndAsBits) {
  EXPECT_THAT(Elements<float>("dense<[1.5, -2.5e-1, 1.0e999, 1.0e-999]> : tensor<4xf32>"),
              ElementsAre(1.5f, -0.25f, std::numeric_limits<float>::infinity(), 0.0f));
  EXPECT_THAT(Elements<float>("dense<0xFF800000> : tensor<f32>"),
              ElementsAre(-std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(std::isnan(Elements<double>("dense<0x7FF8000000000000> : tensor<f64>")[0]));
  EXPECT_EQ(Elements<hlo::BF16>("dense<0x7FC1> : tensor<bf16>")[0].bits(), 0x7FC1);
  // 1 + 2^-8 + 2^-40 is rounded up from a double; from a float it would be a tie, rounded to even.
  EXPECT_EQ(Elements<hlo::BF16>("dense<1.0039062500009095> : tensor<bf16>")[0].bits(), 0x3F81);
  EXPECT_EQ(Elements<hlo::F8E4M3FN>("dense<448.0> : tensor<f8E4M3FN>")[0].bits(), 0x7E);
  EXPECT_EQ(Elements<hlo::F8E5M2>("dense<0x7C> : tensor<f8E5M2>")[0].bits(), 0x7C);
  EXPECT_EQ(Elements<hlo::F4E2M1FN>("dense<6.0> : tensor<f4E2M1FN>")[0].bits(), 0x7);
  EXPECT_THAT(Elements<std::complex<float>>("dense<[(1.0,-2.0), (0.0,0x7F800000)]> : tensor<2xcomplex<f32>>"),
              ElementsAre(std::complex<float>(1, -2),
                          std::complex<float>(0, std::numeric_limits<float>::infinity())));
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense<1> : tensor<f32>")),
              HasSubstr("expected a number with a point, or the 32 bits of f32 in hexadecimal"));
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense<0x100000000> : tensor<f32>")), HasSubstr("32"));
}

TEST(Text, BytesOfElements) {
  EXPECT_THAT(Elements<float>("dense<\"0x0000803F000000C0\"> : tensor<2xf32>"), ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(Elements<float>("dense<\"0x0000803F\"> : tensor<3xf32>"), ElementsAre(1.0f, 1.0f, 1.0f));
  EXPECT_THAT(Elements<bool>("dense<\"0x0100FF\"> : tensor<3xi1>"), ElementsAre(true, false, true));
  // Packed, as in MLIR before 2025: bit i of byte i / 8.
  EXPECT_THAT(Elements<bool>("dense<\"0x0502\"> : tensor<10xi1>"),
              ElementsAre(true, false, true, false, false, false, false, false, false, true));
  EXPECT_EQ(static_cast<int>(Elements<hlo::S4>("dense<\"0x0F07\"> : tensor<2xi4>")[0]), -1);
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>")),
              HasSubstr("1 bytes do not fit the elements of f32[2]"));
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense<\"0x0G00803F\"> : tensor<f32>")),
              HasSubstr("0G"));
}

TEST(Text, ResourcesAreFoundAtTheEnd) {
  const std::string text = Function("%c = stablehlo.constant dense_resource<blob> : tensor<2xi16>");
  const Program program = Parse(text + R"({-# dialect_resources: { builtin: { blob: "0x0200000001000200" } },
      external_resources: { other: { key: "{#-}" } } #-})");
  ASSERT_EQ(program.functions.size(), 1);
  EXPECT_EQ(ToText(program.functions[0].body.blocks[0].operations[0].attributes.at("value")),
            "s16[2] 01000200");
  EXPECT_THAT(ErrorOf(text), HasSubstr("no resource \"blob\""));
  EXPECT_THAT(ErrorOf(Function("%c = stablehlo.constant dense_resource<__elided__> : tensor<2xi16>")),
              HasSubstr("the constant is elided"));
}

TEST(Text, ListsMustHaveTheSizesOfTheType) {
  for (const char* wrong :
       {"dense<[1, 2]> : tensor<3xi32>", "dense<[1, 2, 3, 4]> : tensor<3xi32>",
        "dense<[[1], [2, 3]]> : tensor<2x1xi32>", "dense<[1, 2]> : tensor<1x2xi32>",
        "dense<[[1, 2]]> : tensor<2xi32>", "dense<[]> : tensor<2xi32>", "dense<> : tensor<2xi32>",
        "dense<[1, 2> : tensor<2xi32>", "dense<1, 2> : tensor<2xi32>", "dense<[1]> : tensor<?xi32>",
        "dense<[1]> : !stablehlo.token", "dense<1>", "dense<[1]"}) {
    SCOPED_TRACE(wrong);
    ErrorOf(Function(absl::StrCat("%c = stablehlo.constant ", wrong)));
  }
  EXPECT_THAT(Elements<int32_t>("dense<> : tensor<2x0xi32>"), ElementsAre());
  EXPECT_THAT(Elements<int32_t>("dense<[[], []]> : tensor<2x0xi32>"), ElementsAre());
}

TEST(Text, LargeSplatsAreNotExpanded) {
  for (const std::string_view value : {"dense<2.5>", "dense<\"0x00002040\">"}) {
    Operation operation =
        First(absl::StrCat("%c = stablehlo.constant ", std::string(value), " : tensor<1000000x1000000xf32>"));
    const auto& splat = std::get<Splat>(operation.attributes["value"].value);
    EXPECT_EQ(splat.element, hlo::Literal::Scalar(2.5f));
    EXPECT_EQ(hlo::ToString(splat.type), "f32[1000000,1000000]");
    EXPECT_EQ(hlo::ToString(operation.results[0].type), "f32[1000000,1000000]");
    EXPECT_EQ(TextOf(operation.attributes["value"]), "dense<2.50000000e+00> : tensor<1000000x1000000xf32>");
  }
}

TEST(Text, SplatsAreExpandedUpToALimit) {
  // The limit for a list of groups is smaller.
  EXPECT_THAT(ErrorOf(Function("%c = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<0> : "
                               "tensor<8000x8000xi64>}> ({}) : (tensor<4xf32>) -> tensor<4xf32>")),
              HasSubstr("this splat takes 512000000 bytes"));
  // The limit also applies to the sum of several constants.
  std::string constants;
  for (int i = 0; i <= 1024; ++i)
    absl::StrAppend(&constants, "%c", i, " = stablehlo.constant dense<0> : tensor<1048576xi8>\n");
  EXPECT_THAT(
      ErrorOf(Function(constants)),
      HasSubstr("this takes 1048576 bytes; splats of a program may expand to at most 1073741824 bytes"));
}

TEST(Text, TypesOfValues) {
  const Program program = Parse(
      "!t = tensor<?x4xf32>\n#b = #stablehlo.bounds<3, ?>\n"
      "func.func @f(%a: !t, %b: tensor<?x4xbf16, #b>, %c: tensor<?x4xi1, #stablehlo.type_extensions<bounds = "
      "[5, ?]>>, %d: !stablehlo.token, %e: tuple<tensor<ui8>, tuple<>>, %f: tensor<2xindex>, %g: "
      "tensor<0xcomplex<f64>>) { return }");
  ASSERT_EQ(program.functions.size(), 1);
  const std::vector<Type>& types = program.functions[0].type.inputs;
  EXPECT_EQ(hlo::ToString(types[0]), "f32[?,4]");
  EXPECT_EQ(types[0].dims[0], hlo::kUnboundedSize);
  EXPECT_EQ(hlo::ToString(types[1]), "bf16[<=3,4]");
  EXPECT_EQ(hlo::ToString(types[2]), "pred[<=5,4]");
  EXPECT_TRUE(types[3].IsToken());
  EXPECT_EQ(hlo::ToString(types[4]), "(u8[], ())");
  EXPECT_EQ(hlo::ToString(types[5]), "s64[2]");
  EXPECT_EQ(hlo::ToString(types[6]), "c128[0]");
}

TEST(Text, TypesThatAreRefusedAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"tensor<4xi17>", "expected an element type of HLO, found i17"},
      {"tensor<4xf8e5m2>", "found f8e5m2"},
      {"tensor<*xf32>", "of unknown rank"},
      {"tensor<4x!quant.uniform<i8:f32, 1.0>>", "quantized types are not supported"},
      {"tensor<4xcomplex<f16>>", "expected f32 or f64 in complex<...>, found f16"},
      {"tensor<4xf32, #sparse.x<1>>", "found the encoding #sparse.x"},
      {"tensor<4xf32, #stablehlo.bounds<3>>", "has both a size and a bound"},
      {"tensor<?xf32, #stablehlo.bounds<3, 4>>", "found 2 bounds for 1 dimensions"},
      {"tensor<99999999999999999999xf32>", "does not fit 64 bits"},
      {"tensor<9223372036854775807x9223372036854775807xf32>", ""},
      {"tensor<4 xf32>", "expected 'x'"},
      {"tensor<4>", "expected 'x'"},
      {"i32", "expected the type of a value"},
      {"!none.such", "found !none.such"},
      {"!t", "the alias !t is not defined"},
  };
  for (const auto& [type, message] : cases) {
    EXPECT_THAT(ErrorOf(absl::StrCat("func.func @f(%a: ", type, ") { return }")), HasSubstr(message)) << type;
  }
}

TEST(Text, AttributesKeepTheirTypes) {
  EXPECT_EQ(ToText(AttributeOf("76 : ui8")), "76 : u8");
  EXPECT_EQ(ToText(AttributeOf("7")), "7 : s64");
  EXPECT_EQ(ToText(AttributeOf("-2.5e-01 : f32")), "-0.25 : f32");
  EXPECT_EQ(ToText(AttributeOf("0x3F80 : bf16")), "1 : bf16");
  EXPECT_EQ(ToText(AttributeOf("true")), "true : pred");
  EXPECT_EQ(ToText(AttributeOf("[1 : i32, 2 : i32]")), "[1,2] : s32");
  EXPECT_EQ(ToText(AttributeOf("[1 : i32, 2 : i64]")), "[1 : s32; 2 : s64]");
  EXPECT_EQ(ToText(AttributeOf("array<i1: true, false>")), "[1,0] : pred");
  EXPECT_EQ(ToText(AttributeOf("array<f32: 1.5>")), "[1.5 : f32] : f32");
  EXPECT_EQ(ToText(AttributeOf("dense<[1, 0]> : tensor<2xindex>")), "[1,0] : s64");
  EXPECT_EQ(ToText(AttributeOf("dense<2> : tensor<3xi64>")), "[2,2,2] : s64");
  EXPECT_EQ(ToText(AttributeOf("dense<[[1, 0]]> : tensor<1x2xi8>")), "s8[1,2] 0100");
  EXPECT_EQ(ToText(AttributeOf("\"a\\22\\0A\\\\\\t\"")), R"("a\"\n\\\t")");
  EXPECT_EQ(ToText(AttributeOf("#stablehlo<precision HIGHEST>")), "HIGHEST");
  EXPECT_EQ(ToText(AttributeOf("#sdy.sharding<@m, [{\"x\"}, {}]>")), "#sdy.sharding<@m, [{\"x\"}, {}]>");
  EXPECT_EQ(ToText(AttributeOf("#a", "#a = [#b, @f]\n#b = {x, y = \"}\"}")), "[{x = unit, y = \"}\"}; @f]");
}

TEST(Text, StructuresAreFlat) {
  const Operation dot = First(
      R"(%r = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)");
  EXPECT_EQ(ToText(dot), R"(stablehlo.dot_general(%0, %0) -> (%4: f32[])
    lhs_batching_dimensions = [] : s64
    lhs_contracting_dimensions = [0] : s64
    precision_config = [DEFAULT; HIGH]
    rhs_batching_dimensions = [] : s64
    rhs_contracting_dimensions = [0] : s64
)");
  const Operation call = First(
      R"(stablehlo.custom_call @f() {api_version = 4 : i32, algorithm = {x = 1}, channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>} : () -> ())");
  EXPECT_EQ(ToText(call), R"(stablehlo.custom_call() -> ()
    api_version = 4
    call_target_name = "f"
    channel_id = 5 : s64
    channel_type = 2 : s64
    x = 1 : s64
)");
}

TEST(Text, LocationsNameTheScopeAndTheInnermostLine) {
  const Program program = Parse(R"(#loc = loc(unknown)
func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32> loc(#loc9)
  %1 = stablehlo.sine %0 : tensor<f32> loc(fused<"m">["a/b", "f.py":3:4 to 5:6])
    %2 = stablehlo.sine %1 : tensor<f32> loc(#loc)
  return %2 : tensor<f32> loc("f.py":8:1)
} loc(#loc)
#loc1 = loc("model.py":12:3 to :9)
#loc2 = loc("main.py":99:1)
#loc3 = loc(callsite("f"(#loc1) at #loc2))
#loc9 = loc("jit(f)/sin"(#loc3))
)");
  ASSERT_EQ(program.functions.size(), 1);
  const std::vector<Operation>& operations = program.functions[0].body.blocks[0].operations;
  EXPECT_EQ(operations[0].location.name, "jit(f)/sin");
  EXPECT_EQ(operations[0].location.file, "model.py");
  EXPECT_EQ(operations[0].location.line, 12);
  EXPECT_EQ(operations[1].location.name, "a/b");
  EXPECT_EQ(operations[1].location.line, 3);
  EXPECT_EQ(operations[2].location.name, "");
  EXPECT_EQ(operations[2].location.read_line, 5);
  EXPECT_EQ(operations[2].location.read_column, 10);
  EXPECT_EQ(operations[3].location.file, "f.py");
}

TEST(Text, FunctionsKeepVisibilityAndAttributes) {
  const Program program = Parse(R"(module @jit_f {
  func.func public @main(%a: tensor<f32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"}) -> (tensor<f32> {jax.result_info = "r"}) {
    %0 = call @"odd name"(%a) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @"odd name"(%a: tensor<f32>) -> tensor<f32> attributes {no_inline} {
    return %a : tensor<f32>
  }
})");
  ASSERT_EQ(program.functions.size(), 2);
  EXPECT_EQ(program.name, "jit_f");
  EXPECT_TRUE(program.functions[0].is_public);
  EXPECT_EQ(ToText(program.functions[0].argument_attributes[0].at("mhlo.sharding")), "\"{replicated}\"");
  EXPECT_EQ(ToText(program.functions[0].result_attributes[0].at("jax.result_info")), "\"r\"");
  EXPECT_EQ(program.functions[1].name, "odd name");
  EXPECT_FALSE(program.functions[1].is_public);
  EXPECT_TRUE(program.functions[1].argument_attributes[0].empty());
}

TEST(Text, ErrorsNameWhatWasFoundAndWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {Function("%y = stablehlo.transpose %x, dims = 0 : (tensor<4xf32>) -> tensor<4xf32>"),
       "2:37: expected '[', found \"0\""},
      {Function("%y = stablehlo.transpose %x : (tensor<4xf32>) -> tensor<4xf32>"),
       "2:29: expected ',' of stablehlo.transpose"},
      {Function("%y = stablehlo.nothing %x : tensor<4xf32>"),
       "2:6: expected an operation with a known short form, found stablehlo.nothing"},
      {Function("%y = stablehlo.compare LT, %x, %x : (tensor<4xf32>) -> tensor<4xi1>"),
       "has 2 operands, but types for 1"},
      {Function("\"stablehlo.send\"(%x)[^bb1] : (tensor<4xf32>) -> ()"), "successors are not supported"},
      {Function("\"a.b\"() {x = 1, x = 2} : () -> ()"), "the attribute x occurs twice"},
      {Function("\"a.b\"() {x = #stablehlo.dot<lhs = [0]>} : () -> ()"), "stablehlo.dot has no field lhs"},
      {Function("\"a.b\"() {x = #none} : () -> ()"), "the alias #none is not defined"},
      {Function("\"a.b\"() {x = \"no end} : () -> ()"), "this string has no end"},
      {Function("\"a.b\"() ({ stablehlo.return ^bb1: stablehlo.return }) : () -> ()"),
       "the region has several blocks"},
      {Function("\"a.b\"() ({ }) : () -> ()"), "a region of a.b does not end with a return"},
      {Function("stablehlo.return loc(here)"), "expected a location"},
      {"module { module { } }", "1:10: modules within modules are not supported"},
      {"module { } module { } module @x { } module { }", "a second module"},
      {"func.func @f() { return }\nfunc.func @f() { return }", "The function @f is defined twice."},
      {"func.func @f() -> tensor<f32>", "the function @f has no body"},
      {"#a = #a\nmodule {}", "the alias #a is defined by itself"},
      {"#a = [#b]\n#b = [#a]\nmodule {}", "is defined by itself"},
      {"#a = 1\n#a = 2\nmodule {}", "2:1: the alias #a is defined twice"},
      {"#a = 1 #a = 1\nmodule {}", "1:8: the definition of #a does not begin a line"},
      {"module {", "expected an operation or '}', found the end of the text"},
      {"HloModule m", "expected an operation with a known short form, found func.HloModule"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(ErrorOf(text), HasSubstr(message)) << text;
}

TEST(Text, StableHloIsToldFromHloText) {
  for (const char* text : {"module @m {}", "\n// A comment.\nmodule {}", "#loc = loc(unknown)\nmodule {}",
                           "!t = i32", "func.func @f() { return }", "\"builtin.module\"() ({}) : () -> ()"}) {
    EXPECT_TRUE(IsStablehloText(text)) << text;
  }
  for (const char* text : {"", "HloModule module", "modules", "ENTRY %main", "{}", "\"module\""}) {
    EXPECT_FALSE(IsStablehloText(text)) << text;
  }
}

}  // namespace
}  // namespace hlod::stablehlo
