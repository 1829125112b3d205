// Three ways to provide a primal: recompute, hoist, save.
//
// A transpose needs values of the forward computation: that of y = sin(x) multiplies by cos(x), for which it
// asks for x. When the transpose is appended to the computation itself, the values are nodes of it
// (InPlacePrimals) and cost nothing. But the transpose of a loop's body is a body of its own, which runs when
// the forward loop has ended; and a trace may run before Backward() is called. Such a transpose is built in a
// scratch trace, and each value that it requests must be computed there or passed in as a parameter.
//
// Saving every value is correct, but needs memory for each value of each iteration. Computing every value
// again is too slow: the transposed loop runs backwards, and to know the carry that iteration t began with,
// it would have to run the forward loop up to t once more. So each value uses the cheapest possible way,
// which depends on the sources that it is computed from (NeedsOf, a set):
//
//   kNothing     constants                                  copy it into the scratch trace
//   kInvariants  loop-invariant parameters                  recompute when it is light, else hoist
//   kSlices      values known outside, one per iteration    recompute when it is light, else save
//   kRun         carries that vary, random numbers          save
//
// Recompute: copy the node, and request its operands in turn, down to parameters. The light opcodes (IsLight)
// move elements or do one cheap step with each; writing their result and reading it back would cost as much.
// A value is light when everything between it and the values known outside is (IsCheap).
//
// Hoist: the value is the same in all iterations. It is computed once, before the transposed loop, which
// takes it as a carry that it passes on unchanged.
//
// Save: the value becomes an extra result of the forward computation; stacked, when that is a loop. This is a
// residual in the strict sense.
//
// When a value is only another form of its operand (a transpose, a broadcast: IsShowing), the operand, which
// is never larger, is provided and the form is recomputed. So one residual serves several forms.
//
// Example, the body of a scan with the slice x, the carry h and the invariant carry w:
//
//   a = 2 * x          slices        light
//   u = exp(w)         invariants    not light
//   v = exp(x)         slices        not light
//   p = u * h          kRun
//   r = p * a          kRun
//   h' = r + v
//
// When the gradients of x, h and w are wanted, the transpose rules request p and a (for r), u and h (for p),
// v and u (the derivative of exp is its result):
//
//   a   recomputed: 2 * x in the transposed body, which takes the stack of x, known to the caller, as input
//   u   hoisted: exp(w) is computed once, before the transposed loop
//   v   saved: the forward scan returns the stack of v as well
//   p   saved, as it depends on h: that it is light does not count then
//   h   saved: the forward scan returns the stack of h, too, as each iteration found it
//
// The lists invariants(), slices() and kept() hold the values requested in each way. The caller provides
// them: rules/scan.cc by stacks, rules/conditional.cc by extra results of the branches, keep.cc by live
// values of the trace, grad.cc by tensors. Each node is requested once: Of() caches the scratch node (made_).
#include "client/transform/autodiff/residual_primals.h"

#include <algorithm>
#include <string>

#include "client/tensor/autograd/own_derivative.h"

namespace hlod::lazy {
namespace {

// Returns true for a tuple whose elements are its operands. The results of one with a rule of its own
// (own_derivative.h) have that rule's derivative, which the operands have not: a residual that is kept as an
// operand would be a constant for a second derivative.
bool IsPlainTuple(const hlo::Computation& computation, NodeId node) {
  return computation[node].opcode() == hlo::kTuple && OwnRule(computation, node).empty();
}

// Returns true for an opcode whose result costs no more to recompute than to store and load: it moves
// elements, or does one cheap step with each.
bool IsLight(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kConvert:
    case hlo::kReshape:
    case hlo::kTranspose:
    case hlo::kBroadcast:
    case hlo::kReverse:
    case hlo::kCopy:
    case hlo::kSlice:
    case hlo::kIota:
    case hlo::kConstant:
    case hlo::kAdd:
    case hlo::kSubtract:
    case hlo::kMultiply:
    case hlo::kNegate:
    case hlo::kCompare:
    case hlo::kSelect:
    case hlo::kAnd:
    case hlo::kOr:
    case hlo::kNot:
    case hlo::kMaximum:
    case hlo::kMinimum:
    case hlo::kClamp: return true;
    default: return false;
  }
}

// Returns true when an instruction only rearranges, repeats or widens its operand, which is then saved
// instead of the result.
bool IsShowing(const hlo::Instruction& instruction) {
  switch (instruction.opcode()) {
    case hlo::kReshape:
    case hlo::kTranspose:
    case hlo::kBroadcast:
    case hlo::kReverse:
    case hlo::kCopy: return true;
    case hlo::kConvert: return ByteSize(instruction.operand(0).shape()) <= ByteSize(instruction.shape());
    default: return false;
  }
}

}  // namespace

ResidualPrimals::ResidualPrimals(Lowering& inner, CalleeBody& body, const std::vector<Source>& sources)
    : inner_(inner), computation_(body.computation) {
  for (size_t i = 0; i < sources.size(); ++i) sources_[body.parameters[i]] = sources[i];
}

ResidualPrimals::ResidualPrimals(Lowering& inner, Trace& graph, NodeId first, absl::Span<const NodeId> known)
    : inner_(inner), computation_(graph.mutable_computation()), first_(first) {
  for (const NodeId node : known) sources_[node] = Source::kSlice;
}

uint8_t ResidualPrimals::NeedsOf(Source source) {
  switch (source) {
    case Source::kInvariant: return kInvariants;
    case Source::kSlice: return kSlices;
    case Source::kVarying: return kRun;
  }
  return kRun;
}

