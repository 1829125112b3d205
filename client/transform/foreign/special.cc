// A function that JAX compiles on its own is a call of a computation with its name, which other functions may
// have, too: the computation must also contain what tells JAX's apart, such as the coefficients of an
// approximation. Nothing tells a user's jitted relu(x) = max(x, 0) from jax.nn's but the location of its
// instruction: that of JAX's own instructions has no file.
#include "client/transform/foreign/special.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/tensor/trace/trace_tables.h"
#include "client/transform/foreign/patterns.h"
#include "common/base/text/strings.h"
#include "common/hlo/builder.h"
#include "common/hlo/literal.h"
#include "common/hlo/math/math.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

using hlo::Instruction;
using hlo::NodeId;

// Returns true for "relu", "relu.3" and "relu_3", as copies of the function relu are named.
bool IsNamed(std::string_view name, std::string_view function) {
  if (!name.starts_with(function)) return false;
  name.remove_prefix(function.size());
  if (name.empty()) return true;
  const bool parted = name.front() == '.' || name.front() == '_';
  return parted && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Returns the parameters, by their numbers.
std::vector<NodeId> ParametersOf(const hlo::Computation& computation) {
  std::vector<NodeId> parameters;
  for (NodeId node = 0; node < computation.size(); ++node) {
    if (computation[node].opcode() == hlo::kParameter) parameters.push_back(node);
  }
  std::sort(parameters.begin(), parameters.end(), [&](NodeId a, NodeId b) {
    return computation[a].parameter_number() < computation[b].parameter_number();
  });
  return parameters;
}

// Returns true when a constant begins with that number, to the precision of f32.
bool HasCoefficient(const hlo::Computation& computation, double number) {
  for (NodeId node = 0; node < computation.size(); ++node) {
    const Instruction x = computation[node];
    if (x.opcode() != hlo::kConstant || !hlo::IsFloat(x.shape().type) || x.literal().element_count() == 0)
      continue;
    if (std::abs(hlo::ElementAsDouble(x.literal(), 0) - number) <= 1e-6 * std::abs(number)) return true;
  }
  return false;
}

// Returns true when the computation calls a routine whose name contains `part`.
bool CallsRoutine(const hlo::Computation& computation, std::string_view part) {
  for (NodeId node = 0; node < computation.size(); ++node) {
    const Instruction x = computation[node];
    if (x.opcode() != hlo::kCustomCall) continue;
    if (x.attributes<hlo::CustomCallAttributes>().target.find(part) != std::string::npos) return true;
  }
  return false;
}

// max(x, 0), or min(max(x, 0), 6).
std::optional<NodeId> AppendRelu(hlo::Computation& to, NodeId root, bool six) {
  Instruction x = to[root];
  if (six) {
    if (x.opcode() != hlo::kMinimum || ConstantNumber(x.operand(1)) != 6.0) return std::nullopt;
    x = x.operand(0);
  }
  if (x.opcode() != hlo::kMaximum || ConstantNumber(x.operand(1)) != 0.0 ||
      x.operand(0).opcode() != hlo::kParameter) {
    return std::nullopt;
  }
  return ValueWithRule(to, six ? "relu6" : "relu", root, {x.operands()[0]});
}

// (Si, Ci), or the one of them that is used: Si is sign(x) times an approximation, Ci is NaN at -inf.
std::optional<NodeId> AppendSici(hlo::Computation& to, NodeId root) {
  constexpr double kSineCoefficient = -8.39167827910303881427e-11,
                   kCosineCoefficient = 2.02524002389102268789e-11;
  const std::vector<NodeId> parameters = ParametersOf(to);
  const bool known = HasCoefficient(to, kSineCoefficient) || HasCoefficient(to, kCosineCoefficient);
  if (parameters.size() != 1 || !known) return std::nullopt;
  std::vector<NodeId> values = {root};
  const bool both = to[root].opcode() == hlo::kTuple;
  if (both) values.assign(to[root].operands().begin(), to[root].operands().end());
  for (NodeId& value : values) {
    const bool sine = to[value].opcode() == hlo::kMultiply && to[value].operand(0).opcode() == hlo::kSign;
    if (!sine && to[value].opcode() != hlo::kSelect) return std::nullopt;
    const char* const rule = sine ? "sine_integral" : "cosine_integral";
    const std::optional<NodeId> ruled = ValueWithRule(to, rule, value, {parameters[0]});
    if (!ruled.has_value()) return std::nullopt;
    value = *ruled;
  }
  if (!both) return values[0];
  hlo::Builder b(TraceTables::Get().callees(), to);
  std::vector<hlo::Op> elements;
  for (const NodeId value : values) elements.push_back({&b, value});
  return b.Tuple(elements).id;
}

// The exponential integral, which has one approximation for each of several intervals.
std::optional<NodeId> AppendExpi(hlo::Computation& to, NodeId root) {
  constexpr double kCoefficient = -5.350447357812542947283;
  const std::vector<NodeId> parameters = ParametersOf(to);
  const bool alike = parameters.size() == 1 && to[root].shape_id() == to[parameters[0]].shape_id();
  if (!alike || !HasCoefficient(to, kCoefficient)) return std::nullopt;
  return ValueWithRule(to, "expi", root, {parameters[0]});
}

// The pseudoinverse by singular values, or, of the Hermitian part of a matrix, by eigenvalues. Singular
// values that count as 0 are replaced by infinity, after which vectors that belong to no singular value have
// no derivative.
std::optional<NodeId> AppendPinv(hlo::Computation& to, NodeId root) {
  const std::vector<NodeId> parameters = ParametersOf(to);
  const Instruction product = to[root];
  if (parameters.empty() || product.opcode() != hlo::kDot || product.operand(1).opcode() != hlo::kDivide) {
    return std::nullopt;
  }
  hlo::Dims transposed = to[parameters[0]].shape().dims;
  if (transposed.size() < 2) return std::nullopt;
  std::swap(transposed[transposed.size() - 2], transposed[transposed.size() - 1]);
  if (product.shape().dims != transposed) return std::nullopt;
  if (CallsRoutine(to, "gesdd")) return ValueWithRule(to, "pinv", root, {parameters[0]});
  if (!CallsRoutine(to, "evd")) return std::nullopt;
  hlo::Builder b(TraceTables::Get().callees(), to);
  const hlo::Op a{&b, parameters[0]};
  const hlo::Shape shape = b.shape(a);
  hlo::Dims order;
  for (size_t i = 0; i < shape.dims.size(); ++i) order.push_back(static_cast<int64_t>(i));
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  if (hlo::IsComplex(shape.type)) return std::nullopt;
  const hlo::Op hermitian = (a + b.Transpose(a, order)) * 0.5;
  if (!b.status().ok()) return std::nullopt;
  return ValueWithRule(to, "pinv", root, {hermitian.id});
}

// (sign, logarithm) of the determinant, or the logarithm alone. Of a matrix without an inverse the logarithm
// is chosen as the constant -inf, which has no derivative by its instructions.
std::optional<NodeId> AppendSlogdet(hlo::Computation& to, NodeId root) {
  const std::vector<NodeId> parameters = ParametersOf(to);
  if (parameters.size() != 1) return std::nullopt;
  const hlo::Dims& dims = to[parameters[0]].shape().dims;
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2]) return std::nullopt;
  std::vector<NodeId> values = {root};
  const bool both = to[root].opcode() == hlo::kTuple;
  if (both) values.assign(to[root].operands().begin(), to[root].operands().end());
  if (both && values.size() != 2) return std::nullopt;
  Instruction log = to[values.back()];
  if (log.opcode() == hlo::kReal) log = log.operand(0);
  const bool chosen = log.opcode() == hlo::kSelect && ConstantNumber(log.operand(1)) == -HUGE_VAL;
  if (!chosen && log.opcode() != hlo::kLog) return std::nullopt;
  hlo::Builder b(TraceTables::Get().callees(), to);
  std::vector<hlo::Op> elements;
  for (const NodeId value : values) elements.push_back(hlo::StopGradient({&b, value}));
  elements.push_back({&b, parameters[0]});
  const hlo::Op ruled = hlo::TupleWithRule("slogdet", elements, values.size());
  std::vector<hlo::Op> results;
  for (size_t i = 0; i < values.size(); ++i)
    results.push_back(b.GetTupleElement(ruled, static_cast<int64_t>(i)));
  const NodeId result = both ? b.Tuple(results).id : results[0].id;
  return b.status().ok() ? std::optional(result) : std::nullopt;
}

