// Elementwise operations.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

Binding Unary(const char* name, Tensor (*call)(const Operand&), double slack = 1) {
  return {name, "input", [call](Arguments& a) { return call(a.Arg("input")); }, slack};
}
Binding Binary(const char* name, Tensor (*call)(const Operand&, const Operand&), double slack = 1) {
  return {name, "input other", [call](Arguments& a) { return call(a.Arg("input"), a.Arg("other")); }, slack};
}

Rounding RoundingOf(const std::string& mode) {
  return mode == "trunc" ? Rounding::kTrunc : mode == "floor" ? Rounding::kFloor : Rounding::kNone;
}

}  // namespace

std::vector<Binding> ArithmeticBindings() {
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
      {"div", "input other rounding_mode",
       [](Arguments& a) {
         return Div(a.Arg("input"), a.Arg("other"), RoundingOf(a.Text("rounding_mode", "none")));
       }},
      {"rsub", "input other alpha",
       [](Arguments& a) { return Rsub(a.Arg("input"), a.Arg("other"), a.Number("alpha", 1)); }},
      Binary("true_divide", Div),
      Binary("clamp_min", ClampMin),
      Binary("clamp_max", ClampMax),
      Binary("ldexp", Ldexp),
      Binary("nextafter", Nextafter, 0),
      Binary("gcd", Gcd),
      Binary("lcm", Lcm),
      {"frexp", "input", [](Arguments& a) { return Frexp(a.Arg("input")); }, 0},
      Unary("isreal", Isreal),
      Unary("positive", Positive),
      Unary("conj_physical", ConjPhysical),
  };
}

std::vector<Binding> UnaryBindings() {
  return {
      Unary("abs", Abs),
      Unary("sign", Sign),
      Unary("ceil", Ceil),
      Unary("floor", Floor),
      Unary("trunc", Trunc),
      Unary("frac", Frac),
      Unary("sqrt", Sqrt),
      Unary("rsqrt", Rsqrt),
      Unary("exp2", Exp2),
      Unary("expm1", Expm1),
      Unary("log", Log),
      Unary("log2", Log2),
      Unary("log10", Log10),
      Unary("log1p", Log1p),
      Unary("cos", Cos),
      Unary("tan", Tan),
      Unary("asin", Asin),
      Unary("acos", Acos),
      Unary("atan", Atan),
      Unary("sinh", Sinh),
      Unary("cosh", Cosh),
      Unary("asinh", Asinh),
      Unary("acosh", Acosh),
      Unary("atanh", Atanh),
      Unary("sigmoid", Sigmoid),
      Unary("erf", Erf),
      Unary("erfc", Erfc),
      Unary("erfinv", Erfinv),
      Unary("lgamma", Lgamma),
      Unary("digamma", Digamma),
      Unary("reciprocal", Reciprocal),
      Unary("square", Square),
      Unary("sinc", Sinc),
      Unary("deg2rad", Deg2rad),
      Unary("rad2deg", Rad2deg),
      Unary("isnan", Isnan),
      Unary("isfinite", Isfinite),
      Unary("isinf", Isinf),
      Unary("isposinf", Isposinf),
      Unary("isneginf", Isneginf),
      Unary("signbit", Signbit),
      Unary("sgn", Sgn),
      Unary("real", Real),
      Unary("imag", Imag),
      Unary("conj", Conj),
      Unary("angle", Angle),
      Unary("bitwise_not", BitwiseNot),
      Unary("logical_not", LogicalNot),
  };
}

std::vector<Binding> BinaryBindings() {
  return {
      Binary("pow", Pow),
      Binary("float_power", FloatPower),
      Binary("remainder", Remainder),
      Binary("fmod", Fmod),
      Binary("floor_divide", FloorDivide),
      Binary("atan2", Atan2),
      Binary("maximum", Maximum),
      Binary("minimum", Minimum),
      Binary("fmax", Fmax),
      Binary("fmin", Fmin),
      Binary("heaviside", Heaviside),
      Binary("copysign", Copysign),
      Binary("hypot", Hypot),
      Binary("logaddexp", Logaddexp),
      Binary("logaddexp2", Logaddexp2),
      Binary("xlogy", Xlogy),
      Binary("eq", Eq),
      Binary("ne", Ne),
      Binary("lt", Lt),
      Binary("le", Le),
      Binary("gt", Gt),
      Binary("ge", Ge),
      Binary("logical_and", LogicalAnd),
      Binary("logical_or", LogicalOr),
      Binary("logical_xor", LogicalXor),
      Binary("bitwise_and", BitwiseAnd),
      Binary("bitwise_or", BitwiseOr),
      Binary("bitwise_xor", BitwiseXor),
      Binary("bitwise_left_shift", BitwiseLeftShift),
      Binary("bitwise_right_shift", BitwiseRightShift),
      Binary("complex", Complex),
      Binary("polar", Polar),
      {"round", "input decimals", [](Arguments& a) { return Round(a.Arg("input"), a.Int("decimals", 0)); }},
  };
}

std::vector<Binding> ChoiceBindings() {
  return {
      {"logit", "input eps",
       [](Arguments& a) {
         return Logit(a.Arg("input"), a.Has("eps") ? std::optional<double>(a.Double("eps")) : std::nullopt);
       }},
      {"nan_to_num", "input nan posinf neginf",
       [](Arguments& a) {
         const auto maybe = [&](const char* name) {
           return a.Has(name) ? std::optional<double>(a.Double(name)) : std::nullopt;
         };
         return NanToNum(a.Arg("input"), a.Double("nan", 0), maybe("posinf"), maybe("neginf"));
       }},
      {"clamp", "input min max",
       [](Arguments& a) { return Clamp(a.Arg("input"), a.MaybeArg("min"), a.MaybeArg("max")); }},
      {"where", "input condition other",
       [](Arguments& a) { return Where(a.Arg("condition"), a.Arg("input"), a.Arg("other")); }},
      {"lerp", "input end weight",
       [](Arguments& a) { return Lerp(a.Arg("input"), a.Arg("end"), a.Arg("weight")); }},
      {"addcmul", "input tensor1 tensor2 value",
       [](Arguments& a) {
         return Addcmul(a.Arg("input"), a.Arg("tensor1"), a.Arg("tensor2"), a.Number("value", 1));
       }},
      {"addcdiv", "input tensor1 tensor2 value",
       [](Arguments& a) {
         return Addcdiv(a.Arg("input"), a.Arg("tensor1"), a.Arg("tensor2"), a.Number("value", 1));
       }},
      {"isclose", "input other rtol atol equal_nan",
       [](Arguments& a) {
         return Isclose(a.Arg("input"), a.Arg("other"), a.Double("rtol", 1e-5), a.Double("atol", 1e-8),
                        a.Bool("equal_nan", false));
       }},
      {"allclose", "input other rtol atol equal_nan",
       [](Arguments& a) {
         return Allclose(a.Arg("input"), a.Arg("other"), a.Double("rtol", 1e-5), a.Double("atol", 1e-8),
                         a.Bool("equal_nan", false));
       }},
      {"equal", "input other", [](Arguments& a) { return Equal(a.Array("input"), a.Array("other")); }},
  };
}

}  // namespace hlod
