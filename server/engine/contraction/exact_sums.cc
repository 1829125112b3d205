// Bounds the sums, and converts them.
#include "server/engine/contraction/exact_sums.h"

namespace hlod::engine {

bool SumsAreExactInF32(double terms, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs) {
  constexpr double kExactMax = 1 << 24;
  constexpr int kBitsMax = 8;
  if (!hlo::IsInteger(lhs) || !hlo::IsInteger(rhs)) return false;
  double largest = terms;
  for (const hlo::PrimitiveType type : {lhs, rhs}) {
    const int bits = hlo::Info(type).bits;
    if (bits > kBitsMax) return false;
    largest *= hlo::IsSigned(type) ? 1 << (bits - 1) : (1 << bits) - 1;
  }
  return largest <= kExactMax;
}

namespace {

template <typename To>
void ConvertSums(const std::byte* from, std::byte* to, int64_t count) {
  const auto* sums = reinterpret_cast<const float*>(from);
  auto* out = reinterpret_cast<To*>(to);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(static_cast<int32_t>(sums[i]));
}

}  // namespace

ConvertFunction FindWholeSumConversion(hlo::PrimitiveType to) {
  if (!hlo::IsInteger(to)) return nullptr;
  switch (hlo::Info(to).bits) {
    case 8: return ConvertSums<uint8_t>;
    case 16: return ConvertSums<uint16_t>;
    case 32: return ConvertSums<uint32_t>;
    case 64: return ConvertSums<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace hlod::engine
