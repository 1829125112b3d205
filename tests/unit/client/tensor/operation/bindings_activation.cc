// Activations and the softmax family.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding Unary(const std::string& name, Tensor (*call)(const Operand&)) {
  return {"nn.functional." + name, "input inplace", [call](Arguments& a) {
            a.Bool("inplace", false);
            return call(a.Arg("input"));
          }};
}

}  // namespace

std::vector<Binding> ActivationBindings() {
  return {
      Unary("relu6", Relu6),
      Unary("selu", Selu),
      Unary("silu", Silu),
      Unary("mish", Mish),
      Unary("softsign", Softsign),
      Unary("hardsigmoid", Hardsigmoid),
      Unary("hardswish", Hardswish),
      Unary("tanhshrink", Tanhshrink),
      Unary("logsigmoid", Logsigmoid),
      {"nn.functional.leaky_relu", "input negative_slope inplace",
       [](Arguments& a) { return LeakyRelu(a.Arg("input"), a.Double("negative_slope", 0.01)); }},
      {"nn.functional.elu", "input alpha inplace",
       [](Arguments& a) { return Elu(a.Arg("input"), a.Double("alpha", 1)); }},
      {"nn.functional.celu", "input alpha inplace",
       [](Arguments& a) { return Celu(a.Arg("input"), a.Double("alpha", 1)); }},
      {"nn.functional.gelu", "input approximate",
       [](Arguments& a) {
         return Gelu(a.Arg("input"), a.Text("approximate", "none") == "tanh" ? GeluApproximation::kTanh
                                                                             : GeluApproximation::kNone);
       }},
      {"nn.functional.softplus", "input beta threshold",
       [](Arguments& a) { return Softplus(a.Arg("input"), a.Double("beta", 1), a.Double("threshold", 20)); }},
      {"nn.functional.hardtanh", "input min_val max_val inplace",
       [](Arguments& a) {
         return Hardtanh(a.Arg("input"), a.Double("min_val", -1), a.Double("max_val", 1));
       }},
      {"nn.functional.hardshrink", "input lambd",
       [](Arguments& a) { return Hardshrink(a.Arg("input"), a.Double("lambd", 0.5)); }},
      {"nn.functional.softshrink", "input lambd",
       [](Arguments& a) { return Softshrink(a.Arg("input"), a.Double("lambd", 0.5)); }},
      {"nn.functional.threshold", "input threshold value inplace",
       [](Arguments& a) { return Threshold(a.Arg("input"), a.Number("threshold"), a.Number("value")); }},
      {"nn.functional.prelu", "input weight",
       [](Arguments& a) { return Prelu(a.Arg("input"), a.Arg("weight")); }},
      {"nn.functional.glu", "input dim", [](Arguments& a) { return Glu(a.Arg("input"), a.Int("dim", -1)); }},
      {"softmax", "input dim dtype",
       [](Arguments& a) { return Softmax(a.Arg("input"), a.Int("dim"), a.Type("dtype")); }},
      {"log_softmax", "input dim dtype",
       [](Arguments& a) { return LogSoftmax(a.Arg("input"), a.Int("dim"), a.Type("dtype")); }},
      {"nn.functional.softmin", "input dim dtype",
       [](Arguments& a) { return Softmin(a.Arg("input"), a.Int("dim"), a.Type("dtype")); }},
  };
}

}  // namespace hlod