// sign * exp(logarithm), which is 0 times infinity in the derivative of a matrix without an inverse.
std::optional<NodeId> AppendDet(hlo::Computation& to, NodeId root) {
  const std::vector<NodeId> parameters = ParametersOf(to);
  const Instruction product = to[root];
  if (parameters.size() != 1 || product.opcode() != hlo::kMultiply ||
      product.operand(1).opcode() != hlo::kExponential) {
    return std::nullopt;
  }
  const hlo::Dims dims = to[parameters[0]].shape().dims;
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2]) return std::nullopt;
  return ValueWithRule(to, "det", root, {parameters[0]});
}

// log(1 - exp(-x)), by another formula for x below log(2).
std::optional<NodeId> AppendLog1mexp(hlo::Computation& to, NodeId root) {
  const std::vector<NodeId> parameters = ParametersOf(to);
  const Instruction select = to[root];
  if (parameters.size() != 1 || select.opcode() != hlo::kSelect || select.operand(1).opcode() != hlo::kLog ||
      select.operand(2).opcode() != hlo::kLogPlusOne) {
    return std::nullopt;
  }
  return ValueWithRule(to, "log1mexp", root, {parameters[0]});
}

// Returns true for the bits of a number with another exponent: (bits & mask) | exponent.
bool IsOfBits(const Instruction& x) {
  if (x.opcode() != hlo::kBitcastConvert || x.operand(0).opcode() != hlo::kOr) return false;
  const Instruction masked = x.operand(0).operand(0);
  return masked.opcode() == hlo::kAnd && masked.operand(0).opcode() == hlo::kBitcastConvert;
}

