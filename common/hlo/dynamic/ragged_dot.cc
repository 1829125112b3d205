// The kind of the ragged dimension is that of the list that contains it.
#include "common/hlo/dynamic/ragged_dot.h"

#include <algorithm>

namespace hlod::hlo {
namespace {

bool Has(const Dims& dims, int64_t dimension) {
  return std::find(dims.begin(), dims.end(), dimension) != dims.end();
}

}  // namespace

RaggedMode RaggedModeOf(const RaggedDotAttributes& ragged) {
  const int64_t dimension = ragged.lhs_ragged[0];
  if (Has(ragged.dot.lhs_contracting, dimension)) return RaggedMode::kContracting;
  return Has(ragged.dot.lhs_batch, dimension) ? RaggedMode::kBatch : RaggedMode::kFree;
}

Dims RaggedPrefix(const RaggedDotAttributes& ragged, int64_t lhs_rank) {
  const DotAttributes& dot = ragged.dot;
  const int64_t dimension = ragged.lhs_ragged[0];
  const RaggedMode mode = RaggedModeOf(ragged);
  Dims prefix;
  if (mode != RaggedMode::kBatch) prefix = dot.lhs_batch;
  if (mode == RaggedMode::kFree) {
    for (int64_t d = 0; d < lhs_rank && d < dimension; ++d) {
      if (!Has(dot.lhs_batch, d) && !Has(dot.lhs_contracting, d)) prefix.push_back(d);
    }
    return prefix;
  }
  const Dims& own = mode == RaggedMode::kContracting ? dot.lhs_contracting : dot.lhs_batch;
  prefix.insert(prefix.end(), own.begin(), std::find(own.begin(), own.end(), dimension));
  return prefix;
}

}  // namespace hlod::hlo