uint8_t ResidualPrimals::NeedsOf(NodeId node) {
  if (node < first_) return computation_[node].opcode() == hlo::kConstant ? kNothing : kSlices;
  // Filled in node order, in which operands come before their users.
  while (first_ + needs_.size() <= node) {
    const auto next = static_cast<NodeId>(first_ + needs_.size());
    const hlo::Instruction instruction = computation_[next];
    uint8_t needs = kNothing;
    if (const auto source = sources_.find(next); source != sources_.end()) {
      needs = NeedsOf(source->second);
    } else if (instruction.opcode() == hlo::kParameter) {
      needs = kSlices;
    } else {
      if (instruction.opcode() == hlo::kRng) needs = kRun;  // A second run would return other numbers.
      for (const NodeId operand : instruction.operands()) needs |= NeedsOf(operand);
    }
    needs_.push_back(needs);
  }
  return needs_[node - first_];
}

bool ResidualPrimals::IsCheap(NodeId node) {
  const uint8_t needs = NeedsOf(node);
  if ((needs & kRun) != 0) return false;
  const bool known = node < first_ || sources_.contains(node);
  if (needs == kNothing || known || computation_[node].opcode() == hlo::kParameter) return true;
  if (!IsLight(computation_[node].opcode())) return false;
  if (const auto found = cheap_.find(node); found != cheap_.end()) return found->second;
  bool cheap = true;
  for (const NodeId operand : computation_[node].operands()) cheap = cheap && IsCheap(operand);
  return cheap_[node] = cheap;
}

Op ResidualPrimals::Take(std::vector<Residual>& list, NodeId node) {
  const Shape shape = computation_[node].shape();
  list.push_back({node, inner_.graph.op(inner_.graph.ArgumentParameter(shape))});
  return list.back().parameter;
}

// Copies the instruction into the scratch trace, on the values of its operands.
Op ResidualPrimals::Again(NodeId node) {
  const absl::Span<const NodeId> given = computation_[node].operands();
  const std::vector<NodeId> operands(given.begin(), given.end());
  absl::InlinedVector<NodeId, 8> made;
  for (const NodeId operand : operands) made.push_back(Of(operand).id);
  return inner_.graph.op(inner_.graph.AppendCopy(computation_, node, made));
}

Op ResidualPrimals::Make(NodeId node) {
  const hlo::Instruction instruction = computation_[node];
  const uint8_t needs = NeedsOf(node);
  const auto source = sources_.find(node);
  if (needs != kNothing &&
      (node < first_ || instruction.opcode() == hlo::kParameter || source != sources_.end())) {
    switch (source == sources_.end() ? Source::kSlice : source->second) {
      case Source::kInvariant: return Take(invariants_, node);
      case Source::kSlice: return Take(slices_, node);
      case Source::kVarying: return Take(kept_, node);
    }
  }
  if (needs == kNothing || IsCheap(node) || IsShowing(instruction)) return Again(node);
  if (!instruction.shape().IsArray()) {
    if (instruction.opcode() == hlo::kTuple) return Again(node);
    std::vector<Op> elements;
    const size_t count = instruction.shape().tuple.size();
    for (size_t i = 0; i < count; ++i) elements.push_back(Element(node, i));
    return inner_.b.Tuple(elements);
  }
  if (instruction.opcode() == hlo::kGetTupleElement &&
      IsPlainTuple(computation_, instruction.operands()[0])) {
    const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
    return Of(instruction.operand(0).operands()[index]);
  }
  if (needs == kInvariants) return Take(invariants_, node);
  return Take(kept_, node);
}

Op ResidualPrimals::Of(NodeId node) {
  if (const auto found = made_.find(node); found != made_.end()) return found->second;
  const Op op = Make(node);
  made_[node] = op;
  return op;
}

// Indexes the existing get-tuple-elements of the computation, so that an element is always the same node, and
// the same residual.
void ResidualPrimals::FindElements() {
  elements_found_ = true;
  for (NodeId node = first_; node < computation_.size(); ++node) {
    const hlo::Instruction instruction = computation_[node];
    if (instruction.opcode() != hlo::kGetTupleElement) continue;
    const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
    elements_.try_emplace({instruction.operands()[0], index}, node);
  }
}

Op ResidualPrimals::Element(NodeId node, size_t index) {
  const hlo::Instruction instruction = computation_[node];
  if (IsPlainTuple(computation_, node)) return Of(instruction.operands()[index]);
  if (!elements_found_) FindElements();
  const auto [found, added] = elements_.try_emplace({node, index}, 0);
  if (added) {
    hlo::Tables& tables = computation_.tables();
    const hlo::ShapeId shape = tables.Intern(Shape(instruction.shape().tuple[index]));
    const hlo::TupleIndexAttributes attributes{static_cast<int64_t>(index)};
    found->second =
        computation_.Append(hlo::kGetTupleElement, shape, tables.Intern(hlo::Attributes(attributes)), {node});
  }
  return Of(found->second);
}

std::vector<Op> ResidualPrimals::ExtendTuple(NodeId node, const TupleExtension& wider) {
  if (!elements_found_) FindElements();
  if (!lazy::ExtendTuple(computation_, node, wider)) return {};
  // The elements after the added ones have moved to higher indices.
  std::vector<std::pair<size_t, NodeId>> moved;
  for (auto entry = elements_.begin(); entry != elements_.end();) {
    const auto at = entry++;
    if (at->first.first != node || at->first.second < wider.at) continue;
    moved.emplace_back(at->first.second + wider.added, at->second);
    elements_.erase(at);
  }
  for (const auto& [index, element] : moved) elements_[{node, index}] = element;
  std::vector<Op> elements;
  for (size_t i = 0; i < wider.added; ++i) elements.push_back(Element(node, wider.at + i));
  return elements;
}

}  // namespace hlod::lazy
