// Calls by name of the operations whose arguments are operands alone.
#include "hlod/ops/by_name.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/operation.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/edit_distance.h"
#include "common/base/text/strings.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/reduction.h"

namespace hlod {
namespace {

using Given = const std::vector<Operand>&;

struct Callable {
  size_t operands;
  std::function<Tensor(Given)> call;
};

Callable One(Tensor (*call)(const Operand&)) {
  return {1, [call](Given x) { return call(x[0]); }};
}
Callable Two(Tensor (*call)(const Operand&, const Operand&)) {
  return {2, [call](Given x) { return call(x[0], x[1]); }};
}
Callable Three(Tensor (*call)(const Operand&, const Operand&, const Operand&)) {
  return {3, [call](Given x) { return call(x[0], x[1], x[2]); }};
}
using Table = absl::flat_hash_map<std::string_view, Callable>;

// Adds operations that take more than operands; the other arguments have their defaults.
void AddWithDefaults(Table& table) {
  namespace ops = lazy::ops;
  const std::pair<const lazy::Operation*, Callable> rows[] = {
      {&ops::Add, {2, [](Given x) { return Add(x[0], x[1]); }}},
      {&ops::Sub, {2, [](Given x) { return Sub(x[0], x[1]); }}},
      {&ops::Div, {2, [](Given x) { return Div(x[0], x[1]); }}},
      {&ops::Round, {1, [](Given x) { return Round(x[0]); }}},
      {&ops::NanToNum, {1, [](Given x) { return NanToNum(x[0]); }}},
      {&ops::Logit, {1, [](Given x) { return Logit(x[0]); }}},
      {&ops::LeakyRelu, {1, [](Given x) { return LeakyRelu(x[0]); }}},
      {&ops::Elu, {1, [](Given x) { return Elu(x[0]); }}},
      {&ops::Celu, {1, [](Given x) { return Celu(x[0]); }}},
      {&ops::Gelu, {1, [](Given x) { return Gelu(x[0]); }}},
      {&ops::Softplus, {1, [](Given x) { return Softplus(x[0]); }}},
      {&ops::Hardtanh, {1, [](Given x) { return Hardtanh(x[0]); }}},
      {&ops::Hardshrink, {1, [](Given x) { return Hardshrink(x[0]); }}},
      {&ops::Softshrink, {1, [](Given x) { return Softshrink(x[0]); }}},
      {&ops::Glu, {1, [](Given x) { return Glu(x[0]); }}},
      {&ops::Sum, {1, [](Given x) { return Sum(x[0]); }}},
      {&ops::Mean, {1, [](Given x) { return Mean(x[0]); }}},
      {&ops::Prod, {1, [](Given x) { return Prod(x[0]); }}},
      {&ops::Var, {1, [](Given x) { return Var(x[0]); }}},
      {&ops::Std, {1, [](Given x) { return Std(x[0]); }}},
      {&ops::Amax, {1, [](Given x) { return Amax(x[0]); }}},
      {&ops::Amin, {1, [](Given x) { return Amin(x[0]); }}},
      {&ops::Max, {1, [](Given x) { return Max(x[0]); }}},
      {&ops::Min, {1, [](Given x) { return Min(x[0]); }}},
      {&ops::Argmax, {1, [](Given x) { return Argmax(x[0]); }}},
      {&ops::Argmin, {1, [](Given x) { return Argmin(x[0]); }}},
      {&ops::All, {1, [](Given x) { return All(x[0]); }}},
      {&ops::Any, {1, [](Given x) { return Any(x[0]); }}},
      {&ops::Addcmul, {3, [](Given x) { return Addcmul(x[0], x[1], x[2]); }}},
      {&ops::Addcdiv, {3, [](Given x) { return Addcdiv(x[0], x[1], x[2]); }}},
      {&ops::Addmm, {3, [](Given x) { return Addmm(x[0], x[1], x[2]); }}},
  };
  for (const auto& [operation, callable] : rows) table.emplace(operation->pytorch, callable);
}

Table MakeTable() {
  namespace ops = lazy::ops;
  Table table;
  const auto add_all = [&table](auto wrap, auto... rows) {
    (table.emplace(rows.first->pytorch, wrap(rows.second)), ...);
  };
  const auto row = [](const lazy::Operation& operation, auto call) { return std::pair(&operation, call); };
#define HLOD_ROW(name) row(ops::name, &name)
  add_all(One, HLOD_ROW(Neg), HLOD_ROW(Exp), HLOD_ROW(Sin), HLOD_ROW(Tanh), HLOD_ROW(Relu), HLOD_ROW(Abs),
          HLOD_ROW(Sign), HLOD_ROW(Ceil), HLOD_ROW(Floor), HLOD_ROW(Trunc), HLOD_ROW(Frac), HLOD_ROW(Sqrt),
          HLOD_ROW(Rsqrt), HLOD_ROW(Exp2), HLOD_ROW(Expm1), HLOD_ROW(Log), HLOD_ROW(Log2), HLOD_ROW(Log10),
          HLOD_ROW(Log1p), HLOD_ROW(Cos), HLOD_ROW(Tan), HLOD_ROW(Asin), HLOD_ROW(Acos), HLOD_ROW(Atan),
          HLOD_ROW(Sinh), HLOD_ROW(Cosh), HLOD_ROW(Asinh), HLOD_ROW(Acosh), HLOD_ROW(Atanh),
          HLOD_ROW(Sigmoid), HLOD_ROW(Erf), HLOD_ROW(Erfc), HLOD_ROW(Erfinv), HLOD_ROW(Lgamma),
          HLOD_ROW(Digamma), HLOD_ROW(Reciprocal), HLOD_ROW(Square), HLOD_ROW(Sinc), HLOD_ROW(Deg2rad),
          HLOD_ROW(Rad2deg), HLOD_ROW(Sgn), HLOD_ROW(Real), HLOD_ROW(Imag), HLOD_ROW(Conj), HLOD_ROW(Angle),
          HLOD_ROW(Isnan), HLOD_ROW(Isfinite), HLOD_ROW(Isinf), HLOD_ROW(Isposinf), HLOD_ROW(Isneginf),
          HLOD_ROW(Signbit), HLOD_ROW(BitwiseNot), HLOD_ROW(LogicalNot), HLOD_ROW(Relu6), HLOD_ROW(Selu),
          HLOD_ROW(Silu), HLOD_ROW(Mish), HLOD_ROW(Softsign), HLOD_ROW(Hardsigmoid), HLOD_ROW(Hardswish),
          HLOD_ROW(Tanhshrink), HLOD_ROW(Logsigmoid), HLOD_ROW(Trace));
  add_all(Two, HLOD_ROW(Mul), HLOD_ROW(Pow), HLOD_ROW(FloatPower), HLOD_ROW(Remainder), HLOD_ROW(Fmod),
          HLOD_ROW(FloorDivide), HLOD_ROW(Atan2), HLOD_ROW(Maximum), HLOD_ROW(Minimum), HLOD_ROW(Fmax),
          HLOD_ROW(Fmin), HLOD_ROW(Heaviside), HLOD_ROW(Copysign), HLOD_ROW(Hypot), HLOD_ROW(Logaddexp),
          HLOD_ROW(Logaddexp2), HLOD_ROW(Xlogy), HLOD_ROW(Complex), HLOD_ROW(Polar), HLOD_ROW(Eq),
          HLOD_ROW(Ne), HLOD_ROW(Lt), HLOD_ROW(Le), HLOD_ROW(Gt), HLOD_ROW(Ge), HLOD_ROW(LogicalAnd),
          HLOD_ROW(LogicalOr), HLOD_ROW(LogicalXor), HLOD_ROW(BitwiseAnd), HLOD_ROW(BitwiseOr),
          HLOD_ROW(BitwiseXor), HLOD_ROW(BitwiseLeftShift), HLOD_ROW(BitwiseRightShift), HLOD_ROW(Prelu),
          HLOD_ROW(MatMul), HLOD_ROW(Mm), HLOD_ROW(Bmm), HLOD_ROW(Mv), HLOD_ROW(Dot), HLOD_ROW(Outer));
  add_all(Three, HLOD_ROW(Where), HLOD_ROW(Lerp));
#undef HLOD_ROW
  AddWithDefaults(table);
  return table;
}

// Removes namespaces: "nn.functional.gelu" becomes "gelu". Names are compared in this form, so callers may
// use either.
std::string_view Bare(std::string_view name) {
  for (const std::string_view before : {"aten::", "torch.", "Tensor.", "nn.functional.", "F.", "special."}) {
    if (name.starts_with(before)) name.remove_prefix(before.size());
  }
  return name;
}

// Returns null for a name that is not in the table of operations.
const lazy::Operation* Find(std::string_view name) {
  for (const lazy::Operation* const operation : lazy::AllOperations()) {
    if (Bare(operation->pytorch) == Bare(name)) return operation;
  }
  return nullptr;
}

// Returns the function's name in C++: "hlod::linalg::Eig" of the row LinalgEig.
std::string CppName(const lazy::Operation& operation) {
  std::string_view name = operation.name, space = operation.pytorch;
  space = space.substr(0, space.find('.'));
  for (const auto& [prefix, of] : {std::pair<std::string_view, std::string_view>{"Linalg", "linalg"},
                                   std::pair<std::string_view, std::string_view>{"Fft", "fft"}}) {
    if (space == of && name.starts_with(prefix)) {
      return absl::StrCat("hlod::", ToAbsl(of), "::", ToAbsl(name.substr(prefix.size())));
    }
  }
  return absl::StrCat("hlod::", operation.name);
}

const Callable* FindCallable(const lazy::Operation& operation) {
  static const auto* const table = new Table(MakeTable());
  const auto found = table->find(operation.pytorch);
  return found == table->end() ? nullptr : &found->second;
}

}  // namespace

bool IsApplicable(std::string_view name) {
  const lazy::Operation* const operation = Find(name);
  return operation != nullptr && FindCallable(*operation) != nullptr;
}

Tensor Apply(std::string_view name, const std::vector<Operand>& operands, Caller caller) {
  const lazy::Operation* const operation = Find(name);
  if (operation == nullptr) {
    const auto all = lazy::AllOperations();
    const auto nearest = std::min_element(all.begin(), all.end(), [&](const auto* a, const auto* b) {
      return EditDistance(Bare(a->pytorch), Bare(name)) < EditDistance(Bare(b->pytorch), Bare(name));
    });
    lazy::Throw(ErrorKind::kUnimplemented,
                absl::StrCat("no lowering for ", ToAbsl(name.substr(0, 100)), "; the nearest name is ",
                             (*nearest)->pytorch),
                "apply", caller);
  }
  const Callable* const callable = FindCallable(*operation);
  if (callable == nullptr) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat(operation->pytorch, " is not called by name: call ", CppName(*operation)),
                "apply", caller);
  }
  if (operands.size() != callable->operands) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat(operation->pytorch, " takes ", callable->operands,
                             callable->operands == 1 ? " operand" : " operands", ", and ", operands.size(),
                             " are given"),
                "apply", caller);
  }
  return callable->call(operands);
}

}  // namespace hlod
