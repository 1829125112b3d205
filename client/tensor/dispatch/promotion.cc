// Type promotion: PyTorch's lattice of types, and its three ranks of operands.
#include "client/tensor/dispatch/promotion.h"

#include <algorithm>
#include <array>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {
namespace {

bool IsFloating(PrimitiveType type) { return hlo::IsFloat(type); }
int Bits(PrimitiveType type) { return hlo::Info(type).bits; }

PrimitiveType PromoteIntegers(PrimitiveType a, PrimitiveType b) {
  if (hlo::IsSigned(a) == hlo::IsSigned(b)) return Bits(a) >= Bits(b) ? a : b;
  const PrimitiveType wide = hlo::IsSigned(a) ? a : b, natural = hlo::IsSigned(a) ? b : a;
  if (Bits(natural) > 8) {
    Refuse("%s and %s have no common type: convert one of them", hlo::Name(a), hlo::Name(b));
  }
  return Bits(wide) > Bits(natural) ? wide : hlo::kS16;
}

PrimitiveType PromoteFloats(PrimitiveType a, PrimitiveType b) {
  if (Bits(a) < 16 || Bits(b) < 16) {
    Refuse("%s and %s have no common type: convert one of them", hlo::Name(a), hlo::Name(b));
  }
  if (Bits(a) == 16 && Bits(b) == 16) return hlo::kF32;  // The types are f16 and bf16.
  return Bits(a) >= Bits(b) ? a : b;
}

// Returns the type of a result of higher rank combined with one of lower rank: it changes only if the kind of
// the lower one is higher.
PrimitiveType HigherType(PrimitiveType higher, PrimitiveType lower) {
  if (higher == hlo::kInvalid) return lower;
  if (lower == hlo::kInvalid || hlo::IsComplex(higher)) return higher;
  if (IsFloating(higher)) {
    if (!hlo::IsComplex(lower)) return higher;
    return higher == hlo::kF64 ? hlo::kC128 : hlo::kC64;
  }
  if (higher == hlo::kPred || IsFloating(lower) || hlo::IsComplex(lower)) return PromoteTypes(higher, lower);
  return higher;
}

}  // namespace

PrimitiveType PromoteTypes(PrimitiveType a, PrimitiveType b) {
  if (a == b) return a;
  if (a == hlo::kPred) return b;
  if (b == hlo::kPred) return a;
  if (hlo::IsComplex(a) || hlo::IsComplex(b)) {
    const auto is_double = [](PrimitiveType type) { return type == hlo::kF64 || type == hlo::kC128; };
    return is_double(a) || is_double(b) ? hlo::kC128 : hlo::kC64;
  }
  if (IsFloating(a) && IsFloating(b)) return PromoteFloats(a, b);
  if (IsFloating(a)) return a;
  if (IsFloating(b)) return b;
  return PromoteIntegers(a, b);
}

PrimitiveType ResultType(absl::Span<const Promoted> operands) {
  std::array<PrimitiveType, 3> by_rank = {hlo::kInvalid, hlo::kInvalid, hlo::kInvalid};
  for (const Promoted& operand : operands) {
    PrimitiveType& type = by_rank[static_cast<size_t>(operand.rank)];
    type = type == hlo::kInvalid ? operand.type : PromoteTypes(type, operand.type);
  }
  return HigherType(HigherType(by_rank[0], by_rank[1]), by_rank[2]);
}

PrimitiveType NumberType(const Scalar& value) {
  if (value.is_bool()) return hlo::kPred;
  if (value.is_integer()) return hlo::kS64;
  return value.is_float() ? hlo::kF32 : hlo::kC64;
}

bool CanCast(PrimitiveType from, PrimitiveType to) {
  if (hlo::IsComplex(from) && !hlo::IsComplex(to)) return false;
  if (IsFloating(from) && (hlo::IsInteger(to) || to == hlo::kPred)) return false;
  return from == hlo::kPred || to != hlo::kPred;
}

}  // namespace hlod::lazy
