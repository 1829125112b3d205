// The table of operations, with the element types that each one accepts.
#include "client/tensor/dispatch/operation.h"

#include "client/tensor/dispatch/accepted_indices.h"

namespace hlod::lazy {
namespace ops {

constexpr uint64_t Of(std::initializer_list<hlo::PrimitiveType> types) {
  uint64_t bits = 0;
  for (const hlo::PrimitiveType type : types) bits |= uint64_t{1} << static_cast<int>(type);
  return bits;
}

constexpr uint64_t kBools = Of({hlo::kPred}), kFloats = Of({hlo::kF16, hlo::kBF16, hlo::kF32, hlo::kF64});
constexpr uint64_t kIntegers = Of({hlo::kU8, hlo::kS8, hlo::kS16, hlo::kS32, hlo::kS64});
constexpr uint64_t kComplexes = Of({hlo::kC64, hlo::kC128});

struct AcceptedRow {
  std::string_view pytorch;
  Accepted accepted;
};
constexpr AcceptedRow kAcceptedRows[] = {
#define HLOD_ACCEPTED(pytorch, types, one_type) {pytorch, {types, one_type}},
#include "client/tensor/dispatch/accepted.inc"
#undef HLOD_ACCEPTED
};

constexpr AcceptedIndices kIndexRows[] = {
#define HLOD_ACCEPTED_INDICES(pytorch, first, last, types, empty_of_any) \
  {pytorch, first, last, types, empty_of_any},
#include "client/tensor/dispatch/accepted_indices.inc"
#undef HLOD_ACCEPTED_INDICES
};

// Finds the row at compile time, so that the table of operations is a constant.
constexpr Accepted FindAccepted(std::string_view pytorch) {
  for (const AcceptedRow& row : kAcceptedRows) {
    if (row.pytorch == pytorch) return row.accepted;
  }
  return {};
}

}  // namespace ops

Accepted AcceptedBy(std::string_view pytorch) { return ops::FindAccepted(pytorch); }

const AcceptedIndices* AcceptedIndicesOf(std::string_view pytorch) {
  for (const AcceptedIndices& row : ops::kIndexRows) {
    if (row.pytorch == pytorch) return &row;
  }
  return nullptr;
}

namespace ops {
#define HLOD_TENSOR_OP(name, pytorch, promotion, meaning) \
  constinit const Operation name = {#name, pytorch, Promotion::promotion, meaning, FindAccepted(pytorch)};
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
