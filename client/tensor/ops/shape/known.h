// Checks values that are known at trace time: those of host tensors, which are computed at once. On a device,
// and in a traced function, values are not known, and XLA's behaviour applies.
#pragma once

#include <memory>
#include <optional>

#include "client/tensor/dispatch/lowering.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Returns the first element of the integers `values` that is neither in [first, limit) nor `allowed`; nullopt
// when there is none.
std::optional<int64_t> Outside(const Literal& values, int64_t first, int64_t limit,
                               std::optional<int64_t> allowed = {});

// Returns the value of an operand, or null when it is not known.
std::shared_ptr<const Literal> KnownValue(Lowering& l, Op x);
// Like KnownValue above, for a tensor outside of a lowering; nullopt if it is not known.
std::optional<Literal> KnownValue(const Tensor& x, const Caller& caller);

// kYes when a negative index counts from the end.
enum class FromEnd { kNo, kYes };
// Refuses a known index that is out of range for the `size` elements of dimension `dim`.
void CheckIndices(Lowering& l, Op index, int64_t dim, int64_t size, FromEnd from_end = FromEnd::kNo);
// Refuses a known index that is out of range for a flattened tensor of `size` elements.
void CheckFlatIndices(Lowering& l, Op index, int64_t size, FromEnd from_end = FromEnd::kNo);

}  // namespace hlod::lazy
