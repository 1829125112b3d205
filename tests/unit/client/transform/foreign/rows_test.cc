// The acceptance rows of foreign code: HLO modules, custom calls, host functions. Expected values are
// computed by hand.
#include "hlod/transform/foreign.h"

#include <filesystem>
#include <fstream>

#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class ForeignRows : public TensorTest {};

// The arguments are a pair (x, factor) and one that is never read.
constexpr char kModule[] = R"(HloModule scaled

scale {
  a = f32[2] parameter(0)
  b = f32[] parameter(1)
  wide = f32[2] broadcast(b), dimensions={}
  ROOT product = f32[2] multiply(a, wide)
}

ENTRY main {
  pair = (f32[2], f32[]) parameter(0)
  unused = s32[3] parameter(1)
  x = f32[2] get-tuple-element(pair), index=0
  factor = f32[] get-tuple-element(pair), index=1
  scaled = f32[2] call(x, factor), to_apply=scale
  one = f32[] constant(1)
  ones = f32[2] broadcast(one), dimensions={}
  more = f32[2] add(scaled, ones)
  ROOT result = (f32[2], (f32[2])) tuple(scaled, (f32[2]) tuple(more))
}
)";

std::string Text() {
  std::string text = kModule;
  const std::string inner = "(f32[2]) tuple(more)";
  text.replace(text.find(inner), inner.size(), "rest");
  const std::string root = "  ROOT result";
  return text.replace(text.find(root), root.size(), "  rest = (f32[2]) tuple(more)\n  ROOT result");
}

// The same program in StableHLO, where the results are not nested.
constexpr char kStablehlo[] = R"(module @scaled {
func.func public @main(%x: tensor<2xf32>, %factor: tensor<f32>, %unused: tensor<3xi32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %scaled = call @scale(%x, %factor) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
  %more = stablehlo.add %scaled, %ones : tensor<2xf32>
  return %scaled, %more : tensor<2xf32>, tensor<2xf32>
}
func.func private @scale(%a: tensor<2xf32>, %b: tensor<f32>) -> tensor<2xf32> {
  %wide = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %product = stablehlo.multiply %a, %wide : tensor<2xf32>
  return %product : tensor<2xf32>
}
}
)";

// Acceptance row JX4.
TEST_F(ForeignRows, AModuleIsAFunctionOfTensors) {
  const std::string bytes = hlo::Serialize(*hlo::ParseModule(Text()).value());
  for (const std::string& form : {Text(), bytes, std::string(kStablehlo)}) {
    const LoadedFunction scaled = LoadFunctionFromBytes(form);
    ASSERT_EQ(scaled.parameters().size(), 3u);
    ASSERT_EQ(scaled.results().size(), 2u);
    const Tensor x = OnDevice({1, 2}, {2}), factor = OnDevice({3}, {});
    const Tensor unused = Zeros({3}, {.type = kS32, .device = device()});
    const std::vector<Tensor> results = scaled({x, factor, unused});
    EXPECT_THAT(results[0].ToVector<float>(), ElementsAre(3, 6));
    EXPECT_THAT(results[1].ToVector<float>(), ElementsAre(4, 7));
    // Calls it within a program, with trees, and on the host.
    const auto [first, second] =
        scaled.Call(std::pair<Tensor, Tensor>(x, x), std::pair(x + x, factor), unused);
    EXPECT_THAT((first * second).ToVector<float>(), ElementsAre(6 * 7, 12 * 13));
    EXPECT_THAT(scaled({x.ToHost(), factor.ToHost(), unused.ToHost()})[1].ToVector<float>(),
                ElementsAre(4, 7));
  }
}

// Acceptance row JX5.
TEST_F(ForeignRows, CallsAreFoundByContent) {
  const Tensor x = OnDevice({1, 2}, {2}), factor = OnDevice({3}, {}),
               unused = Zeros({3}, {.type = kS32, .device = device()});
  unused.ToHost();
  for (int i = 0; i < 3; ++i) LoadFunctionFromBytes(Text())({x, factor, unused})[0].ToHost();
  const int64_t compiles = GetTraceStats().compiles;
  LoadFunctionFromBytes(Text())({x, factor, unused})[0].ToHost();
  EXPECT_EQ(GetTraceStats().compiles, compiles);
}

