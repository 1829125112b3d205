// Inside ExpandDynamic: one computation being rewritten, instruction by instruction.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/builder.h"
#include "common/passes/copy.h"
#include "common/passes/dynamic_arrays.h"

namespace hlod {

using DynamicSizes = std::vector<std::optional<hlo::Op>>;

// What stands for a value where it is one value (in tuples, calls and loops): an array with dynamic
// dimensions is a tuple of the array at its bounds and their sizes.
hlo::Shape PackedShape(const hlo::Shape& shape);

class DynamicRewrite {
 public:
  // comparators[id]: of the sorts along a dynamic dimension.
  DynamicRewrite(const hlo::Module& module, const hlo::Computation& from, hlo::Module& result,
                 const std::vector<hlo::ComputationId>& computations,
                 const std::vector<hlo::ComputationId>& comparators);

  // Every instruction, by the rules of dynamic_rules.h. Of the entry the result is stored
  // (hlo::kDynamicResultTarget); else it stays one value.
  absl::Status Run(bool is_entry);

  // For the rules.
  hlo::Builder& b() { return b_; }
  DynamicArrays& arrays() { return arrays_; }
  // What an instruction calls, as it was.
  const hlo::Computation& Called(hlo::Instruction instruction) const {
    return copy_.module().computation(instruction.called()[0]);
  }
  hlo::ComputationId comparator(hlo::Instruction sort) const { return comparators_[sort.id()]; }
  absl::Status Refuse(hlo::Instruction instruction, std::string_view why) const;
  // The instruction as it is, over arrays at their bounds.
  hlo::Op Same(hlo::Instruction instruction, absl::Span<const hlo::Op> operands);
  hlo::Op Same(hlo::Instruction instruction, absl::Span<const hlo::Op> operands, hlo::Attributes attributes);
  // Sizes of operands [0, count) that are of one shape; dimension `apart` may differ.
  DynamicSizes CommonSizes(hlo::Instruction instruction, absl::Span<const DynamicArray> operands,
                           size_t count, int64_t apart = -1);
  // The `count` elements of a result that is a tuple, or the result.
  std::vector<hlo::Op> Elements(hlo::Instruction instruction, hlo::Op result, size_t count);

  // Takes what has been made of an array instruction; of each element of one that may be a tuple; of an
  // opcode with one static result, or a tuple of them.
  absl::Status Done(hlo::Instruction instruction, hlo::Op data, DynamicSizes sizes);
  absl::Status DoneAll(hlo::Instruction instruction, const std::vector<hlo::Op>& data,
                       const DynamicSizes& sizes);
  absl::Status DoneTuple(hlo::Instruction instruction, hlo::Op result, size_t count);

 private:
  absl::Status CheckBounds(hlo::Instruction instruction) const;
  absl::Status Expand(hlo::Instruction instruction);
  // The one value of an old instruction.
  hlo::NodeId Pack(hlo::NodeId old);
  // A value whose arrays with dynamic dimensions are as a program returns them.
  hlo::Op Stored(hlo::Op value, const hlo::Shape& shape);
  // An operand that is an array.
  const DynamicArray& Array(hlo::Instruction instruction, uint32_t i);

  const hlo::Computation& from_;
  const std::vector<hlo::ComputationId>& computations_;
  const std::vector<hlo::ComputationId>& comparators_;
  ComputationCopy copy_;
  hlo::Builder b_;
  DynamicArrays arrays_;
  std::vector<std::optional<DynamicArray>> unpacked_;  // By the old instruction's id; made when asked for.
};

}  // namespace hlod