// Returns true for a logarithm of the gamma function, as imports mark it.
bool IsLgamma(const hlo::Computation& computation, const Instruction& x) {
  return x.opcode() == hlo::kGetTupleElement &&
         hlo::OwnRule(computation, x.operands()[0]).ends_with("lgamma");
}

}  // namespace

// select(x is infinite, NaN or 0; x; its bits with the exponent of 1/2).
std::optional<NodeId> AppendMantissa(hlo::Computation& to, const Instruction& select) {
  if (!IsOfBits(select.operand(2)) || select.operand(0).opcode() != hlo::kOr) return std::nullopt;
  const std::optional<Instruction> x =
      ComparedWith(0, select.operand(0).operand(1), hlo::ComparisonDirection::kEq);
  if (!x.has_value() || !IsSame(*x, select.operand(1))) return std::nullopt;
  return ValueWithRule(to, "mantissa", select.id(), {x->id()});
}

// log(x / (1 - x)), whose derivative by parts is NaN at 0 and 1.
std::optional<NodeId> AppendLogit(hlo::Computation& to, const Instruction& log) {
  const Instruction odds = log.operand(0);
  if (odds.opcode() != hlo::kDivide || odds.operand(1).opcode() != hlo::kSubtract) return std::nullopt;
  const Instruction x = odds.operand(0), rest = odds.operand(1);
  if (ConstantNumber(rest.operand(0)) != 1.0 || !IsSame(rest.operand(1), x)) return std::nullopt;
  return ValueWithRule(to, "log_of_odds", log.id(), {x.id()});
}

