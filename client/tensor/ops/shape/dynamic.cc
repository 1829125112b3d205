// Reading the values that a shape depends on.
#include "client/tensor/ops/shape/dynamic.h"

#include "client/tensor/trace/close.h"
#include "client/tensor/value/impl.h"

namespace hlod::lazy {

std::vector<int64_t> ReadSizes(const Operation& operation, const Tensor& sizes, const Caller& caller) {
  const std::shared_ptr<const Literal> literal =
      Read(ShownValue(*sizes.impl(), operation.pytorch, caller), TraceCause::kDynamicShape,
           Cause::kScalarRead, operation.pytorch, caller);
  const absl::Span<const int64_t> values = literal->data<int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace hlod::lazy
