// One reduction of a fused step: its operation, and its accumulators' first and last values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/tile/kernel.h"
#include "server/engine/tile/ops/ops.h"

namespace hlod::engine {

class FusedReduction {
 public:
  // The reduce is number `output` of the step's outputs, and reads the value that the program keeps as `kept`. Null
  // if its initial value is neither one of `inputs` nor a constant.
  static std::optional<FusedReduction> Make(const hlo::Module& module, const hlo::Computation& computation,
                                            hlo::Instruction reduce, const std::vector<hlo::NodeId>& inputs,
                                            int kept, int output);

  int kept() const { return fold_.kept; }
  Carrier carrier() const { return fold_.carrier; }
  const KernelFold& kernel_fold() const { return fold_; }
  int accumulator_bytes() const { return fold_.accumulator_bytes(); }

  // Fills `n` accumulators with the initial value.
  void Start(const std::byte* const* inputs, std::byte* accumulators, int n) const;
  // Fills `n` accumulators with the value that leaves any other unchanged, -0 among them.
  void StartNeutral(std::byte* accumulators, int n) const;
  // Combine `n` elements into one accumulator; element i into accumulator i; and accumulator i of another array.
  void Fold(std::byte* accumulator, const void* elements, int n) const { fold_all_(accumulator, elements, n); }
  // Combines the elements of row i, `n` of less than kShortRow, into accumulator i.
  void FoldShortRows(std::byte* accumulators, const void* elements, int rows, int n) const {
    fold_rows_(accumulators, elements, rows, n);
  }
  // Combines the columns of `groups` dense matrices into n accumulators each.
  void FoldGroups(std::byte* accumulators, const void* elements, int groups, int rows, int n) const {
    fold_groups_(accumulators, elements, groups, rows, n);
  }
  void FoldColumns(std::byte* accumulators, const void* elements, int n) const {
    fold_columns_(accumulators, elements, n);
  }
  void Join(std::byte* accumulators, const std::byte* others, int n) const {
    join_columns_(accumulators, others, n);
  }
  // Converts accumulators [0, n) to the output's elements from `first` on. `temporary` has room for a tile of
  // 8-byte elements.
  void Finish(std::byte* const* outputs, const std::byte* accumulators, int64_t first, int n,
              std::byte* temporary) const;

 private:
  FusedReduction() = default;
  void Neutral(std::byte* element) const;

  KernelFold fold_;
  int output_ = 0;
  int width_ = 0;        // The bytes of an element in memory.
  int init_input_ = -1;  // When negative, the initial value is the constant below.
  alignas(8) std::byte init_[8] = {};
  // The conversions from the initial value in memory to an accumulator, and from accumulators to the
  // output; null if not needed.
  TileFunction load_ = nullptr, widen_ = nullptr, round_ = nullptr, store_ = nullptr;
  FoldFunction fold_all_ = nullptr;
  FoldColumnsFunction fold_columns_ = nullptr;
  FoldRowsFunction fold_rows_ = nullptr;
  FoldGroupsFunction fold_groups_ = nullptr;
  FoldColumnsFunction join_columns_ = nullptr;  // On accumulators: joins the results of chunks.
};

}  // namespace hlod::engine
