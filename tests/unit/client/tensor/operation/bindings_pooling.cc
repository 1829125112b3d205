// Pooling.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

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

using Maximum = Tensor (*)(const Operand&, Sizes, MaxPoolOptions);
using MaximumWithIndices = ValuesAndIndices (*)(const Operand&, Sizes, MaxPoolOptions);
Binding MaxPool(const char* name, Maximum function, MaximumWithIndices with_indices) {
  return {name, "input kernel_size stride padding dilation ceil_mode return_indices",
          [function, with_indices](Arguments& a) -> Results {
            const MaxPoolOptions options = {StrideOf(a), a.Ints("padding", Dims{0}),
                                            a.Ints("dilation", Dims{1}), a.Bool("ceil_mode", false)};
            const Dims kernel = a.Ints("kernel_size");
            if (!a.Bool("return_indices", false)) return function(a.Arg("input"), kernel, options);
            const ValuesAndIndices both = with_indices(a.Arg("input"), kernel, options);
            return std::vector<Tensor>{both.values, both.indices};
          }};
}

using Inverse = Tensor (*)(const Operand&, const Operand&, Sizes, MaxUnpoolOptions);
Binding MaxUnpool(const char* name, Inverse function) {
  return {name, "input indices kernel_size stride padding output_size", [function](Arguments& a) {
            const MaxUnpoolOptions options = {StrideOf(a), a.Ints("padding", Dims{0}),
                                              a.Ints("output_size", Dims{})};
            return function(a.Arg("input"), a.Arg("indices"), a.Ints("kernel_size"), options);
          }};
}

// A recorded None, which keeps the input's size, becomes -1.
Dims PartsOf(Arguments& a) {
  const nlohmann::json& given = a.Json("output_size");
  if (!given.is_array()) return {given.get<int64_t>()};
  Dims parts;
  for (const nlohmann::json& one : given) parts.push_back(one.is_null() ? -1 : one.get<int64_t>());
  return parts;
}

Binding AdaptiveAvgPool(const char* name, Tensor (*function)(const Operand&, Sizes)) {
  return {name, "input output_size",
          [function](Arguments& a) { return function(a.Arg("input"), PartsOf(a)); }};
}
Binding AdaptiveMaxPool(const char* name, ValuesAndIndices (*function)(const Operand&, Sizes)) {
  return {name, "input output_size return_indices", [function](Arguments& a) -> Results {
            const ValuesAndIndices both = function(a.Arg("input"), PartsOf(a));
            if (!a.Bool("return_indices", false)) return both.values;
            return std::vector<Tensor>{both.values, both.indices};
          }};
}

// torch.nn.functional's output_ratio is a fraction of the input's sizes.
Binding FractionalMaxPool(const char* name,
                          ValuesAndIndices (*function)(const Operand&, Sizes, Sizes, const Tensor&),
                          size_t spatial) {
  return {name, "input kernel_size output_size output_ratio return_indices _random_samples",
          [=](Arguments& a) -> Results {
            const Tensor x = a.Array("input");
            Dims output = a.Ints("output_size", Dims());
            const std::vector<double> ratio = a.Doubles("output_ratio", std::vector<double>());
            for (size_t i = 0; i < ratio.size(); ++i) {
              const int64_t size = x.size(static_cast<int64_t>(i) - static_cast<int64_t>(spatial));
              output.push_back(static_cast<int64_t>(static_cast<double>(size) * ratio[i]));
            }
            if (output.size() == 1) output.resize(spatial, output[0]);
            Dims kernel = a.Ints("kernel_size");
            if (kernel.size() == 1) kernel.resize(spatial, kernel[0]);
            const ValuesAndIndices both = function(x, kernel, output, a.Array("_random_samples"));
            if (!a.Bool("return_indices", false)) return both.values;
            return std::vector<Tensor>{both.values, both.indices};
          }};
}

}  // namespace

std::vector<Binding> PoolingBindings() {
  return {
      FractionalMaxPool("nn.functional.fractional_max_pool2d", FractionalMaxPool2d, 2),
      FractionalMaxPool("nn.functional.fractional_max_pool3d", FractionalMaxPool3d, 3),
      AvgPool("nn.functional.avg_pool1d", AvgPool1d),
      AvgPool("nn.functional.avg_pool2d", AvgPool2d),
      AvgPool("nn.functional.avg_pool3d", AvgPool3d),
      MaxPool("nn.functional.max_pool1d", MaxPool1d, MaxPool1dWithIndices),
      MaxPool("nn.functional.max_pool2d", MaxPool2d, MaxPool2dWithIndices),
      MaxPool("nn.functional.max_pool3d", MaxPool3d, MaxPool3dWithIndices),
      MaxUnpool("nn.functional.max_unpool1d", MaxUnpool1d),
      MaxUnpool("nn.functional.max_unpool2d", MaxUnpool2d),
      MaxUnpool("nn.functional.max_unpool3d", MaxUnpool3d),
      AdaptiveAvgPool("nn.functional.adaptive_avg_pool1d", AdaptiveAvgPool1d),
      AdaptiveAvgPool("nn.functional.adaptive_avg_pool2d", AdaptiveAvgPool2d),
      AdaptiveAvgPool("nn.functional.adaptive_avg_pool3d", AdaptiveAvgPool3d),
      AdaptiveMaxPool("nn.functional.adaptive_max_pool1d", AdaptiveMaxPool1d),
      AdaptiveMaxPool("nn.functional.adaptive_max_pool2d", AdaptiveMaxPool2d),
      AdaptiveMaxPool("nn.functional.adaptive_max_pool3d", AdaptiveMaxPool3d),
  };
}

}  // namespace hlod
