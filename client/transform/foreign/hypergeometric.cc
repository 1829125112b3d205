// hyp1f1(a, b, x) and hyp2f1(a, b, c, x) of JAX add terms until one is small beside the sum, which says
// nothing of their derivatives: at x = 0 no term is added, and where a = b another formula is chosen. As in
// JAX, the derivative by x is the function itself at parameters that are greater by 1, times a quotient of
// the parameters; those by the parameters are series (client/transform/rules/own_special.cc).
#include <algorithm>
#include <string>

#include "client/tensor/trace/copy_nodes.h"
#include "client/tensor/trace/trace_tables.h"
#include "client/transform/foreign/patterns.h"
#include "client/transform/foreign/special.h"
#include "common/hlo/builder.h"
#include "common/hlo/literal.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {
namespace {

using hlo::NodeId;

// Derivatives by x up to this one are formulas; the next one is refused.
constexpr int kDerivatives = 4;

// Returns the arguments as arrays of the result's type and dimensions; empty when one has other dimensions.
std::vector<hlo::Op> Spread(hlo::Builder& b, absl::Span<const hlo::Op> arguments, const hlo::Shape& result) {
  std::vector<hlo::Op> spread;
  for (hlo::Op x : arguments) {
    if (b.shape(x).type != result.type) x = b.Convert(x, result.type);
    const bool scalar = b.shape(x).dims.empty() && !result.dims.empty();
    if (scalar) x = b.Broadcast(x, result.dims, {});
    if (b.shape(x).dims != result.dims) return {};
    spread.push_back(x);
  }
  return spread;
}

// Appends the function `f` of the arguments with the rule for its derivatives; nullopt when it has no such
// rule.
std::optional<NodeId> AppendValue(hlo::Computation& to, const hlo::Computation& f,
                                  const std::vector<NodeId>& arguments, int derivatives) {
  const NodeId value =
      CopyNodes(f, f.size(), InPlaceOfParameters(arguments), AppendingTo(to, f))[f.root_id()];
  const size_t count = arguments.size(), numerators = (count - 1) / 2 + (count - 1) % 2;
  const hlo::Shape shape = to[value].shape();
  std::vector<NodeId> shifted;
  {
    hlo::Builder b(TraceTables::Get().callees(), to);
    for (size_t i = 0; i < count; ++i) {
      hlo::Op x{&b, arguments[i]};
      if (i + 1 < count) x = b.Binary(hlo::kAdd, x, b.Convert(b.Constant(1), b.shape(x).type));
      shifted.push_back(x.id);
    }
    if (!b.status().ok()) return std::nullopt;
  }
  std::optional<NodeId> next;
  if (derivatives > 0) next = AppendValue(to, f, shifted, derivatives - 1);
  hlo::Builder b(TraceTables::Get().callees(), to);
  std::vector<hlo::Op> given;
  for (const NodeId argument : arguments) given.push_back({&b, argument});
  const std::vector<hlo::Op> x = Spread(b, given, shape);
  if (x.empty() || (derivatives > 0 && !next.has_value())) return std::nullopt;
  std::vector<hlo::Op> elements = {hlo::StopGradient({&b, value})};
  if (next.has_value()) {
    hlo::Op slope{&b, *next};
    for (size_t i = 0; i + 1 < count; ++i)
      slope = b.Binary(i < numerators ? hlo::kMultiply : hlo::kDivide, slope, x[i]);
    elements.push_back(slope);
  }
  elements.insert(elements.end(), x.begin(), x.end());
  const char* const rule = next.has_value() ? "hypergeometric" : "hypergeometric_last";
  const NodeId result = b.GetTupleElement(hlo::TupleWithRule(rule, elements, 1), 0).id;
  return b.status().ok() ? std::optional(result) : std::nullopt;
}

}  // namespace

std::optional<NodeId> AppendHypergeometric(hlo::Computation& to, NodeId root, size_t parameters) {
  hlo::Computation f(TraceTables::Get().tables(), std::string(to.name()));
  CopyNodes(
      to, root + 1, [](NodeId, const hlo::Instruction&) { return std::optional<NodeId>(); },
      AppendingTo(f, to));
  f.set_root(root);
  std::vector<NodeId> arguments(parameters, 0);
  size_t found = 0;
  bool loops = false;
  for (NodeId node = 0; node <= root; ++node) {
    loops = loops || to[node].opcode() == hlo::kWhile || to[node].opcode() == hlo::kScan ||
            to[node].opcode() == hlo::kConditional;
    if (to[node].opcode() != hlo::kParameter) continue;
    const size_t number = static_cast<size_t>(to[node].parameter_number());
    if (number >= parameters) return std::nullopt;
    arguments[number] = node;
    ++found;
  }
  if (found != parameters || !loops || !hlo::IsFloat(to[root].shape().type)) return std::nullopt;
  return AppendValue(to, f, arguments, kDerivatives);
}

}  // namespace hlod::lazy
