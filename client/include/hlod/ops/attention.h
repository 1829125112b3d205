// Attention, and dropout.
#pragma once

#include <optional>

#include "hlod/tensor.h"

namespace hlod {

struct AttentionOptions {
  Tensor mask = {};             // Added to the scores, or of type pred: where to look. Broadcast to them.
  bool is_causal = false;       // Query i sees keys 0 to i. Not together with a mask.
  std::optional<double> scale;  // Of the scores; 1 / sqrt(the queries' last size) when absent.
};
// softmax(q k^T scale + mask) v over the last two dimensions; those before are batches. A query that sees no
// key gets zeros.
Tensor ScaledDotProductAttention(const Operand& query, const Operand& key, const Operand& value,
                                 const AttentionOptions& options = {});

// In training, elements are 0 with probability p and the others grow by 1 / (1 - p); otherwise x itself.
Tensor Dropout(const Operand& x, double p = 0.5, bool training = true);
// The same for whole channels, the first two dimensions.
Tensor FeatureDropout(const Operand& x, double p = 0.5, bool training = true);

}  // namespace hlod
