// Rows of tables by index. The indices are the first argument, as in PyTorch. An index out of range throws on
// the host; on a device it means the nearest row.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// Rows whose norm exceeds `norm` are scaled down in the table itself before they are looked up.
struct MaxNorm {
  double max = 0, p = 2;
};
struct EmbeddingOptions {
  // The row that gets no gradient, counted from the end when negative.
  std::optional<int64_t> padding_index = {};
  std::optional<MaxNorm> max_norm = {};
  bool scale_grad_by_freq = false;  // Divides a row's gradient by the number of indices that name it.
};
// The rows of `weight` [count, size] at the indices: [indices' dimensions..., size].
Tensor Embedding(const Operand& indices, const Operand& weight, const EmbeddingOptions& options = {});

enum class BagMode { kSum, kMean, kMax };
struct EmbeddingBagOptions {
  BagMode mode = BagMode::kMean;
  // For a vector of indices, the position at which each bag begins; with `include_last_offset` also the end
  // of the last one.
  Tensor offsets = {};
  bool include_last_offset = false;
  Tensor per_sample_weights = {};             // A factor per index; for sums only.
  std::optional<int64_t> padding_index = {};  // The row that is left out of bags.
  std::optional<MaxNorm> max_norm = {};
};
// Joins rows of a table into bags: each row of a matrix of indices is a bag, and a vector is split at
// offsets. An empty bag is zeros.
Tensor EmbeddingBag(const Operand& indices, const Operand& weight, const EmbeddingBagOptions& options = {});

}  // namespace hlod
