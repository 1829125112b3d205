// The lifetimes of recorded operations.
#include "client/tensor/autograd/tape.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"
#include "hlod/tensor/autograd.h"

namespace hlod::lazy {

bool& GradMode() {
  thread_local bool on = true;
  return on;
}

void TapeEntry::Destroy(TapeEntry* entry) {
  // A chain of entries is destroyed in a loop, because recursion would be as deep as the program is long.
  thread_local std::vector<TapeEntry*>* pending = nullptr;
  if (pending != nullptr) {
    pending->push_back(entry);
    return;
  }
  std::vector<TapeEntry*> mine = {entry};
  pending = &mine;
  while (!mine.empty()) {
    TapeEntry* const last = mine.back();
    mine.pop_back();
    last->LeaveGraph();
    delete last;
  }
  pending = nullptr;
}

void TapeEntry::LeaveGraph() {
  if (graph == nullptr) return;
  const TraceLock lock;
  if (graph != nullptr) std::exchange(graph, nullptr)->RemoveTape(*this);
}

namespace {

// Returns true when the gradient of an instruction needs the value of its operand `i`. varies[j] is true when
// the gradient flows to operand j.
bool NeedsOperand(const hlo::Instruction& instruction, size_t i, const std::vector<bool>& varies) {
  switch (instruction.opcode()) {
    case hlo::kAdd:  // Linear in all of them.
    case hlo::kSubtract:
    case hlo::kNegate:
    case hlo::kConvert:
    case hlo::kCopy:
    case hlo::kReshape:
    case hlo::kBroadcast:
    case hlo::kTranspose:
    case hlo::kReverse:
    case hlo::kSlice:
    case hlo::kPad:
    case hlo::kConcatenate:
    case hlo::kTuple:
    case hlo::kGetTupleElement: return false;
    case hlo::kMultiply:  // Each factor's gradient is the other one.
    case hlo::kDot: return varies[1 - i];
    case hlo::kSelect: return i == 0;  // Linear in all operands except predicates and indices.
    case hlo::kGather:
    case hlo::kDynamicSlice: return i > 0;
    case hlo::kDynamicUpdateSlice: return i > 1;
    case hlo::kReduce:
      return varies.size() != 2 ||
             instruction.called()[0] != TraceTables::Get().Reducer(hlo::kAdd, instruction.shape().type);
    default: return true;
  }
}

}  // namespace

void TapeEntry::ForgetUnneeded(const Trace& graph) {
  const hlo::Computation& computation = graph.computation();
  absl::flat_hash_map<NodeId, bool> varies, needed;  // Nodes before `first` are only inputs.
  for (const TapeInput& input : inputs) varies.try_emplace(input.node, input.wanted);
  const auto is = [](const absl::flat_hash_map<NodeId, bool>& set, NodeId node) {
    const auto found = set.find(node);
    return found != set.end() && found->second;
  };
  for (NodeId node = first; node < limit; ++node) {
    if (varies.contains(node)) continue;
    for (const NodeId operand : computation[node].operands()) {
      if (is(varies, operand)) varies[node] = true;
    }
  }
  for (NodeId node = limit; node-- > first;) {
    const hlo::Instruction instruction = computation[node];
    const absl::Span<const NodeId> operands = instruction.operands();
    // An own rule may need all operands.
    const bool rule = is(varies, node),
               again = is(needed, node) || (rule && !OwnRule(computation, node).empty());
    if (!again && !rule) continue;
    std::vector<bool> of;
    for (const NodeId operand : operands) of.push_back(is(varies, operand));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (again || NeedsOperand(instruction, i, of)) needed[operands[i]] = true;
    }
  }
  for (TapeInput& input : inputs) {
    if (!is(needed, input.node)) input.value = Ref<Value>();
  }
}

void TapeEntry::KeepFunction() {
  if (function.has_value() || graph == nullptr) return;
  std::vector<NodeId> nodes;
  for (const TapeInput& input : inputs) nodes.push_back(input.node);
  std::vector<NodeId> results = outputs;
  for (const Kept& each : kept) results.push_back(each.node);
  function = Extract(*graph, nodes, results);
  // A later run takes the random numbers of the first one.
  for (Parameter& extra : function->extra) extra.random = false;
}

void TapeEntry::Release() {
  LeaveGraph();
  released = true;
  inputs.clear();
  kept.clear();
  function.reset();
  backward = nullptr;
  hooks.clear();  // They may refer to tensors that depend on this entry.
}

void KeepResiduals(Trace& graph, const Caller& caller) {
  absl::flat_hash_set<TapeEntry*> seen;
  std::vector<TapeEntry*> pending;
  const auto visit = [&](const Ref<TapeEntry>& entry) {
    if (entry && entry->graph == &graph && seen.insert(entry.get()).second) pending.push_back(entry.get());
  };
  for (const Value* value : graph.LiveInOrder()) {
    visit(value->history);
    visit(value->detached_history);
  }
  while (!pending.empty()) {
    TapeEntry* const entry = pending.back();
    pending.pop_back();
    for (const TapeInput& input : entry->inputs) visit(input.history);
    if (entry->released || entry->backward || entry->engine == nullptr) continue;
    entry->engine->KeepResiduals(*entry, graph, caller);
  }
}

GradEdge EdgeOf(const TensorImpl& tensor) {
  if (!tensor.lineage) return {{}, tensor.value().history, tensor.value().history_output};
  const Lineage& lineage = *tensor.lineage;
  if (lineage.leaf) return {lineage.leaf, {}, 0};
  return {{}, lineage.history, lineage.history_output};
}

bool RequiresGrad(const TensorImpl& tensor) {
  if (!tensor.lineage) return bool{tensor.value().history};
  return tensor.lineage->leaf || tensor.lineage->history;
}

bool IsRoot(const TensorImpl& tensor) {
  return tensor.lineage ? tensor.lineage->tensor == tensor.id : !tensor.is_view();
}
bool IsGradLeaf(const TensorImpl& tensor) { return tensor.lineage && tensor.lineage->leaf && IsRoot(tensor); }

Ref<Lineage> NewLineage(const TensorImpl& tensor, uint64_t id) {
  View root = tensor.view();
  root.leading = root.steps.size();
  return MakeRef<Lineage>(std::make_shared<const View>(std::move(root)), id);
}

View MarkedView(const TensorImpl& tensor) {
  View view = tensor.view();
  if (tensor.lineage && IsRoot(tensor)) view.leading = view.steps.size();
  return view;
}

const GradientEngine* EngineOf(const std::vector<TapeInput>& inputs) {
  for (const TapeInput& input : inputs) {
    if (input.leaf) return &input.leaf->engine;
    if (input.history && input.history->engine != nullptr) return input.history->engine;
  }
  return nullptr;
}

TapeInput MakeTapeInput(TensorImpl& tensor, NodeId node) {
  const Value& value = tensor.value();
  TapeInput input;
  input.value = tensor.storage->value;
  input.value_id = value.id;
  input.base = value.shape();
  input.view = MarkedView(tensor);
  if (tensor.lineage) input.root = tensor.lineage->root;
  input.wanted = RequiresGrad(tensor);
  input.node = node;
  if (!input.wanted) return input;
  GradEdge edge = EdgeOf(tensor);
  input.leaf = std::move(edge.leaf);
  input.history = std::move(edge.entry);
  input.history_output = edge.output;
  return input;
}

}  // namespace hlod::lazy

namespace hlod {

NoGrad::NoGrad() : before_(std::exchange(lazy::GradMode(), false)) {}
NoGrad::~NoGrad() { lazy::GradMode() = before_; }

}  // namespace hlod
