// Products of matrices, convolution, normalisation.
#include "tests/unit/client/tensor/operation/bindings.h"

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

Results Three(const NormalizationResult& result) {
  return std::vector<Tensor>{result.output, result.mean, result.rstd};
}

std::optional<MaxNorm> MaxNormOf(Arguments& a) {
  const double p = a.Double("norm_type", 2);
  if (!a.Has("max_norm")) return std::nullopt;
  return MaxNorm{a.Double("max_norm"), p};
}

}  // namespace

std::vector<Binding> ProductBindings() {
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
  };
}

std::vector<Binding> NormalizationBindings() {
  return {
      {"nn.functional.batch_norm", "input running_mean running_var weight bias training momentum eps",
       [](Arguments& a) {
         return BatchNorm(a.Arg("input"), a.Array("running_mean"), a.Array("running_var"), a.Array("weight"),
                          a.Array("bias"), a.Bool("training", false), a.Double("momentum", 0.1),
                          a.Double("eps", 1e-5));
       }},
      {"native_batch_norm", "input weight bias running_mean running_var training momentum eps",
       [](Arguments& a) {
         return Three(NativeBatchNorm(a.Arg("input"), a.Array("running_mean"), a.Array("running_var"),
                                      a.Array("weight"), a.Array("bias"), a.Bool("training"),
                                      a.Double("momentum"), a.Double("eps")));
       }},
      {"native_layer_norm", "input normalized_shape weight bias eps",
       [](Arguments& a) {
         return Three(NativeLayerNorm(a.Arg("input"), a.Ints("normalized_shape"), a.Array("weight"),
                                      a.Array("bias"), a.Double("eps")));
       },
       /*slack=*/8},
      // The reason is that of group_norm.
      {"nn.functional.instance_norm",
       "input running_mean running_var weight bias use_input_stats momentum eps",
       [](Arguments& a) {
         return InstanceNorm(a.Arg("input"), a.Array("running_mean"), a.Array("running_var"),
                             a.Array("weight"), a.Array("bias"), a.Bool("use_input_stats", true),
                             a.Double("momentum", 0.1), a.Double("eps", 1e-5));
       },
       /*slack=*/8},
      // The reason is that of group_norm.
      {"nn.functional.local_response_norm", "input size alpha beta k",
       [](Arguments& a) {
         return LocalResponseNorm(a.Arg("input"), a.Int("size"), a.Double("alpha", 1e-4),
                                  a.Double("beta", 0.75), a.Double("k", 1));
       }},
      {"nn.functional.normalize", "input p dim eps",
       [](Arguments& a) {
         return Normalize(a.Arg("input"), a.Double("p", 2), a.Int("dim", 1), a.Double("eps", 1e-12));
       }},
  };
}

std::vector<Binding> EmbeddingBindings() {
  return {
      {"nn.functional.pairwise_distance", "x1 x2 p eps keepdim",
       [](Arguments& a) {
         return PairwiseDistance(a.Arg("x1"), a.Arg("x2"), a.Double("p", 2), a.Double("eps", 1e-6),
                                 a.Bool("keepdim", false));
       }},
      {"nn.functional.pdist", "input p",
       [](Arguments& a) { return Pdist(a.Arg("input"), a.Double("p", 2)); }},
      {"nn.functional.bilinear", "input1 input2 weight bias",
       [](Arguments& a) {
         return Bilinear(a.Array("input1"), a.Array("input2"), a.Array("weight"), a.Array("bias"));
       }},
      {"nn.functional.embedding", "weight input padding_idx max_norm norm_type scale_grad_by_freq sparse",
       [](Arguments& a) {
         a.Bool("sparse", false);
         return Embedding(a.Arg("input"), a.Arg("weight"),
                          {.padding_index = a.MaybeInt("padding_idx"),
                           .max_norm = MaxNormOf(a),
                           .scale_grad_by_freq = a.Bool("scale_grad_by_freq", false)});
       }},
      {"nn.functional.embedding_bag",
       "weight input offsets max_norm norm_type scale_grad_by_freq mode sparse per_sample_weights "
       "include_last_offset padding_idx",
       [](Arguments& a) {
         const std::string mode = a.Text("mode", "mean");
         a.Bool("scale_grad_by_freq", false);
         a.Bool("sparse", false);
         const EmbeddingBagOptions options = {.mode = mode == "sum"   ? BagMode::kSum
                                                      : mode == "max" ? BagMode::kMax
                                                                      : BagMode::kMean,
                                              .offsets = a.Array("offsets"),
                                              .include_last_offset = a.Bool("include_last_offset", false),
                                              .per_sample_weights = a.Array("per_sample_weights"),
                                              .padding_index = a.MaybeInt("padding_idx"),
                                              .max_norm = MaxNormOf(a)};
         return EmbeddingBag(a.Arg("input"), a.Arg("weight"), options);
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
       /*slack=*/8},
      // PyTorch rounds bf16 between its steps.
  };
}

}  // namespace hlod