// select(m == 0, 1, gamma(z + m) / gamma(z)), where gamma is its sign times an exponential. At m = 0 it has
// the derivative of the quotient.
std::optional<NodeId> AppendPoch(hlo::Computation& to, const Instruction& select) {
  const Instruction quotient = select.operand(2);
  if (quotient.opcode() != hlo::kDivide || ConstantNumber(select.operand(1)) != 1.0) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    Instruction gamma = quotient.operand(i);
    if (gamma.opcode() == hlo::kBroadcast) gamma = gamma.operand(0);
    const bool product = gamma.opcode() == hlo::kMultiply;
    if (!product || gamma.operand(1).opcode() != hlo::kExponential) return std::nullopt;
    if (!IsLgamma(to, gamma.operand(1).operand(0))) return std::nullopt;
  }
  if (!ComparedWith(0, select.operand(0), hlo::ComparisonDirection::kEq).has_value()) return std::nullopt;
  return ValueWithRule(to, "same_as", select.id(), {quotient.id()});
}

// exp(x^2) * erfc(x), the left part of erfcx, where the first factor overflows.
std::optional<NodeId> AppendErfcx(hlo::Computation& to, const Instruction& multiply) {
  const std::optional<Instruction> square = Through(multiply.operand(0), {hlo::kExponential});
  const Instruction erfc = multiply.operand(1);
  if (!square.has_value() || erfc.opcode() != hlo::kGetTupleElement) return std::nullopt;
  const Instruction function = erfc.operand(0);
  if (!hlo::OwnRule(to, function.id()).ends_with("erfc") || function.operands().size() != 2) {
    return std::nullopt;
  }
  const Instruction x = function.operand(1);
  const bool squared =
      square->opcode() == hlo::kMultiply && IsSame(square->operand(0), x) && IsSame(square->operand(1), x);
  return squared ? ValueWithRule(to, "erfcx", multiply.id(), {x.id()}) : std::nullopt;
}

// sign(x) * select(|x| < 3.25, _, select(|x| < 6.25, _, _)).
std::optional<NodeId> AppendDawson(hlo::Computation& to, const Instruction& multiply) {
  const Instruction sign = multiply.operand(0), near = multiply.operand(1);
  if (sign.opcode() != hlo::kSign || near.opcode() != hlo::kSelect ||
      near.operand(2).opcode() != hlo::kSelect) {
    return std::nullopt;
  }
  const std::optional<Instruction> first = ComparedWith(3.25, near.operand(0), hlo::ComparisonDirection::kLt),
                                   second = ComparedWith(6.25, near.operand(2).operand(0),
                                                         hlo::ComparisonDirection::kLt);
  if (!first.has_value() || !second.has_value() || first->opcode() != hlo::kAbs ||
      !IsSame(first->operand(0), sign.operand(0))) {
    return std::nullopt;
  }
  return ValueWithRule(to, "dawsn", multiply.id(), {sign.operands()[0]});
}

// select(x < 0, -v, v), where v is select(|x| is infinite, 0.5, select(x^2 < 2.5625, _, select(|x| > 36974,
// _, w))), and w is 0.5 + _ of the cosine's integral, 0.5 - _ of the sine's.
std::optional<NodeId> AppendFresnel(hlo::Computation& to, const Instruction& select) {
  const std::optional<Instruction> x = ComparedWith(0, select.operand(0), hlo::ComparisonDirection::kLt);
  const Instruction v = select.operand(2), negative = select.operand(1);
  if (!x.has_value() || v.opcode() != hlo::kSelect || negative.opcode() != hlo::kNegate ||
      !IsSame(negative.operand(0), v) || ConstantNumber(v.operand(1)) != 0.5) {
    return std::nullopt;
  }
  const Instruction small = v.operand(2);
  if (small.opcode() != hlo::kSelect ||
      !ComparedWith(2.5625, small.operand(0), hlo::ComparisonDirection::kLt).has_value() ||
      small.operand(2).opcode() != hlo::kSelect) {
    return std::nullopt;
  }
  const Instruction large = small.operand(2), w = large.operand(2);
  if (!ComparedWith(36974, large.operand(0), hlo::ComparisonDirection::kGt).has_value()) return std::nullopt;
  const bool cosine = w.opcode() == hlo::kAdd;
  if (!cosine && w.opcode() != hlo::kSubtract) return std::nullopt;
  return ValueWithRule(to, cosine ? "fresnel_cosine" : "fresnel_sine", select.id(), {x->id()});
}

