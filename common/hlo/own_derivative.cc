// Stores the marks as frontend attributes of instructions.
#include "common/hlo/own_derivative.h"

#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hlod::hlo {
namespace {

constexpr char kOwnDerivative[] = "own_derivative", kOwnResults[] = "own_results", kStop[] = "stop_gradient";

// Returns an empty string when the node has no attribute of that name.
std::string_view AttributeOf(const Computation& computation, NodeId node, const char* name) {
  const Notes* const notes = computation.notes(node);
  if (notes == nullptr) return "";
  const auto found = notes->frontend_attributes.find(name);
  return found == notes->frontend_attributes.end() ? std::string_view() : found->second;
}

}  // namespace

void Stop(Op x) {
  if (x.builder->status().ok()) x.builder->mutable_notes(x).frontend_attributes[kStop] = "true";
}

Op StopGradient(Op x) {
  const Op stopped = x.builder->Unary(kCopy, x);
  Stop(stopped);
  return stopped;
}

bool IsStopped(const Computation& computation, NodeId node) {
  return !AttributeOf(computation, node, kStop).empty();
}

std::string_view OwnRule(const Computation& computation, NodeId node) {
  return AttributeOf(computation, node, kOwnDerivative);
}

size_t OwnResults(const Computation& computation, NodeId node) {
  size_t results = 0;
  const std::string_view text = AttributeOf(computation, node, kOwnResults);
  return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &results) ? results : 0;
}

Op TupleWithRule(std::string_view rule, absl::Span<const Op> elements, size_t results) {
  Builder& b = *elements.front().builder;
  const Op tuple = b.Tuple(elements);
  if (!b.status().ok()) return tuple;
  std::map<std::string, std::string>& attributes = b.mutable_notes(tuple).frontend_attributes;
  attributes[kOwnDerivative] = std::string(rule);
  attributes[kOwnResults] = absl::StrCat(results);
  return tuple;
}

std::vector<Op> WithOwnDerivative(std::string_view rule, absl::Span<const Op> operands,
                                  absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower) {
  Builder& b = *operands.front().builder;
  std::vector<Op> stopped;
  for (const Op x : operands) {
    const PrimitiveType type = b.shape(x).type;
    stopped.push_back(IsFloat(type) || IsComplex(type) ? StopGradient(x) : x);
  }
  std::vector<Op> elements = lower(stopped);
  const size_t count = elements.size();
  elements.insert(elements.end(), operands.begin(), operands.end());
  const Op tuple = TupleWithRule(rule, elements, count);
  std::vector<Op> results;
  for (size_t i = 0; i < count; ++i) results.push_back(b.GetTupleElement(tuple, static_cast<int64_t>(i)));
  return results;
}

}  // namespace hlod::hlo
