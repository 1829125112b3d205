// The tape: records the operations that Backward() may have to differentiate.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/tensor/function/function.h"
#include "client/tensor/value/value.h"
#include "client/tensor/value/view.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

class TapeEntry;
struct GradHooks;  // client/tensor/autograd/grad_hooks.h

// Differentiates the entries of a tape. The rules of derivatives are in a higher layer than tensors
// (client/transform), so a leaf brings the engine with it when it first requires a gradient, and each entry
// takes the engine of its inputs.
class GradientEngine {
 public:
  // Makes those residuals of the entry results of the trace, which is about to run, that would be expensive
  // to recompute.
  virtual void KeepResiduals(TapeEntry& entry, Trace& graph, const Caller& caller) const = 0;

 protected:
  ~GradientEngine() = default;
};

// Collects the gradient of a tensor that requires one. Views of the tensor share it.
class GradLeaf : public RefCounted {
 public:
  GradLeaf(const GradientEngine& engine, bool in_function) : engine(engine), in_function(in_function) {}
  static void Destroy(GradLeaf* leaf) { delete leaf; }

  const GradientEngine& engine;  // Lives as long as the process.
  const bool in_function;        // True when the leaf was made while a function was traced.
  Tensor gradient;
  std::shared_ptr<GradHooks> hooks;  // Null without hooks.
};

// Determines where the gradients of a tensor and of its views flow. A tensor without a lineage has the
// history of its storage's value. Three kinds of tensor have their own lineage: a leaf; the result of
// Detach(), which shares the storage without its history, and may get a history by updates in place; and a
// view made in a NoGrad scope.
class Lineage : public RefCounted {
 public:
  Lineage(std::shared_ptr<const View> root, uint64_t tensor) : root(std::move(root)), tensor(tensor) {}
  static void Destroy(Lineage* lineage) { delete lineage; }

  // The view of the storage that the root has (the root is the tensor that the lineage began with). All its
  // steps are leading ones.
  const std::shared_ptr<const View> root;
  const uint64_t tensor;  // The root's id: other tensors of the lineage are views.
  bool made_without_grad = false;
  Ref<GradLeaf> leaf;
  Ref<TapeEntry> history;       // The entry that made the root's value, when there is no leaf.
  uint32_t history_output = 0;  // The output of that entry which has the root's shape.
  Ref<Lineage> before;          // The lineage of a leaf before RequiresGrad_().
};

// True while operations of this thread are remembered. False in a NoGrad scope, and inside Backward().
bool& GradMode();

// An operand of a recorded operation. Its value at that time stays alive for Backward().
struct TapeInput {
  Ref<Value> value;  // Null when no gradient needs it.
  uint64_t value_id = 0;
  Shape base;                        // The value's shape.
  View view;                         // The view through which it was read.
  std::shared_ptr<const View> root;  // The view that is the root of its lineage, or null.
  bool wanted = false;               // True when it requires a gradient.
  Ref<GradLeaf> leaf;                // The leaf that takes its gradient, or null.
  Ref<TapeEntry> history;            // The entry that made it, when there is no leaf.
  uint32_t history_output = 0;       // The index of this operand among that entry's outputs.
  NodeId node = 0;                   // The operand's node in the trace.
};

// A recorded operation: a range of nodes of a trace, which is copied when the trace is cleared.
class TapeEntry : public RefCounted {
 public:
  TapeEntry(const char* operation, const Caller& caller)
      : sequence(NextId()), operation(operation), caller(caller) {}
  static void Destroy(TapeEntry* entry);

  const uint64_t sequence;  // The position on the tape, greater than those of the entries that it depends on.
  const char* const operation;
  const Caller caller;
  const GradientEngine* engine = nullptr;  // The engine of the inputs.
  std::vector<TapeInput> inputs;
  std::vector<NodeId> outputs;  // Nodes of `graph`.
  std::vector<Shape> output_shapes;
  std::vector<Ref<GradLeaf>> retained;  // By output, the leaf in which RetainGrad() collects the gradient.
  // By output, the hooks of its gradient; after them, if there are more, those of all gradients together.
  std::vector<std::shared_ptr<GradHooks>> hooks;

  Trace* graph = nullptr;  // Null after the trace was cleared.
  uint32_t graph_index = 0;
  NodeId first = 0;                  // The first node of the entry.
  NodeId limit = 0;                  // The end of the entry's nodes.
  std::optional<Function> function;  // A copy of the nodes, whose arguments are `inputs`.
  // Residuals: intermediate values that the gradient needs and that were computed with the trace. They are
  // the function's outputs after `outputs`.
  struct Kept {
    Ref<Value> value;
    NodeId node = 0;
  };
  std::vector<Kept> kept;
  // When set, it is used instead of the nodes: returns the inputs' gradients for those of the outputs.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> backward;
  bool in_place = false;  // True when the operation updated its first operand in place.
  bool released = false;

  // Drops the inputs' values that the gradient does not need.
  void ForgetUnneeded(const Trace& graph);
  // Copies the nodes into `function`, because the trace is about to be cleared or another trace needs them.
  void KeepFunction();
  void LeaveGraph();
  // Drops, after Backward(), the values that were kept for it.
  void Release();
};

// Keeps the residuals of all entries that live values of the trace depend on. REQUIRES: TraceLock.
void KeepResiduals(Trace& graph, const Caller& caller);

// The target of a tensor's gradient (for a view, of the gradient of the tensor that it is a view of): a leaf,
// or the entry that made the value.
struct GradEdge {
  Ref<GradLeaf> leaf;
  Ref<TapeEntry> entry;
  uint32_t output = 0;
};
GradEdge EdgeOf(const TensorImpl& tensor);
// Returns true when gradients flow to the tensor: it is a leaf that requires one, or was computed from such
// tensors.
bool RequiresGrad(const TensorImpl& tensor);
// Returns true when the tensor is the root of its lineage instead of a view of it.
bool IsRoot(const TensorImpl& tensor);
// Returns true when the tensor is a leaf that collects a gradient.
bool IsGradLeaf(const TensorImpl& tensor);
// Returns a lineage whose root has the tensor's view of its storage; `id` becomes the root's id.
Ref<Lineage> NewLineage(const TensorImpl& tensor, uint64_t id);
// Returns the tensor's view of its storage, with the steps that lead to its lineage's root marked as leading.
View MarkedView(const TensorImpl& tensor);
TapeInput MakeTapeInput(TensorImpl& tensor, NodeId node);
// Returns the engine of the inputs that require a gradient; null when none does.
const GradientEngine* EngineOf(const std::vector<TapeInput>& inputs);

}  // namespace hlod::lazy
