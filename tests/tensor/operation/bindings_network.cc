// Products of matrices, convolution, pooling, normalisation.
#include "tests/tensor/operation/bindings.h"

namespace hlod {
namespace {

Padding PaddingOf(Arguments& a) {
  const nlohmann::json& given = a.Json("padding");
  if (!given.is_string()) return Padding(a.Ints("padding", Dims{0}));
  return a.Text("padding") == "same" ? Padding("same") : Padding("valid");
}

using Convolution = Tensor (*)(const Operand&, const Operand&, const Tensor&, ConvOptions);
Binding Conv(const char* name, Convolution function) {
  return {name, "input weight bias stride padding dilation groups", [function](Arguments& a) {
            const ConvOptions options = {a.Ints("stride", Dims{1}), PaddingOf(a), a.Ints("dilation", Dims{1}),
                                         a.Int("groups", 1)};
            return function(a.Arg("input"), a.Arg("weight"), a.Array("bias"), options);
          }};
}

using Transposed = Tensor (*)(const Operand&, const Operand&, const Tensor&, ConvTransposeOptions);
Binding ConvTranspose(const char* name, Transposed function) {
  return {name, "input weight bias stride padding output_padding groups dilation", [function](Arguments& a) {
            const ConvTransposeOptions options = {.stride = a.Ints("stride", Dims{1}),
                                                  .padding = a.Ints("padding", Dims{0}),
                                                  .output_padding = a.Ints("output_padding", Dims{0}),
                                                  .groups = a.Int("groups", 1),
                                                  .dilation = a.Ints("dilation", Dims{1})};
            return function(a.Arg("input"), a.Arg("weight"), a.Array("bias"), options);
          }};
}

std::optional<Sizes> StrideOf(Arguments& a) {
  const std::optional<Dims> stride = a.MaybeInts("stride");
  if (!stride.has_value() || stride->empty()) return std::nullopt;
  return Sizes(*stride);
}

using Mean = Tensor (*)(const Operand&, Sizes, AvgPoolOptions);
Binding AvgPool(const char* name, Mean function) {
  return {name, "input kernel_size stride padding ceil_mode count_include_pad divisor_override",
          [function](Arguments& a) {
            const AvgPoolOptions options = {StrideOf(a), a.Ints("padding", Dims{0}),
                                            a.Bool("ceil_mode", false), a.Bool("count_include_pad", true),
                                            a.MaybeInt("divisor_override")};
            return function(a.Arg("input"), a.Ints("kernel_size"), options);
          }};
}

}  // namespace

std::vector<Binding> NetworkBindings() {
  return {
      {"dot", "input tensor", [](Arguments& a) { return Dot(a.Arg("input"), a.Arg("tensor")); }},
      {"mm", "input mat2", [](Arguments& a) { return Mm(a.Arg("input"), a.Arg("mat2")); }},
      {"bmm", "input mat2", [](Arguments& a) { return Bmm(a.Arg("input"), a.Arg("mat2")); }},
      {"mv", "input vec", [](Arguments& a) { return Mv(a.Arg("input"), a.Arg("vec")); }},
      {"outer", "input vec2", [](Arguments& a) { return Outer(a.Arg("input"), a.Arg("vec2")); }},
      {"addmm", "input mat1 mat2 beta alpha",
       [](Arguments& a) {
         return Addmm(a.Arg("input"), a.Arg("mat1"), a.Arg("mat2"), a.Number("beta", 1),
                      a.Number("alpha", 1));
       }},
      {"nn.functional.linear", "input weight bias",
       [](Arguments& a) { return Linear(a.Arg("input"), a.Arg("weight"), a.Array("bias")); }},
      {"einsum", "operands equation",
       [](Arguments& a) { return Einsum(a.Text("equation"), a.Arrays("operands")); }},
      Conv("nn.functional.conv1d", Conv1d),
      Conv("nn.functional.conv2d", Conv2d),
      ConvTranspose("nn.functional.conv_transpose1d", ConvTranspose1d),
      ConvTranspose("nn.functional.conv_transpose2d", ConvTranspose2d),
      ConvTranspose("nn.functional.conv_transpose3d", ConvTranspose3d),
      AvgPool("nn.functional.avg_pool1d", AvgPool1d),
      AvgPool("nn.functional.avg_pool2d", AvgPool2d),
      AvgPool("nn.functional.avg_pool3d", AvgPool3d),
      {"nn.functional.adaptive_avg_pool1d", "input output_size",
       [](Arguments& a) { return AdaptiveAvgPool1d(a.Arg("input"), a.Ints("output_size")); }},
      {"nn.functional.adaptive_avg_pool2d", "input output_size",
       [](Arguments& a) { return AdaptiveAvgPool2d(a.Arg("input"), a.Ints("output_size")); }},
      {"nn.functional.batch_norm", "input running_mean running_var weight bias training momentum eps",
       [](Arguments& a) {
         return BatchNorm(a.Arg("input"), a.Array("running_mean"), a.Array("running_var"), a.Array("weight"),
                          a.Array("bias"), a.Bool("training", false), a.Double("momentum", 0.1),
                          a.Double("eps", 1e-5));
       }},
      {"nn.functional.layer_norm", "input normalized_shape weight bias eps",
       [](Arguments& a) {
         return LayerNorm(a.Arg("input"), a.Ints("normalized_shape"), a.Array("weight"), a.Array("bias"),
                          a.Double("eps", 1e-5));
       }},
      {"nn.functional.group_norm", "input num_groups weight bias eps",
       [](Arguments& a) {
         return GroupNorm(a.Arg("input"), a.Int("num_groups"), a.Array("weight"), a.Array("bias"),
                          a.Double("eps", 1e-5));
       },
       /*slack=*/8},  // PyTorch rounds bf16 between its steps.
  };
}

}  // namespace hlod
