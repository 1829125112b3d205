// StableHLO to HLO: hoisting, cloning and refusals, by results and by errors. Numbers are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/hlo/text/text.h"
#include "tests/unit/client/import/convert.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;
using hlo::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
