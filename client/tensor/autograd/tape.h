// What is remembered of operations whose gradients may be asked for by Backward().
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

// Differentiates what a tape remembers. The rules of derivatives lie above the tensors (client/transform), so
// a leaf brings the engine with it when gradients are first asked for, and every entry that it leads to has
// it.
class GradientEngine {
 public:
  // Marks as results of the graph, which is about to run, the residuals of the entry that would cost much to
  // compute again.
  virtual void KeepResiduals(TapeEntry& entry, Trace& graph, const Caller& caller) const = 0;

 protected:
  ~GradientEngine() = default;
};

// Where the gradient of a tensor that requires one is collected. Views of the tensor share it.
class GradLeaf : public RefCounted {
 public:
  GradLeaf(const GradientEngine& engine, bool in_function) : engine(engine), in_function(in_function) {}
  static void Destroy(GradLeaf* leaf) { delete leaf; }

  const GradientEngine& engine;  // Lives as long as the process.
  const bool in_function;        // Made while a function was traced.
  Tensor gradient;
};

// Where the gradients of a tensor and of its views flow to. A tensor without one has its storage's value's
// history. One of its own has a leaf, what Detach() gives (which shares the storage and not its history, and
// may come to a history by updates in place), and a view that is made in a NoGrad scope.
class Lineage : public RefCounted {
 public:
  Lineage(std::shared_ptr<const View> root, uint64_t tensor) : root(std::move(root)), tensor(tensor) {}
  static void Destroy(Lineage* lineage) { delete lineage; }

  // How that tensor looks at the storage; all steps of it are leading ones.
  const std::shared_ptr<const View> root;
  const uint64_t tensor;  // Its id: the others are views.
  bool made_without_grad = false;
  Ref<GradLeaf> leaf;
  Ref<TapeEntry> history;       // Where there is no leaf: what made what it shows ...
  uint32_t history_output = 0;  // ... as this output, of the root's shape.
  Ref<Lineage> before;          // Of a leaf: what the tensor had until RequiresGrad_().
};

// Whether operations of this thread are remembered. Off in a NoGrad scope, and inside Backward().
bool& GradMode();

// An operand of a remembered operation. What it was then stays alive for Backward().
struct TapeInput {
  Ref<Value> value;  // Null where no gradient needs to know it.
  uint64_t value_id = 0;
  Shape base;                        // The value's shape ...
  View view;                         // ... and how it was looked at.
  std::shared_ptr<const View> root;  // Its lineage's; null: the whole value.
  bool wanted = false;               // Whether it requires a gradient, which goes ...
  Ref<GradLeaf> leaf;                // ... here, ...
  Ref<TapeEntry> history;            // ... or, without a leaf, to what made the value ...
  uint32_t history_output = 0;       // ... as this output.
  NodeId node = 0;                   // What was shown, in the graph.
};

// A remembered operation: a range of nodes of a graph. When the graph is cleared the range is copied.
class TapeEntry : public RefCounted {
 public:
  TapeEntry(const char* operation, const Caller& caller)
      : sequence(NextId()), operation(operation), caller(caller) {}
  static void Destroy(TapeEntry* entry);

  const uint64_t sequence;  // Greater than those of the entries that it depends on.
  const char* const operation;
  const Caller caller;
  const GradientEngine* engine = nullptr;  // That of its inputs.
  std::vector<TapeInput> inputs;
  std::vector<NodeId> outputs;  // Nodes of `graph`.
  std::vector<Shape> output_shapes;
  std::vector<Ref<GradLeaf>> retained;  // By output: where RetainGrad() wants the gradient.

  Trace* graph = nullptr;  // Null once it was cleared.
  uint32_t graph_index = 0;
  NodeId first = 0;                  // Its nodes are those from here ...
  NodeId limit = 0;                  // ... to before this.
  std::optional<Function> function;  // Afterwards; its arguments are the inputs.
  // What the gradient needs of the nodes in between, once the graph has run: values that were computed with
  // it. They are the function's outputs after `outputs`.
  struct Kept {
    Ref<Value> value;
    NodeId node = 0;
  };
  std::vector<Kept> kept;
  // In place of nodes: gives the inputs' gradients from those of the outputs.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> backward;
  bool in_place = false;  // Whether it replaced what its first operand showed.
  bool released = false;

  // Lets go of the inputs' values that no gradient needs.
  void ForgetUnneeded(const Trace& graph);
  // The nodes as a function, as the graph is about to forget them or another graph needs them.
  void KeepFunction();
  void LeaveGraph();
  // After Backward(): gives up what was kept for it.
  void Release();
};

// Keeps the residuals of all entries that live values of the graph lead to. REQUIRES: TraceLock.
void KeepResiduals(Trace& graph, const Caller& caller);

// Where the gradient of what a tensor is a view of goes: to a leaf, or on to what made the value.
struct GradEdge {
  Ref<GradLeaf> leaf;
  Ref<TapeEntry> entry;
  uint32_t output = 0;
};
GradEdge EdgeOf(const TensorImpl& tensor);
// Whether gradients flow to the tensor: it is a leaf that requires one, or was made from some.
bool RequiresGrad(const TensorImpl& tensor);
// Whether it is the tensor that its lineage began with, and no view of it.
bool IsRoot(const TensorImpl& tensor);
// Whether it is a leaf that collects a gradient.
bool IsGradLeaf(const TensorImpl& tensor);
// A lineage that begins with what the tensor shows; `id` is that of its root.
Ref<Lineage> NewLineage(const TensorImpl& tensor, uint64_t id);
// How the tensor looks at its storage, with the steps that lead to its lineage's root marked.
View MarkedView(const TensorImpl& tensor);
TapeInput MakeTapeInput(TensorImpl& tensor, NodeId node);
// Returns the engine of the inputs that require a gradient; null when none does.
const GradientEngine* EngineOf(const std::vector<TapeInput>& inputs);

}  // namespace hlod::lazy