TEST_F(ForeignRows, WhatDoesNotFitAModuleIsNamed) {
  const LoadedFunction scaled = LoadFunctionFromBytes(Text());
  const Tensor x = OnDevice({1, 2}, {2});
  Throws([&] { scaled({x}); });
  EXPECT_THAT(last_what_, HasSubstr("scaled takes 3 arguments; 1 are given"));
  Throws([&] { scaled({x, x, x}); });
  EXPECT_THAT(last_what_, HasSubstr("argument 1 of scaled is f32[2]; the module takes f32[]"));
  Throws([&] { LoadFunctionFromBytes("HloModule broken\nENTRY e { ROOT x = f32[2] nonsense() }"); });
  EXPECT_THAT(last_what_, HasSubstr("nonsense"));
}

// Acceptance row JX11.
TEST_F(ForeignRows, AMissingPathIsNamed) {
  Throws([&] { LoadFunction("/nowhere/at/all.hlo"); });
  EXPECT_THAT(last_what_, HasSubstr("No such file or directory: /nowhere/at/all.hlo"));
}

// Acceptance row JX1.
TEST_F(ForeignRows, ACustomCallCarriesItsPayloadByteForByte) {
  const Tensor x = OnDevice({1, 2}, {2});
  const std::string payload("{\"custom_call_config\": {\"body\": \"TUzvUg\0\"}}", 44);
  const Tensor y =
      CustomCall("tpu_custom_call", {x, x}, Shape::Array(kF32, {2}), {.payload = payload, .api_version = 1});
  const auto module = Lower(std::vector<Tensor>{y});
  const hlo::Instruction call = module->entry().root();
  ASSERT_EQ(call.opcode(), hlo::kCustomCall);
  EXPECT_EQ(call.attributes<hlo::CustomCallAttributes>().backend_config, payload);
  EXPECT_EQ(call.attributes<hlo::CustomCallAttributes>().target, "tpu_custom_call");
  EXPECT_EQ(call.operand_count(), 2u);
  const std::vector<Tensor> pair =
      CustomCall("two", {x}, std::vector<Shape>{Shape::Array(kF32, {2}), Shape::Scalar(kS32)});
  EXPECT_EQ(pair[1].dtype(), kS32);
}

// Acceptance row JX2.
TEST_F(ForeignRows, PayloadAndVersionArePartOfTheKey) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto text = [&](const CustomCallOptions& options) {
    return Dump(CustomCall("f", {x}, Shape::Array(kF32, {2}), options), DumpFormat::kHlo);
  };
  EXPECT_NE(text({.payload = "a"}), text({.payload = "b"}));
  EXPECT_NE(text({.payload = "a"}), text({.payload = "a", .api_version = 4}));
  // The daemon implements the target TopK.
  const auto largest = [&](const std::string& payload) {
    return CustomCall("TopK", {x}, std::vector<Shape>{Shape::Array(kF32, {1}), Shape::Array(kS32, {1})},
                      {.payload = payload})[0]
        .ToVector<float>();
  };
  EXPECT_THAT(largest(""), ElementsAre(2));
  const int64_t compiles = GetTraceStats().compiles;
  largest("x");
  EXPECT_EQ(GetTraceStats().compiles, compiles + 1);
}

// Acceptance row JX3.
TEST_F(ForeignRows, AnUnknownTargetIsNamed) {
  const Tensor x = OnDevice({1, 2}, {2});
  const Tensor y = CustomCall("my_kernel", {x}, Shape::Array(kF32, {2}));
  Throws([&] { y.ToHost(); });
  EXPECT_THAT(last_what_, HasSubstr("my_kernel"));
  EXPECT_THAT((x + 1).ToVector<float>(), ElementsAre(2, 3));
}

TEST_F(ForeignRows, AHostFunctionSplitsTheGraphAndIsCounted) {
  const Tensor x = OnDevice({1, 2}, {2});
  const std::vector<Tensor> results = HostFunction("reverse",
                                                   [](const std::vector<Tensor>& inputs) {
                                                     std::vector<float> values = inputs[0].ToVector<float>();
                                                     std::reverse(values.begin(), values.end());
                                                     return std::vector<Tensor>{FromValues<float>(values)};
                                                   },
                                                   {x * 2});
  EXPECT_EQ(results[0].device(), device());
  EXPECT_THAT((results[0] + x).ToVector<float>(), ElementsAre(5, 4));
  const TraceStats stats = GetTraceStats();
  EXPECT_EQ(stats.host_functions, 1);
  EXPECT_EQ(stats.closes_by_cause[static_cast<size_t>(TraceCause::kHostFunction)], 1);
  const Tensor p = Placeholder({2}, kF32, device());
  EXPECT_EQ(KindOf(Thrown([&] { HostFunction("id", [](const std::vector<Tensor>& t) { return t; }, {p}); })),
            ErrorKind::kPlaceholder);
}

}  // namespace
}  // namespace hlod
