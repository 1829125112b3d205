// Rows of tables by index. PyTorch's argument order: the indices first.
#pragma once

#include <optional>

#include "hlod/tensor.h"

namespace hlod {

// The rows that are looked up are made shorter first, in the table itself, where their norm exceeds this.
struct MaxNorm {
  double max = 0, p = 2;
};
Tensor Embedding(const Operand& indices, const Operand& weight, std::optional<MaxNorm> max_norm = {});

enum class BagMode { kSum, kMean, kMax };
struct EmbeddingBagOptions {
  BagMode mode = BagMode::kMean;
  // Of a vector of indices: where each bag begins; with `include_last_offset` also where the last one ends.
  Tensor offsets = {};
  bool include_last_offset = false;
  Tensor per_sample_weights = {};             // What each row is multiplied by; of sums only.
  std::optional<int64_t> padding_index = {};  // Rows that do not count.
  std::optional<MaxNorm> max_norm = {};
};
// Rows of a table joined: each row of a matrix of indices is a bag, or parts of a vector are. A bag of
// nothing gives zeros.
Tensor EmbeddingBag(const Operand& indices, const Operand& weight, const EmbeddingBagOptions& options = {});

}  // namespace hlod
