// Rewrites bounded dynamic dimensions to static ones.
//
// The engine compiles static shapes only: buffers, loops and kernels have sizes that are known beforehand. An
// array f32[<=4] has at most 4 elements, and the actual number is known only at run time. It is replaced by
// two values: an array f32[4] at the bounds, whose elements beyond the size are arbitrary, and the size, an
// s32 scalar (DynamicArray; one size per dynamic dimension). Ordinary instructions compute the sizes. All
// work is done at the bounds, which costs as much as if the array were full.
//
// Computations are rewritten callees first, and each one in a single forward walk (DynamicRewrite). An
// instruction without dynamic dimensions in its shape and its operands is copied. For any other, one of these
// holds:
//
//   * It passes on whole values (parameter, tuple, while, call, ...). There a dynamic array is packed into a
//     tuple of the array and its sizes, so the state of loops and the arguments of callees need no rules.
//   * Elements beyond the sizes do no harm, because every element of the result depends only on the element
//     that corresponds to it (elementwise instructions, transpose, broadcast). It runs at the bounds, and
//     the sizes are passed on.
//   * It combines elements (reduce, reduce-window, dot, convolution). The elements beyond the sizes are first
//     replaced by neutral ones. A sort gets one more operand, a pred that marks the elements beyond the size,
//     and a comparator that puts these last; a scatter gets indices outside of its operand.
//   * Elements change their place depending on the sizes (reshape, concatenate, reverse). They are moved so
//     that the existing ones are in front again, by a gather, or by writing one array over the end of
//     another.
//   * There are no rules for it (fft, for example): UNIMPLEMENTED.
//
// The evaluator fails when a size does not fit, for example when two operands that are added differ at run
// time. So does the static program: a custom-call (hlod.CheckSameSize, hlod.CheckDimensionSize) returns the
// size or fails with the evaluator's error. Later instructions use its result as the size, so the check is
// not removed as dead while the size is used.
//
// For example, this sums the first n elements of exp(p) and also returns them:
//
//   ENTRY (p: f32[4], n: s32[]) {
//     x = f32[<=4] set-dimension-size(p, n), dimensions={0}
//     y = f32[<=4] exponential(x)
//     s = f32[] reduce(y, 0), dimensions={0}, to_apply=add
//     ROOT (y, s)
//   }
//
// It becomes
//
//   ENTRY (p: f32[4], n: s32[]) {
//     size = s32[] custom-call(n, 4), custom_call_target="hlod.CheckDimensionSize"    // x is {p, size}
//     data = f32[4] exponential(p)                                                    // y is {data, size}
//     exists = pred[4] compare(iota(), broadcast(size)), direction=LT
//     s = f32[] reduce(select(exists, data, broadcast(0)), 0), dimensions={0}, to_apply=add
//     bytes = u8[20] custom-call(data, size), custom_call_target="hlod.DynamicResult"
//     ROOT (bytes, s)
//   }
//
// with a few tuples and get-tuple-elements in between, which Simplify removes. A program returns buffers of
// static sizes, so the entry's dynamic results are stored as bytes: the existing elements, zeros, and the
// sizes (common/hlo/dynamic/dynamic_result.h). The client cuts them back to their actual sizes.
#include "common/passes/dynamic/expand_dynamic.h"

#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/passes/dynamic/dynamic_rules.h"

namespace hlod::passes {

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
      // A tuple is checked only if it is a parameter: otherwise its arrays are separate instructions.
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
  // The aliases and layouts of the old signature do not fit results that are stored as bytes.
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

}  // namespace hlod::passes