// select(a or |h| is NaN, NaN, sign(a) * select(|a| > 1, select(|a| |h| <= 0.67, _, _), _)). Either of a and
// h may be a number that is broadcast.
std::optional<NodeId> AppendOwensT(hlo::Computation& to, const Instruction& select) {
  const auto narrow = [](Instruction x) { return x.opcode() == hlo::kBroadcast ? x.operand(0) : x; };
  const Instruction nans = narrow(select.operand(0)), value = select.operand(2);
  if (nans.opcode() != hlo::kOr || value.opcode() != hlo::kMultiply) return std::nullopt;
  const Instruction sign = narrow(value.operand(0)), outer = value.operand(1);
  if (sign.opcode() != hlo::kSign || outer.opcode() != hlo::kSelect) return std::nullopt;
  const Instruction is_large = narrow(outer.operand(0)), far = outer.operand(1),
                    is_nan = narrow(nans.operand(1));
  const std::optional<Instruction> size = ComparedWith(1, is_large, hlo::ComparisonDirection::kGt);
  if (!size.has_value() || size->opcode() != hlo::kAbs || !IsSame(size->operand(0), sign.operand(0)) ||
      far.opcode() != hlo::kSelect || is_nan.opcode() != hlo::kCompare ||
      is_nan.operand(0).opcode() != hlo::kAbs) {
    return std::nullopt;
  }
  const Instruction is_near = narrow(far.operand(0));
  const bool near = is_near.opcode() == hlo::kCompare &&
                    std::abs(ConstantNumber(is_near.operand(1)).value_or(0) - 0.67) < 0.01;
  if (!near) return std::nullopt;
  const NodeId node = select.id();
  std::vector<NodeId> of = {is_nan.operand(0).operands()[0], sign.operands()[0]};
  const hlo::Shape shape = select.shape();
  hlo::Builder b(TraceTables::Get().callees(), to);
  for (NodeId& x : of) {
    if (b.shape({&b, x}).dims != shape.dims) x = b.Broadcast({&b, x}, shape.dims, {}).id;
  }
  return b.status().ok() ? ValueWithRule(to, "owens_t", node, of) : std::nullopt;
}

std::optional<NodeId> AppendNamed(hlo::Computation& to, NodeId root, std::string_view name, bool is_users) {
  if (is_users) return std::nullopt;
  if (IsNamed(name, "relu6")) return AppendRelu(to, root, true);
  if (IsNamed(name, "relu")) return AppendRelu(to, root, false);
  if (IsNamed(name, "sici")) return AppendSici(to, root);
  if (IsNamed(name, "expi")) return AppendExpi(to, root);
  if (IsNamed(name, "hyp1f1")) return AppendHypergeometric(to, root, 3);
  if (IsNamed(name, "hyp2f1")) return AppendHypergeometric(to, root, 4);
  if (IsNamed(name, "det")) return AppendDet(to, root);
  if (IsNamed(name, "log1mexp")) return AppendLog1mexp(to, root);
  if (IsNamed(name, "slogdet")) return AppendSlogdet(to, root);
  if (IsNamed(name, "_pinv")) return AppendPinv(to, root);
  return std::nullopt;
}

}  // namespace hlod::lazy
