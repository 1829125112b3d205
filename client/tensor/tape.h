// What is remembered of operations whose gradients may be asked for by Backward().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "client/tensor/function.h"
#include "client/tensor/value.h"
#include "client/tensor/view.h"
#include "hlod/tensor.h"

namespace hlod::lazy {

class TapeEntry;

// Where the gradient of a tensor that requires one is collected. Views of the tensor share it.
class GradLeaf : public RefCounted {
 public:
  GradLeaf(size_t steps, bool in_function) : steps(steps), in_function(in_function) {}
  static void Destroy(GradLeaf* leaf) { delete leaf; }

  const size_t steps;      // Of the views that share it: how many lead to the tensor itself.
  const bool in_function;  // Made while a function was traced.
  Tensor gradient;
};

// Whether operations of this thread are remembered. Off in a NoGrad scope, and inside Backward().
bool& GradMode();

// An operand of a remembered operation. What it was then stays alive for Backward().
struct TapeInput {
  Ref<Value> value;  // Null where no gradient needs to know it.
  uint64_t value_id = 0;
  Shape base;                   // The value's shape ...
  View view;                    // ... and how it was looked at.
  bool wanted = false;          // Whether it requires a gradient, which goes ...
  Ref<GradLeaf> leaf;           // ... here, ...
  Ref<TapeEntry> history;       // ... or, without a leaf, to what made the value ...
  uint32_t history_output = 0;  // ... as this output.
  NodeId node = 0;              // What was shown, in the graph.
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
  std::vector<TapeInput> inputs;
  std::vector<NodeId> outputs;  // Nodes of `graph`.
  std::vector<Shape> output_shapes;
  std::vector<Ref<GradLeaf>> retained;  // By output: where RetainGrad() wants the gradient.

  Graph* graph = nullptr;  // Null once it was cleared.
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
  bool released = false;

  // Lets go of the inputs' values that no gradient needs.
  void ForgetUnneeded(const Graph& graph);
  // The nodes as a function, as the graph is about to forget them or another graph needs them.
  void KeepFunction();
  void LeaveGraph();
  // After Backward(): gives up what was kept for it.
  void Release();
};

// Lets the graph, which is about to run, compute what the entry's gradient needs and would cost much to
// compute again. Set by the transforms.
inline void (*keep_residuals)(TapeEntry& entry, Graph& graph, const Caller& caller) = nullptr;
// The same for all entries that live values of the graph lead to. REQUIRES: TraceLock.
void KeepResiduals(Graph& graph, const Caller& caller);

// Whether gradients flow to the tensor: it is a leaf that requires one, or was made from some.
bool RequiresGrad(const TensorImpl& tensor);
TapeInput MakeTapeInput(TensorImpl& tensor, NodeId node);

}  // namespace hlod::lazy
