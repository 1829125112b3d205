// What a tensor points to: a storage, and how it is looked at.
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
  // Shows the whole of `storage`.
  TensorImpl(uint64_t id, Ref<Storage> storage) : id(id), storage(std::move(storage)) {}
  TensorImpl(uint64_t id, Ref<Storage> storage, View view)
      : id(id), storage(std::move(storage)), view_(std::make_unique<const View>(std::move(view))) {}
  static void Destroy(TensorImpl* impl) { delete impl; }

  const uint64_t id;
  const Ref<Storage> storage;
  Ref<Lineage> lineage;  // Null: gradients flow as the value's history says.

  // The node of a view in a graph, as long as neither the graph was closed nor the storage written.
  uint64_t cached_graph = 0, cached_version = 0;
  NodeId cached_node = 0;

  // A host tensor's copy on a device where it met device tensors, as of a version of its storage.
  Ref<Value> copy;
  Place copy_place;
  uint64_t copy_version = 0;

  bool is_view() const { return view_ != nullptr && !view_->steps.empty(); }
  const Dims& dims() const { return view_ != nullptr ? view_->dims : storage->dims; }
  View view() const { return view_ != nullptr ? *view_ : WholeView(storage->dims); }
  Value& value() const { return *storage->value; }  // REQUIRES: TraceLock.
  PrimitiveType type() const { return storage->type; }
  const Place& place() const { return storage->place; }

 private:
  const std::unique_ptr<const View> view_;  // Null for most: the whole.
};

inline Tensor MakeTensor(Ref<TensorImpl> impl) { return Tensor(impl.Leak()); }
// A tensor of its own; its id is the value's.
Tensor MakeTensor(Ref<Value> value);
// Another view of `base`'s data: `step` after its own steps.
Tensor MakeView(const Tensor& base, ViewStep step, Dims dims, Dims strides, int64_t offset);

// The node of what a tensor shows, in `graph`. REQUIRES: TraceLock.
NodeId NodeOf(Trace& graph, TensorImpl& tensor);
// What the tensor that gradients flow to shows, which the tensor that was written to is a view of.
struct Written {
  NodeId before, after;
};
// Replaces what the tensor shows, which for a view is part of its storage's value. `node` has its shape and
// type. REQUIRES: TraceLock; the graph is one the tensor's place computes in.
Written Write(Trace& graph, TensorImpl& tensor, NodeId node, const Caller& caller);
// A value of its own with what the tensor shows: its storage's value when it is not a view.
Ref<Value> ShownValue(TensorImpl& tensor, const char* operation, const Caller& caller);

}  // namespace hlod::lazy
