// What dot and convolution compute in, and how their sums become the result.
#pragma once

#include <vector>

#include "common/evaluator/kernel.h"
#include "common/evaluator/wide.h"
#include "common/hlo/literal.h"

namespace hlod::evaluator {

// Products are summed in the widest kind of operands and result, as XLA sums them: complex before float
// before integer. Integer sums wrap in the result's own carrier.
inline Carrier SumCarrier(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType result) {
  for (const Carrier carrier : {Carrier::kComplex, Carrier::kFloat}) {
    if (CarrierOf(lhs) == carrier || CarrierOf(rhs) == carrier || CarrierOf(result) == carrier)
      return carrier;
  }
  return CarrierOf(result);
}

// Writes sums into `result`, converted as the opcode `convert` does it where their carrier is another one:
// float sums of an integer result truncate and saturate.
template <typename C>
void StoreSums(const std::vector<C>& sums, hlo::Literal& result) {
  const hlo::PrimitiveType type = result.shape().type;
  if (CarrierFor<C>() == CarrierOf(type)) return StoreAll(sums, result);
  const hlo::PrimitiveType from = CarrierFor<C>() == Carrier::kComplex ? hlo::kC128 : hlo::kF64;
  std::vector<Wide> converted(sums.size());  // Room for a block of any carrier.
  const void* const in[] = {sums.data()};
  FindConvertKernel(from, type)(
      in, converted.data(), static_cast<int64_t>(sums.size()),
      {.operand = from, .result = type, .bits = hlo::Info(from).bits, .format = {}});
  Store(type, converted.data(), static_cast<int64_t>(sums.size()), result.bytes().data());
}

}  // namespace hlod::evaluator
