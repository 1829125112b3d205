// The table of element types.
#include "client/pjrt/buffers/element_type.h"

#include <algorithm>
#include <iterator>

#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

// The types by the interface's number.
constexpr hlo::PrimitiveType kTypes[] = {
    hlo::kInvalid,    hlo::kPred,   hlo::kS8,       hlo::kS16,           hlo::kS32,
    hlo::kS64,        hlo::kU8,     hlo::kU16,      hlo::kU32,           hlo::kU64,
    hlo::kF16,        hlo::kF32,    hlo::kF64,      hlo::kBF16,          hlo::kC64,
    hlo::kC128,       hlo::kF8E5M2, hlo::kF8E4M3FN, hlo::kF8E4M3B11FNUZ, hlo::kF8E5M2FNUZ,
    hlo::kF8E4M3FNUZ, hlo::kS4,     hlo::kU4,       hlo::kTokenType,     hlo::kS2,
    hlo::kU2,         hlo::kF8E4M3, hlo::kF8E3M4,   hlo::kF8E8M0FNU,     hlo::kF4E2M1FN,
    hlo::kS1,         hlo::kU1,     hlo::kF6E2M3FN, hlo::kF6E3M2FN,
};

}  // namespace

absl::StatusOr<hlo::PrimitiveType> FromBufferType(abi::BufferType type) {
  const int number = static_cast<int>(type);
  if (number > 0 && number < static_cast<int>(std::size(kTypes))) return kTypes[number];
  return Unimplemented("The element type %d is not known to this version of hlod.", number);
}

abi::BufferType ToBufferType(hlo::PrimitiveType type) {
  const auto* const found = std::find(std::begin(kTypes) + 1, std::end(kTypes), type);
  return abi::BufferType(found == std::end(kTypes) ? 0 : static_cast<int>(found - std::begin(kTypes)));
}

}  // namespace hlod::pjrt
