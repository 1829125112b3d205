// Each computation rewritten over arrays at their bounds, callees first.
#include "common/passes/expand_dynamic.h"

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/passes/dynamic_rules.h"

namespace hlod {

using namespace hlo;  // The passes are functions over the IR.

namespace {

absl::Status CheckParameters(const Module& module) {
  const Computation& entry = module.entry();
  for (const NodeId id : entry.parameters()) {
    for (const ShapeLeaf& leaf : Leaves(entry[id].shape())) {
      for (int64_t d = 0; d < leaf.shape->rank(); ++d) {
        if (!leaf.shape->IsDynamic(d)) continue;
        return Unimplemented(
            "Dimension %d of parameter %d (%s) of %s is dynamic (%s): a program takes arrays of static "
            "shapes only.",
            d, entry[id].parameter_number(), entry[id].name(), module.name(), ToStringNoLayout(*leaf.shape));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool HasDynamicDimensions(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      // A tuple is made of arrays that are looked at themselves.
      const Shape& shape = computation[id].shape();
      if (shape.dynamic.empty() ? computation[id].opcode() == kParameter && shape.HasDynamicDimension()
                                : shape.HasDynamicDimension())
        return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Module>> ExpandDynamic(const Module& module) {
  RETURN_IF_ERROR(CheckParameters(module));
  std::unique_ptr<Module> result = EmptyCopy(module);
  // What it says of results is of the arrays that are stored otherwise.
  if (module.entry().root().shape().HasDynamicDimension()) result->config.ClearSignature();
  std::vector<ComputationId> computations;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    // Callees come before their callers.
    std::vector<ComputationId> comparators(from.size());
    for (NodeId id = 0; id < from.size(); ++id) {
      if (SortsDynamic(from[id]))
        comparators[id] = MarkedComparator(*result, from[id], computations[from[id].called()[0]]);
    }
    DynamicRewrite rewrite(module, from, *result, computations, comparators);
    RETURN_IF_ERROR(rewrite.Run(c == module.entry_id()));
    computations.push_back(result->computation_count() - 1);
  }
  result->set_entry(computations[module.entry_id()]);
  return result;
}

}  // namespace hlod
