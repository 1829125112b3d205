// The object that a Tensor points to: a storage, and the tensor's view of it.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/autograd/tape.h"
#include "client/tensor/value/pool.h"
#include "client/tensor/value/ref.h"
#include "client/tensor/value/value.h"
#include "client/tensor/value/view.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

class TensorImpl : public RefCounted, public Pooled<TensorImpl> {
 public:
  // Makes a tensor that shows the whole of `storage`.
  TensorImpl(uint64_t id, Ref<Storage> storage) : id(id), storage(std::move(storage)) {}
  TensorImpl(uint64_t id, Ref<Storage> storage, View view)
      : id(id), storage(std::move(storage)), view_(std::make_unique<const View>(std::move(view))) {}
  static void Destroy(TensorImpl* impl) { delete impl; }

  const uint64_t id;
  Ref<Storage> storage;  // Changed by ShowDataOf() only.
  Ref<Lineage> lineage;  // Null: gradients flow according to the value's history.

  // The node of a view in a trace, valid until the trace is closed or the storage is written.
  uint64_t cached_graph = 0, cached_version = 0;
  NodeId cached_node = 0;

  // A host tensor's copy on a device, for operations with device tensors, and the version of the storage that
  // was copied.
  Ref<Value> copy;
  Place copy_place;
  uint64_t copy_version = 0;

  bool is_view() const { return view_ != nullptr && !view_->steps.empty(); }
  const Dims& dims() const { return view_ != nullptr ? view_->dims : storage->dims; }
  View view() const { return view_ != nullptr ? *view_ : WholeView(storage->dims); }
  Value& value() const { return *storage->value; }  // REQUIRES: TraceLock.
  PrimitiveType type() const { return storage->type; }
  const Place& place() const { return storage->place; }

  // Makes it show what `source` shows. Its lineage is of the storage before.
  void ShowDataOf(const TensorImpl& source) {
    storage = source.storage;
    view_ = source.view_ == nullptr ? nullptr : std::make_unique<const View>(*source.view_);
    cached_graph = 0;
    copy = {};
  }

 private:
  std::unique_ptr<const View> view_;  // Null for the whole storage, the most frequent case.
};

inline Tensor MakeTensor(Ref<TensorImpl> impl) { return Tensor(impl.Leak()); }
// Makes a tensor with a storage of its own; its id is the value's.
Tensor MakeTensor(Ref<Value> value);
// Makes `tensor`, and so every variable that refers to it, show the data of `source`, which may have another
// type, shape and place; a leaf keeps its gradient and hooks. No other thread may use the tensor meanwhile.
// The assignment to torch.Tensor.data. Takes the lock itself.
void SetData(const Tensor& tensor, const Tensor& source);
// Makes another view of `base`'s data, with `step` after its own steps.
Tensor MakeView(const Tensor& base, ViewStep step, Dims dims, Dims strides, int64_t offset);

// Returns the node of the tensor's elements in `graph`; appends the steps of a view. REQUIRES: TraceLock.
NodeId NodeOf(Trace& graph, TensorImpl& tensor);
// The nodes of the root of the written tensor's lineage, to which its gradients flow, before and after a
// write.
struct Written {
  NodeId before, after;
};
// Replaces the tensor's elements, which for a view are a part of its storage's value. `node` has its shape
// and type. REQUIRES: TraceLock; `graph` is a trace for the tensor's place.
Written Write(Trace& graph, TensorImpl& tensor, NodeId node, const Caller& caller);
// Returns a value with the tensor's elements: its storage's value if it is not a view, otherwise a new value.
// Takes the lock itself.
Ref<Value> ShownValue(TensorImpl& tensor, const char* operation, const Caller& caller);

}  // namespace hlod::lazy
