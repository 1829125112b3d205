// Tensors as views of storages: reading a view, writing through one.
#include "client/tensor/impl.h"

#include <utility>

#include "client/tensor/host.h"
#include "client/tensor/lock.h"
#include "client/tensor/placeholder.h"
#include "client/tensor/runtime.h"
#include "client/tensor/thread_trace.h"
#include "client/tensor/throw.h"

namespace hlod::lazy {

void Retain(TensorImpl* impl) { impl->AddRef(); }
void Release(TensorImpl* impl) {
  if (impl->DropRef()) TensorImpl::Destroy(impl);
}

Tensor MakeTensor(Ref<Value> value) {
  const uint64_t id = value->id;
  View whole = WholeView(value->dims);
  return MakeTensor(MakeRef<TensorImpl>(id, MakeRef<Storage>(std::move(value)), std::move(whole)));
}

Tensor MakeView(const Tensor& base, ViewStep step, Dims dims, Dims strides, int64_t offset) {
  View view = base.impl()->view;
  // A step over the whole storage replaces what led to it.
  if (std::holds_alternative<StridedStep>(step)) view.steps.clear();
  view.steps.push_back(std::move(step));
  view.dims = std::move(dims);
  view.strides = std::move(strides);
  view.offset = offset;
  return MakeTensor(MakeRef<TensorImpl>(NextId(), base.impl()->storage, std::move(view)));
}

NodeId NodeOf(Graph& graph, TensorImpl& tensor) {
  if (!tensor.is_view()) return graph.NodeOf(tensor.value());
  if (tensor.cached_graph == graph.generation() && tensor.cached_version == tensor.storage->version) {
    return tensor.cached_node;
  }
  Lowering lowering{graph};
  const Op shown = Apply(lowering, tensor.view, graph.op(graph.NodeOf(tensor.value())));
  if (!lowering.b.status().ok()) throw Refusal{lowering.b.TakeStatus()};
  tensor.cached_graph = graph.generation();
  tensor.cached_version = tensor.storage->version;
  tensor.cached_node = shown.id;
  return shown.id;
}

void Write(Graph& graph, TensorImpl& tensor, NodeId node, const Caller& caller) {
  Storage& storage = *tensor.storage;
  if (tensor.is_view()) {
    Lowering lowering{graph};
    const Op base = graph.op(graph.NodeOf(*storage.value));
    node = Scatter(lowering, tensor.view, base, graph.op(node)).id;
    if (!lowering.b.status().ok()) throw Refusal{lowering.b.TakeStatus()};
  }
  auto value = MakeRef<Value>(storage.value->type, storage.value->dims, storage.value->place, caller);
  if (graph.kind == Graph::Kind::kHost) value->Become(Evaluate(graph, {node})[0]);
  else graph.AddLive(*value, node);
  storage.value = std::move(value);
  ++storage.version;
}

Ref<Value> ShownValue(TensorImpl& tensor, const char* operation, const Caller& caller) {
  const TraceLock lock;
  if (!tensor.is_view()) return tensor.storage->value;
  Value& base = tensor.value();
  if (base.IsPlaceholder()) ThrowPlaceholder(base, operation, caller);
  auto shown = MakeRef<Value>(tensor.type(), tensor.view.dims, base.place, caller);
  try {
    if (base.place.is_host() && base.state != Value::State::kNode) {
      Graph graph(base.place, Graph::Kind::kHost);
      shown->Become(Evaluate(graph, {NodeOf(graph, tensor)})[0]);
      return shown;
    }
    const bool abstract = base.state == Value::State::kNode && base.graph->kind == Graph::Kind::kAbstract;
    Graph& graph =
        ThreadTrace::Get().Open(base.place, abstract ? Graph::Kind::kAbstract : Graph::Kind::kReal);
    graph.SetOrigin(caller, operation);
    graph.AddLive(*shown, NodeOf(graph, tensor));
  } catch (const Refusal& refusal) {
    Throw(refusal.status, operation, caller);
  }
  return shown;
}

}  // namespace hlod::lazy
