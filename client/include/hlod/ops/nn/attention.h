// Attention.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

struct AttentionOptions {
  // Added to the scores; or of type pred, true at the keys that a query may see. Broadcast to the scores.
  Tensor mask = {};
  bool is_causal = false;       // Query i sees keys 0 to i only. Excludes a mask.
  std::optional<double> scale;  // The factor of the scores; 1 / sqrt(the queries' last size) when absent.
  double dropout = 0;           // The probability with which a weight is dropped.
};
// softmax(q k^T scale + mask) v over the last two dimensions; the dimensions before are batches. The result
// is zero for a query that sees no key.
Tensor ScaledDotProductAttention(const Operand& query, const Operand& key, const Operand& value,
                                 const AttentionOptions& options = {});

}  // namespace hlod
