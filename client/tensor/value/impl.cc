// Reads tensors as views of storages, and writes through them.
#include "client/tensor/value/impl.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/host.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {

void Retain(TensorImpl* impl) { impl->AddRef(); }
void Release(TensorImpl* impl) {
  if (impl->DropRef()) TensorImpl::Destroy(impl);
}

Tensor MakeTensor(Ref<Value> value) {
  const uint64_t id = value->id;
  return MakeTensor(MakeRef<TensorImpl>(id, MakeRef<Storage>(std::move(value))));
}

namespace {

// Appends a step. Two steps that are equivalent to one are merged, so that a chain of views stays short;
// steps that lead to a tensor with its own lineage are not merged with later ones.
void AddStep(View& view, ViewStep step) {
  std::vector<ViewStep>& steps = view.steps;
  // A strided step addresses the whole storage, so it replaces the steps before it.
  if (std::holds_alternative<StridedStep>(step)) {
    steps.clear();
    view.leading = 0;
  }
  ViewStep* const last = steps.size() == view.leading ? nullptr : &steps.back();
  if (last != nullptr && std::holds_alternative<ReshapeStep>(*last) &&
      std::holds_alternative<ReshapeStep>(step)) {
    *last = std::move(step);
    return;
  }
  auto* const first = last == nullptr ? nullptr : std::get_if<PermuteStep>(last);
  if (const auto* const second = std::get_if<PermuteStep>(&step); first != nullptr && second != nullptr) {
    Dims order;
    for (const int64_t dim : second->permutation) order.push_back(first->permutation[dim]);
    first->permutation = std::move(order);
    return;
  }
  steps.push_back(std::move(step));
}

}  // namespace

void SetData(const Tensor& tensor, const Tensor& source) {
  TensorImpl& impl = *tensor.impl();
  const TraceLock lock;
  const Ref<GradLeaf> leaf = IsGradLeaf(impl) ? impl.lineage->leaf : Ref<GradLeaf>();
  impl.storage->superseded = true;
  impl.ShowDataOf(*source.impl());
  impl.lineage = {};
  if (!leaf) return;
  impl.lineage = NewLineage(impl, impl.id);
  impl.lineage->leaf = leaf;
}

Tensor MakeView(const Tensor& base, ViewStep step, Dims dims, Dims strides, int64_t offset) {
  TensorImpl& from = *base.impl();
  View view = MarkedView(from);
  Ref<Lineage> lineage = from.lineage;
  if (!GradMode()) {
    const TraceLock lock;
    if (RequiresGrad(from) || FunctionTrace::IsInside(from)) {  // Gradients do not flow through it.
      view.leading = view.steps.size();
      lineage = NewLineage(from, /*id=*/0);  // An id that no tensor has, so that all tensors are views.
      lineage->made_without_grad = true;
    }
  }
  AddStep(view, std::move(step));
  view.dims = std::move(dims);
  view.strides = std::move(strides);
  view.offset = offset;
  auto impl = MakeRef<TensorImpl>(NextId(), from.storage, std::move(view));
  impl->lineage = std::move(lineage);
  return MakeTensor(std::move(impl));
}

namespace {

// Returns the node of the storage's value; or of the tensor itself, with `is_whole` false, if a function
// captures it as a view.
NodeId BaseNode(Trace& graph, TensorImpl& tensor, bool& is_whole) {
  is_whole = true;
  const Value& value = tensor.value();
  const bool outside = value.graph() != &graph;
  if (graph.kind == Trace::Kind::kFunction && outside) return graph.CaptureParameter(tensor, is_whole);
  return graph.NodeOf(tensor.value());
}

}  // namespace

NodeId NodeOf(Trace& graph, TensorImpl& tensor) {
  bool is_whole = true;
  if (!tensor.is_view()) return BaseNode(graph, tensor, is_whole);
  if (tensor.cached_graph == graph.generation() && tensor.cached_version == tensor.storage->version) {
    return tensor.cached_node;
  }
  Lowering lowering{graph};
  const Op base = graph.op(BaseNode(graph, tensor, is_whole));
  Op shown = is_whole ? Apply(lowering, tensor.view(), base) : base;
  const bool flows = hlo::IsFloat(tensor.type()) || hlo::IsComplex(tensor.type());
  if (graph.kind == Trace::Kind::kFunction && flows && tensor.lineage && tensor.lineage->made_without_grad) {
    shown = StopGradient(lowering, shown);
  }
  if (!lowering.b.status().ok()) throw Refusal{lowering.b.TakeStatus()};
  tensor.cached_graph = graph.generation();
  tensor.cached_version = tensor.storage->version;
  tensor.cached_node = shown.id;
  return shown.id;
}

