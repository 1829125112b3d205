// Attention.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

struct AttentionOptions {
  Tensor mask = {};             // Added to the scores, or of type pred: where to look. Broadcast to them.
  bool is_causal = false;       // Query i sees keys 0 to i. Not together with a mask.
  std::optional<double> scale;  // The factor of the scores; 1 / sqrt(the queries' last size) when absent.
  double dropout = 0;           // The probability with which a weight is dropped.
};
// softmax(q k^T scale + mask) v over the last two dimensions; those before are batches. A query that sees no
// key gets zeros.
Tensor ScaledDotProductAttention(const Operand& query, const Operand& key, const Operand& value,
                                 const AttentionOptions& options = {});

}  // namespace hlod
