// Open traces: parameters, live values, and copies of nodes of other traces.
#include "client/tensor/trace/trace.h"

#include <algorithm>
#include <utility>

#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/value/host.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::lazy {
namespace {

uint64_t NextGeneration() {
  static uint64_t last = 0;  // Guarded by TraceLock.
  return ++last;
}

}  // namespace

Trace::Trace(Place place, Kind kind)
    : place(place),
      kind(kind),
      computation_(TraceTables::Get().tables(), "trace"),
      builder_(TraceTables::Get().callees(), computation_),
      generation_(NextGeneration()) {}

Trace::~Trace() { KeepTape(); }

void Trace::SetOrigin(const Caller& caller, const char* operation) {
  origins_.Set(TraceTables::Get().InternOrigin(CallerScope::Of(caller), operation), size());
}

const Parameter* Trace::ParameterAt(NodeId node) const {
  if (computation_[node].opcode() != hlo::kParameter) return nullptr;
  return &parameters_[static_cast<size_t>(computation_[node].parameter_number())];
}

NodeId Trace::AppendParameter(Parameter parameter, const Shape& shape) {
  const auto number = static_cast<uint32_t>(parameters_.size());
  const hlo::ShapeId id = computation_.tables().Intern(shape);
  parameter.node = computation_.Append(hlo::kParameter, id, TraceTables::Get().ParameterNumber(number), {});
  parameters_.push_back(std::move(parameter));
  return parameters_.back().node;
}

// Returns the trace's table entry for the value; it is kNoNode if the value is new. Values with the same
// buffer share a node.
NodeId* Trace::Known(Value& value) {
  const auto [found, added] = node_of_value_.try_emplace(value.id, kNoNode);
  if (added && value.state() == Value::State::kData) {
    found->second = node_of_buffer_.try_emplace(value.buffer().handle(), kNoNode).first->second;
  }
  return &found->second;
}

template <typename Make>
NodeId Trace::Remembered(Value& value, Make make) {
  if (value.known_graph == generation_) return value.known_node;
  NodeId node = *Known(value);
  if (node == kNoNode) {
    node = make();
    node_of_value_[value.id] = node;
    if (value.state() == Value::State::kData) node_of_buffer_[value.buffer().handle()] = node;
  }
  value.known_graph = generation_;
  value.known_node = node;
  return node;
}

NodeId Trace::ParameterOf(Value& value) {
  return Remembered(value, [&] { return AppendParameter({Ref<Value>(&value), nullptr}, value.shape()); });
}

NodeId Trace::NodeOf(Value& value) {
  switch (value.state()) {
    case Value::State::kNode:
      if (value.graph() == this) return value.node();
      if (value.graph()->kind == Kind::kFunction && kind != Kind::kFunction) {
        Refuse("a tensor of a function that is being traced is used outside of it");
      }
      if (kind == Kind::kFunction) return ParameterOf(value);
      if (kind == Kind::kAbstract && value.graph()->kind == Kind::kReal) return ParameterOf(value);
      return CopyFrom(*value.graph(), value.node());
    case Value::State::kFile: Materialize(value); return ParameterOf(value);
    case Value::State::kRecipe:
      if (kind == Kind::kHost) {  // The bytes are kept for the next operation.
        Materialize(value);
        return ParameterOf(value);
      }
      return Remembered(value, [&] {
        Lowering lowering{*this};
        return value.recipe()(lowering).id;
      });
    case Value::State::kFailed:
      // A device's program refuses it when it runs.
      if (kind == Kind::kHost) throw Refusal{value.failure()};
      return ParameterOf(value);
    default: return ParameterOf(value);
  }
}

NodeId Trace::Constant(Literal literal) {
  hlo::Tables& tables = computation_.tables();
  const hlo::ShapeId shape = tables.Intern(literal.shape());
  const hlo::LiteralId id = tables.Intern(std::make_shared<const Literal>(std::move(literal)));
  const auto [found, added] = constants_.try_emplace(id, kNoNode);
  if (added) {
    const hlo::AttributesId attributes = tables.Intern(hlo::Attributes(hlo::ConstantAttributes{id}));
    found->second = computation_.Append(hlo::kConstant, shape, attributes, {});
  }
  return found->second;
}

NodeId Trace::NumberParameter(Literal literal, bool random) {
  const Shape shape = literal.shape();
  Parameter parameter;
  parameter.literal = std::make_shared<const Literal>(std::move(literal));
  parameter.random = random;
  return AppendParameter(std::move(parameter), shape);
}

NodeId Trace::AppendCopy(const hlo::Computation& from, NodeId node, absl::Span<const NodeId> operands) {
  const hlo::Instruction instruction = from[node];
  if (instruction.opcode() == hlo::kConstant) {
    const hlo::LiteralId id = instruction.attributes<hlo::ConstantAttributes>().literal;
    const auto [found, added] = constants_.try_emplace(id, kNoNode);
    if (added) {
      found->second = hlo::CloneInstruction(instruction, {}, computation_, hlo::ClonedNotes::kNone);
    }
    return found->second;
  }
  return hlo::CloneInstruction(instruction, operands, computation_, hlo::ClonedNotes::kAll);
}