namespace {

// `base_node` has the values of the tensor's storage. Writes `update` to the tensor's elements in it, and
// returns the storage's new node.
NodeId WriteThroughView(Trace& graph, const TensorImpl& tensor, NodeId base_node, NodeId update,
                        Written& written) {
  Lowering lowering{graph};
  View view = MarkedView(tensor);
  // Steps after an expand, or strides, may have dropped the repeated elements: then the view as a whole may
  // be written, although that step alone may not.
  const auto repeats = [](const ViewStep& step) {
    return std::holds_alternative<ExpandStep>(step) || std::holds_alternative<StridedStep>(step);
  };
  if (std::any_of(view.steps.begin(), view.steps.end(), repeats)) {
    view.steps = {StridedStep{view.dims, view.strides, view.offset}};
    view.leading = 0;
  }
  const View* const root = tensor.lineage ? tensor.lineage->root.get() : nullptr;
  Op base = graph.op(base_node);
  const View leading = FirstSteps(view, view.leading);
  Op before = Apply(lowering, leading, base);
  const bool over_storage = root != nullptr && root->steps.size() != view.leading;
  // AsStrided() has led from a part of the storage to any part of it, so the root's part depends on the
  // written elements.
  if (over_storage) {
    before = Apply(lowering, *root, base);
    if (!Overlaps(*root)) base = Scatter(lowering, *root, base, before);
  }
  Op after =
      Scatter(lowering, StepsAfter(view, view.leading), over_storage ? base : before, graph.op(update));
  const Op whole = Scatter(lowering, leading, base, after);
  if (over_storage) after = Apply(lowering, *root, whole);
  if (!lowering.b.status().ok()) throw Refusal{lowering.b.TakeStatus()};
  written = {before.id, after.id};
  return whole.id;
}

}  // namespace

Written Write(Trace& graph, TensorImpl& tensor, NodeId node, const Caller& caller) {
  Storage& storage = *tensor.storage;
  if (graph.kind == Trace::Kind::kFunction) FunctionTrace::CheckWrite(graph, storage);
  if (graph.kind == Trace::Kind::kHost) FunctionTrace::CheckHostWrite(storage);
  Written written = {node, node};
  if (tensor.is_view()) node = WriteThroughView(graph, tensor, graph.NodeOf(*storage.value), node, written);
  auto value = MakeRef<Value>(storage.value->type, storage.value->dims, storage.value->place, caller);
  if (graph.kind == Trace::Kind::kHost) value->Become(Evaluate(graph, {node})[0]);
  else graph.AddLive(*value, node);
  // After an update that is not recorded, gradients flow as before it.
  value->history = storage.value->history;
  value->history_output = storage.value->history_output;
  value->detached_history = storage.value->detached_history;
  value->sharding = storage.value->sharding;
  CopyRole(*storage.value, *value);
  storage.value = std::move(value);
  ++storage.version;
  return written;
}

Ref<Value> ShownValue(TensorImpl& tensor, const char* operation, const Caller& caller) {
  Ref<Value> whole;
  {
    const TraceLock lock;
    whole = tensor.storage->value;
  }
  if (!tensor.is_view()) return whole;
  try {
    LoadFile(whole);  // Done without the lock, because a file may be slow.
  } catch (const Refusal& refusal) {
    Throw(refusal.status, operation, caller);
  }
  const TraceLock lock;
  Value& base = tensor.value();
  if (base.IsPlaceholder() && AbstractOf(base.place) == nullptr) ThrowPlaceholder(base, operation, caller);
  auto shown = MakeRef<Value>(tensor.type(), tensor.dims(), base.place, caller);
  try {
    if (base.place.is_host() && base.graph() == nullptr) {
      Trace graph(base.place, Trace::Kind::kHost);
      shown->Become(Evaluate(graph, {NodeOf(graph, tensor)})[0]);
      return shown;
    }
    const bool abstract = base.graph() != nullptr && base.graph()->kind == Trace::Kind::kAbstract;
    Trace& graph =
        ThreadTraces::Get().Open(base.place, abstract ? Trace::Kind::kAbstract : Trace::Kind::kReal);
    graph.SetOrigin(caller, operation);
    graph.AddLive(*shown, NodeOf(graph, tensor));
  } catch (const Refusal& refusal) {
    Throw(refusal.status, operation, caller);
  }
  return shown;
}

}  // namespace hlod::lazy
