// The table of operations.
#include "client/tensor/dispatch/operation.h"

namespace hlod::lazy {
namespace ops {
#define HLOD_TENSOR_OP(name, pytorch, promotion, meaning) \
  const Operation name = {#name, pytorch, Promotion::promotion, meaning};
#include "client/tensor/dispatch/ops.inc"
#undef HLOD_TENSOR_OP
}  // namespace ops

absl::Span<const Operation* const> AllOperations() {
  static constexpr const Operation* kAll[] = {
#define HLOD_TENSOR_OP(name, pytorch, promotion, meaning) &ops::name,
#include "client/tensor/dispatch/ops.inc"
#undef HLOD_TENSOR_OP
  };
  return kAll;
}

}  // namespace hlod::lazy
