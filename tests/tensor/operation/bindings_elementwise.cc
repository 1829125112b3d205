// Elementwise operations.
#include "tests/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding Unary(const char* name, Tensor (*call)(const Operand&), double slack = 1) {
  return {name, "input", [call](Arguments& a) { return call(a.Arg("input")); }, slack};
}
Binding Binary(const char* name, Tensor (*call)(const Operand&, const Operand&), double slack = 1) {
  return {name, "input other", [call](Arguments& a) { return call(a.Arg("input"), a.Arg("other")); }, slack};
}

}  // namespace

std::vector<Binding> ElementwiseBindings() {
  return {
      {"add", "input other alpha",
       [](Arguments& a) { return Add(a.Arg("input"), a.Arg("other"), a.Number("alpha", 1)); }},
      {"sub", "input other alpha",
       [](Arguments& a) { return Sub(a.Arg("input"), a.Arg("other"), a.Number("alpha", 1)); }},
      Binary("mul", Mul),
      Unary("neg", Neg),
      Unary("exp", Exp),
      Unary("sin", Sin),
      Unary("tanh", Tanh),
      Unary("nn.functional.relu", Relu),
      {"div", "input other", [](Arguments& a) { return Div(a.Arg("input"), a.Arg("other")); }},
  };
}

}  // namespace hlod
