// What can be refused because values are known: those of host tensors, which are computed at once. Of a
// device, and in a function that is traced, no value is known, and XLA's rule holds.
#pragma once

#include <memory>
#include <optional>

#include "client/tensor/dispatch/lowering.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// The first element of `values`, integers, that is not in [first, limit) and not `allowed`.
std::optional<int64_t> Outside(const Literal& values, int64_t first, int64_t limit,
                               std::optional<int64_t> allowed = {});

// The value of an operand, or null where it is not known.
std::shared_ptr<const Literal> KnownValue(Lowering& l, Op x);
// The same of a tensor, outside of a lowering.
std::optional<Literal> KnownValue(const Tensor& x, const Caller& caller);

// Whether a negative index counts from the end.
enum class FromEnd { kNo, kYes };
// Refuses an index that is known and names nothing in `size` elements of dimension `dim` ...
void CheckIndices(Lowering& l, Op index, int64_t dim, int64_t size, FromEnd from_end = FromEnd::kNo);
// ... or in all `size` elements.
void CheckFlatIndices(Lowering& l, Op index, int64_t size, FromEnd from_end = FromEnd::kNo);

}  // namespace hlod::lazy
