// Results whose derivative has a rule of its own.
#include "client/tensor/own_derivative.h"

#include <string>

#include "client/tensor/function.h"

namespace hlod::lazy {

namespace {
constexpr char kOwnDerivative[] = "own_derivative";
}  // namespace

std::string_view OwnRule(const hlo::Computation& computation, NodeId node) {
  const hlo::Notes* const notes = computation.notes(node);
  if (notes == nullptr) return "";
  const auto found = notes->frontend_attributes.find(kOwnDerivative);
  return found == notes->frontend_attributes.end() ? std::string_view() : found->second;
}

Op TupleWithRule(Lowering& l, std::string_view rule, absl::Span<const Op> elements) {
  const Op tuple = l.b.Tuple(elements);
  if (l.b.status().ok())
    l.graph.mutable_notes(tuple.id).frontend_attributes[kOwnDerivative] = std::string(rule);
  return tuple;
}

std::vector<Op> WithOwnDerivative(Lowering& l, std::string_view rule, std::vector<Op> x,
                                  absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower) {
  std::vector<Op> stopped;
  for (const Op op : x) {
    const PrimitiveType type = l.type(op);
    stopped.push_back(hlo::IsFloat(type) || hlo::IsComplex(type) ? StopGradient(l, op) : op);
  }
  std::vector<Op> elements = lower(stopped);
  const size_t count = elements.size();
  elements.insert(elements.end(), x.begin(), x.end());
  const Op tuple = TupleWithRule(l, rule, elements);
  std::vector<Op> results;
  for (size_t i = 0; i < count; ++i) results.push_back(l.b.GetTupleElement(tuple, static_cast<int64_t>(i)));
  return results;
}

}  // namespace hlod::lazy
