// Rows of tables by index. PyTorch's argument order: the indices first. An index out of range throws on the
// host, and on a device names the nearest row.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The rows that are looked up are made shorter first, in the table itself, where their norm exceeds this.
struct MaxNorm {
  double max = 0, p = 2;
};
struct EmbeddingOptions {
  std::optional<int64_t> padding_index = {};  // A row that gets no gradient; from the end when negative.
  std::optional<MaxNorm> max_norm = {};
  bool scale_grad_by_freq = false;  // A row's gradient divided by how often the indices name it.
};
Tensor Embedding(const Operand& indices, const Operand& weight, const EmbeddingOptions& options = {});

enum class BagMode { kSum, kMean, kMax };
struct EmbeddingBagOptions {
  BagMode mode = BagMode::kMean;
  // The index where each bag of a vector of indices begins; with `include_last_offset` also where the last
  // one ends.
  Tensor offsets = {};
  bool include_last_offset = false;
  Tensor per_sample_weights = {};             // The factor of each row; for sums only.
  std::optional<int64_t> padding_index = {};  // Rows that do not count.
  std::optional<MaxNorm> max_norm = {};
};
// Rows of a table joined: each row of a matrix of indices is a bag, or parts of a vector are. A bag of
// nothing gives zeros.
Tensor EmbeddingBag(const Operand& indices, const Operand& weight, const EmbeddingBagOptions& options = {});

}  // namespace hlod
