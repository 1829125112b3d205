// Remembers single instructions by operation and shapes, and records them again.
#include "client/tensor/trace/record_cached.h"

#include <algorithm>
#include <array>

#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/autocast.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/close_event.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/impl.h"

namespace hlod::lazy {
namespace {

constexpr size_t kOperands = 2;
constexpr hlo::ShapeId kNoShape = UINT32_MAX;

struct Recorded {
  const Operation* operation = nullptr;
  const void* lowering = nullptr;
  std::array<hlo::ShapeId, kOperands> operands{};
  hlo::Opcode opcode{};
  hlo::ShapeId shape = 0;
  hlo::AttributesId attributes = 0;
};

// Returns the slot of such a call in a direct-mapped table of instructions. Guarded by TraceLock.
Recorded& SlotOf(const Operation& operation, const void* lowering,
                 const std::array<hlo::ShapeId, kOperands>& shapes) {
  static constexpr size_t kSlots = 512;
  static auto* const slots = new std::array<Recorded, kSlots>;
  uint64_t hash = reinterpret_cast<uintptr_t>(&operation) ^ reinterpret_cast<uintptr_t>(lowering) << 1;
  for (const hlo::ShapeId shape : shapes) hash = (hash ^ shape) * 0x9e3779b97f4a7c15u;
  return (*slots)[hash >> 55];
}

// Returns the operand's existing node in `graph`; kNoNode if there is none, or if it is not a plain tensor:
// it is a view, on another device, or requires a gradient.
NodeId PlainNode(const Trace& graph, const Operand& operand) {
  if (operand.tensor() == nullptr || !operand.tensor()->defined()) return kNoNode;
  const TensorImpl& tensor = *operand.tensor()->impl();
  const Value& value = tensor.value();
  if (tensor.is_view() || !(value.place == graph.place) || (GradMode() && RequiresGrad(tensor)))
    return kNoNode;
  if (value.graph() != nullptr) return value.graph() == &graph ? value.node() : kNoNode;
  return value.known_graph == graph.generation() ? value.known_node : kNoNode;
}

}  // namespace

Tensor RecordCached(const Operation& operation, const void* lowering,
                    absl::Span<const Operand* const> operands) {
  if (operands.size() > kOperands || autocast_active || FunctionTrace::Innermost() != nullptr) return {};
  const Tensor* const first = operands[0]->tensor();
  if (first == nullptr || !first->defined()) return {};
  const RecordingTime time;
  const TraceLock lock;
  const Place place = first->impl()->value().place;
  if (place.is_host() || place.runtime->ended()) return {};
  Trace& graph = ThreadTraces::Get().Open(place, Trace::Kind::kReal);
  if (!graph.has_live() || graph.size() >= Current().trace_nodes_max) return {};
  std::array<NodeId, kOperands> nodes;
  std::array<hlo::ShapeId, kOperands> shapes;
  shapes.fill(kNoShape);
  for (size_t i = 0; i < operands.size(); ++i) {
    nodes[i] = PlainNode(graph, *operands[i]);
    if (nodes[i] == kNoNode) return {};
    shapes[i] = graph.computation()[nodes[i]].shape_id();
  }
  const Recorded& known = SlotOf(operation, lowering, shapes);
  if (known.operation != &operation || known.lowering != lowering || known.operands != shapes) return {};
  const Caller& caller = operands[0]->caller();
  graph.SetOrigin(caller, operation.pytorch);
  const NodeId node = graph.Append(known.opcode, known.shape, known.attributes,
                                   absl::MakeConstSpan(nodes.data(), operands.size()));
  const Shape& shape = graph.computation().tables().shape(known.shape);
  auto value = MakeRef<Value>(shape.type, shape.dims, place, caller);
  graph.AddLive(*value, node);
  ++Stats().operations;
  return MakeTensor(std::move(value));
}

void RememberRecorded(const Operation& operation, const void* lowering, absl::Span<const hlo::Op> operands,
                      const Trace& graph, uint32_t before, hlo::Op made) {
  if (operands.size() > kOperands || graph.kind != Trace::Kind::kReal) return;
  if (graph.size() != before + 1 || made.id != before) return;
  const hlo::Instruction instruction = graph.computation()[made.id];
  if (!instruction.called().empty() || instruction.operand_count() != operands.size()) return;
  std::array<hlo::ShapeId, kOperands> shapes;
  shapes.fill(kNoShape);
  for (uint32_t i = 0; i < operands.size(); ++i) {
    if (instruction.operands()[i] != operands[i].id) return;
    shapes[i] = graph.computation()[operands[i].id].shape_id();
  }
  SlotOf(operation, lowering, shapes) = {&operation,
                                         lowering,
                                         shapes,
                                         instruction.opcode(),
                                         instruction.shape_id(),
                                         instruction.attributes_id()};
}

}  // namespace hlod::lazy
