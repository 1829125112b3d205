// Fusion: which instructions become one pass over memory, and the step that runs such a group as a tile
// program.
#pragma once

#include <memory>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/step.h"

namespace hlod::engine {

// A group of instructions of one computation that run as one step: elementwise ones, broadcasts, iotas,
// reshapes and constants between them, and reduces of recognised reducers at its end (or inside a row:
// softmax, layer norm).
struct FusionGroup {
  std::vector<hlo::NodeId> nodes;   // In computation order.
  std::vector<hlo::NodeId> inputs;  // Values from outside, without repeats: the step's inputs in this order.
  std::vector<hlo::NodeId>
      outputs;  // Nodes used outside the group (or the root): the step's outputs in this order.
};

// Partitions the fusable instructions of `computation`; each node is in at most one group, no group depends
// on itself through another node. `live` says which instructions are needed at all. Instructions in no group
// get steps of their own.
std::vector<FusionGroup> PlanFusion(const hlo::Module& module, const hlo::Computation& computation,
                                    const std::vector<bool>& live);

// Which instructions still have to be computed once the groups read through views: broadcasts and slices that
// only fused steps read are gone. Whatever is needed for the root or a side effect, or is in a needed group.
std::vector<bool> NeededNodes(const hlo::Computation& computation, const std::vector<bool>& live,
                              const std::vector<FusionGroup>& groups);

// The tile program of a group. Never null for a group that PlanFusion made.
std::unique_ptr<Step> MakeFusedStep(const hlo::Module& module, const hlo::Computation& computation,
                                    const FusionGroup& group, int threads);

// A scalar computation (reducer, comparator, combiner) compiled to run on element blocks: the general path of
// reduce, scatter, sort and reduce-window when the computation is not one of the recognised ones. Null when
// it holds control flow or calls.
class ScalarFunction {
 public:
  virtual ~ScalarFunction() = default;
  virtual int parameter_count() const = 0;
  virtual int result_count() const = 0;
  // Applies it `count` times: parameters[p] and results[r] point at `count` dense elements of their types.
  // Allocates nothing. results may be parameters.
  virtual void Run(const std::byte* const* parameters, std::byte* const* results, int64_t count) const = 0;
};
std::unique_ptr<ScalarFunction> MakeScalarFunction(const hlo::Module& module, hlo::ComputationId computation);

// A computation of two scalars that is just one of these, in either operand order; kNone otherwise.
enum class ScalarReducer : uint8_t { kNone, kAdd, kMultiply, kMinimum, kMaximum, kAnd, kOr, kXor, kSecond };
ScalarReducer RecogniseReducer(const hlo::Computation& computation);

}  // namespace hlod::engine