NodeId Trace::CaptureParameter(TensorImpl& tensor, bool& is_whole) {
  const Lineage* const lineage = tensor.lineage.get();
  const bool collects = lineage != nullptr && (lineage->leaf || lineage->history);
  is_whole = !collects || lineage->root->steps.empty();
  // Keys are addresses, which stay unique because the parameter keeps its tensor alive. The low bits
  // distinguish a tensor, a lineage, a storage, and a storage's detached tensors.
  const auto storage = reinterpret_cast<uintptr_t>(tensor.storage.get());
  const uint64_t key = !is_whole  ? reinterpret_cast<uintptr_t>(&tensor) << 2
                       : collects ? reinterpret_cast<uintptr_t>(lineage) << 2
                                  : storage << 2 | (lineage != nullptr ? 2 : 0);
  const auto [found, added] = captured_.try_emplace(key, kNoNode);
  if (added) {
    Parameter parameter;
    if (is_whole) {
      auto whole = MakeRef<TensorImpl>(NextId(), tensor.storage);
      whole->lineage = collects || lineage == nullptr ? tensor.lineage : NewLineage(*whole, whole->id);
      parameter.captured = MakeTensor(std::move(whole));
    } else {
      parameter.captured = MakeTensor(Ref<TensorImpl>(&tensor));
    }
    const Shape shape = parameter.captured.shape();
    found->second = AppendParameter(std::move(parameter), shape);
  }
  return found->second;
}

void Trace::AddTape(TapeEntry& entry) {
  entry.graph = this;
  entry.graph_index = static_cast<uint32_t>(tape_.size());
  tape_.push_back(&entry);
}

void Trace::RemoveTape(TapeEntry& entry) {
  tape_.back()->graph_index = entry.graph_index;
  tape_[entry.graph_index] = tape_.back();
  tape_.pop_back();
}

void Trace::KeepTape() {
  for (TapeEntry* entry : tape_) {
    if (kind == Kind::kFunction) entry->released = true;  // A function's values end with it.
    else entry->KeepFunction();
    entry->graph = nullptr;
  }
  tape_.clear();
}

NodeId Trace::CopyFrom(Trace& other, NodeId root) {
  if (const auto found = copied_.find({other.generation_, root}); found != copied_.end())
    return found->second;
  // Marks the needed nodes from the root backwards: operands have smaller ids than their users.
  const hlo::Computation& from = other.computation_;
  std::vector<bool> needed(root + 1, false);
  needed[root] = true;
  for (NodeId node = root + 1; node-- > 0;) {
    if (!needed[node] || copied_.contains({other.generation_, node})) continue;
    for (const NodeId operand : from[node].operands()) needed[operand] = true;
  }
  absl::InlinedVector<NodeId, 8> operands;
  for (NodeId node = 0; node <= root; ++node) {
    if (!needed[node] || copied_.contains({other.generation_, node})) continue;
    NodeId copy = 0;
    if (const Parameter* parameter = other.ParameterAt(node); parameter == nullptr) {
      const hlo::Instruction instruction = from[node];
      operands.clear();
      for (const NodeId operand : instruction.operands()) {
        operands.push_back(copied_.at({other.generation_, operand}));
      }
      const OriginRow& row = other.origin(node);
      SetOrigin(row.caller, row.operation);
      copy = hlo::CloneInstruction(instruction, operands, computation_, hlo::ClonedNotes::kNone);
    } else if (parameter->value) {
      copy = NodeOf(*parameter->value);
    } else {
      copy = AppendParameter({Ref<Value>(), parameter->literal}, parameter->literal->shape());
    }
    copied_.emplace(Copied{other.generation_, node}, copy);
  }
  return copied_.at({other.generation_, root});
}

void Trace::AddLive(Value& value, NodeId node) {
  value.form_ = Value::Live{this, node, static_cast<uint32_t>(live_.size())};
  live_.push_back(&value);
}

void Trace::RemoveLive(Value& value) {
  const uint32_t index = std::get<Value::Live>(value.form_).index;
  std::get<Value::Live>(live_.back()->form_).index = index;
  live_[index] = live_.back();
  live_.pop_back();
}

std::vector<Value*> Trace::LiveInOrder() const {
  std::vector<Value*> values = live_;
  std::sort(values.begin(), values.end(), [](const Value* a, const Value* b) {
    return a->node() != b->node() ? a->node() < b->node() : a->id < b->id;
  });
  return values;
}

std::vector<Parameter> Trace::Clear() {
  KeepTape();
  computation_.Clear();
  generation_ = NextGeneration();
  node_of_value_.clear();
  node_of_buffer_.clear();
  constants_.clear();
  origins_.Clear();
  copied_.clear();
  captured_.clear();
  return std::exchange(parameters_, {});
}

}  // namespace hlod::lazy
