// Part of ExpandDynamic: rewrites one computation, instruction by instruction.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/builder.h"
#include "common/passes/copy.h"
#include "common/passes/dynamic/dynamic_arrays.h"

namespace hlod::passes {

using DynamicSizes = std::vector<std::optional<hlo::Op>>;

// Returns the shape that replaces a value where it must be a single value (in tuples, calls and loops): an
// array with dynamic dimensions becomes a tuple of the array at its bounds and their sizes.
hlo::Shape PackedShape(const hlo::Shape& shape);

class DynamicRewrite {
 public:
  // comparators[id] is the new comparator of instruction `id`, a sort along a dynamic dimension.
  DynamicRewrite(const hlo::Module& module, const hlo::Computation& from, hlo::Module& result,
                 const std::vector<hlo::ComputationId>& computations,
                 const std::vector<hlo::ComputationId>& comparators);

  // Rewrites every instruction by the rules of dynamic_rules.h. The result of the entry is stored
  // (hlo::kDynamicResultTarget); other results stay packed.
  absl::Status Run(bool is_entry);

  // The following methods are for the rules.
  hlo::Builder& b() { return b_; }
  DynamicArrays& arrays() { return arrays_; }
  // Returns the computation that an instruction calls, before the rewriting.
  const hlo::Computation& Called(hlo::Instruction instruction) const {
    return copy_.module().computation(instruction.called()[0]);
  }
  hlo::ComputationId comparator(hlo::Instruction sort) const { return comparators_[sort.id()]; }
  absl::Status Refuse(hlo::Instruction instruction, std::string_view why) const;
  // Appends the same instruction over arrays at their bounds.
  hlo::Op Same(hlo::Instruction instruction, absl::Span<const hlo::Op> operands);
  hlo::Op Same(hlo::Instruction instruction, absl::Span<const hlo::Op> operands, hlo::Attributes attributes);
  // Returns the sizes of operands [0, count), which must have equal dimensions; dimension `apart` may differ.
  DynamicSizes CommonSizes(hlo::Instruction instruction, absl::Span<const DynamicArray> operands,
                           size_t count, int64_t apart = -1);
  // Returns the `count` elements of a result that is a tuple, or the result itself.
  std::vector<hlo::Op> Elements(hlo::Instruction instruction, hlo::Op result, size_t count);

  // Record the new value of an instruction: Done for one array, DoneAll for each element of a result that may
  // be a tuple, DoneTuple for an opcode with one static result or a tuple of static results.
  absl::Status Done(hlo::Instruction instruction, hlo::Op data, DynamicSizes sizes);
  absl::Status DoneAll(hlo::Instruction instruction, const std::vector<hlo::Op>& data,
                       const DynamicSizes& sizes);
  absl::Status DoneTuple(hlo::Instruction instruction, hlo::Op result, size_t count);

 private:
  absl::Status CheckBounds(hlo::Instruction instruction) const;
  absl::Status Expand(hlo::Instruction instruction);
  // Returns the packed value of an old instruction.
  hlo::NodeId Pack(hlo::NodeId old);
  // Returns the stored form of a value: arrays with dynamic dimensions become bytes, as a program returns
  // them.
  hlo::Op Stored(hlo::Op value, const hlo::Shape& shape);
  // Returns an operand that is an array.
  const DynamicArray& Array(hlo::Instruction instruction, uint32_t i);

  const hlo::Computation& from_;
  const std::vector<hlo::ComputationId>& computations_;
  const std::vector<hlo::ComputationId>& comparators_;
  ComputationCopy copy_;
  hlo::Builder b_;
  DynamicArrays arrays_;
  // The unpacked values by the old instruction's id, filled on demand.
  std::vector<std::optional<DynamicArray>> unpacked_;
};

}  // namespace hlod::passes
