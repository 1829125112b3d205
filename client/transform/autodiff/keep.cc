// Saves residuals in a trace that is closed before Backward(). These are the residuals of loops, of
// checkpoints and of functions of several products, which Backward() would otherwise recompute.
#include "client/tensor/autograd/tape.h"
#include "client/transform/autodiff/residual_primals.h"

namespace hlod::lazy {
namespace {

// Returns true when recomputing the entry's nodes costs more than finding out which primals its gradient
// needs.
bool IsCostly(const TapeEntry& entry, const hlo::Computation& computation) {
  int products = 0;
  for (NodeId node = entry.first; node < entry.limit; ++node) {
    switch (computation[node].opcode()) {
      case hlo::kScan:
      case hlo::kWhile:
      case hlo::kConditional:
      case hlo::kCall: return true;
      case hlo::kDot:
      case hlo::kConvolution:
      case hlo::kSort:
      case hlo::kFft:
      case hlo::kCholesky:
      case hlo::kTriangularSolve: ++products; break;
      default: break;
    }
  }
  return products > 1;
}

}  // namespace

// Differentiates the entry into a scratch trace, which is then dropped, to learn which primals the gradient
// needs, and makes these live values of the trace.
void KeepForBackward(TapeEntry& entry, Trace& graph, const Caller& caller) {
  if (!entry.kept.empty() || !IsCostly(entry, graph.computation())) return;
  Trace scratch(graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  Subgraph part{graph.computation(), entry.first, entry.limit, {}, {}, &graph};
  for (const TapeInput& input : entry.inputs) {
    part.inputs.push_back(input.node);
    part.wanted.push_back(input.wanted);
  }
  ResidualPrimals residuals(inner, graph, entry.first, part.inputs);
  std::vector<Op> cotangents;
  for (const Shape& shape : entry.output_shapes) {
    cotangents.push_back(scratch.op(scratch.ArgumentParameter(shape)));
  }
  try {
    AppendVjp(inner, part, residuals, entry.outputs, cotangents);
  } catch (const Refusal&) {
    return;  // If Backward() gets here, it reports the missing rule.
  }
  for (const ResidualPrimals::Residual& taken : residuals.kept()) {
    const Shape& shape = graph.computation()[taken.node].shape();
    auto value = MakeRef<Value>(shape.type, shape.dims, graph.place, caller);
    graph.AddLive(*value, taken.node);
    entry.kept.push_back({std::move(value), taken.node});
  }
}

}  // namespace hlod::lazy
