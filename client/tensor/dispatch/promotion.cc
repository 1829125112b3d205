// Type promotion: PyTorch's lattice of types, its three ranks of operands, and the types that it refuses.
#include "client/tensor/dispatch/promotion.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/tensor/dispatch/accepted_indices.h"
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

bool IsAmong(uint64_t types, PrimitiveType type) { return (types >> static_cast<int>(type) & 1) != 0; }

// Returns the type of PyTorch's by which `type` is judged.
PrimitiveType Judged(PrimitiveType type) {
  switch (type) {
    case hlo::kPred:
    case hlo::kU8:
    case hlo::kS8:
    case hlo::kS16:
    case hlo::kS64:
    case hlo::kF16:
    case hlo::kBF16:
    case hlo::kF64: return type;
    default: break;
  }
  if (IsFloating(type)) return hlo::kF32;
  return hlo::IsInteger(type) ? hlo::kS32 : type;
}

constexpr PrimitiveType kTypesOfPyTorch[] = {hlo::kPred, hlo::kU8,  hlo::kS8,  hlo::kS16,
                                             hlo::kS32,  hlo::kS64, hlo::kF16, hlo::kBF16,
                                             hlo::kF32,  hlo::kF64, hlo::kC64, hlo::kC128};

std::string TypesText(uint64_t types) {
  std::vector<std::string> names;
  for (const PrimitiveType type : kTypesOfPyTorch) {
    if (IsAmong(types, type)) names.emplace_back(hlo::Name(type));
  }
  return absl::StrJoin(names, ", ");
}

// Returns what the caller can do with a tensor of a refused type.
std::string Advice(uint64_t types, PrimitiveType refused) {
  if (hlo::IsComplex(refused)) return "take its Real(), Imag() or Abs()";
  const char* const what = refused == hlo::kPred ? "the bools" : "it";
  for (const PrimitiveType type : {hlo::kF32, hlo::kS64, hlo::kC64, hlo::kPred}) {
    const bool changes_least = refused != hlo::kPred || type != hlo::kF32 || !IsAmong(types, hlo::kS64);
    if (IsAmong(types, type) && changes_least) {
      return absl::StrFormat("convert %s to %s with To()", what, hlo::Name(type));
    }
  }
  return "convert it with To()";
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

void CheckAccepted(const Operation& operation, PrimitiveType type) {
  const uint64_t types = operation.accepted.types;
  if (IsAmong(types, type) || IsAmong(types, Judged(type))) return;
  Refuse("%s takes %s, not %s: %s", operation.pytorch, TypesText(types), hlo::Name(type),
         Advice(types, type));
}

void CheckIndexType(std::string_view pytorch, size_t operand, PrimitiveType type, bool empty) {
  if (type == hlo::kS64 || !(type == hlo::kPred || hlo::IsInteger(type))) return;
  const AcceptedIndices* const row = AcceptedIndicesOf(pytorch);
  const auto at = static_cast<int>(operand);
  if (row == nullptr || at < row->first || (row->last >= 0 && at > row->last)) return;
  if (IsAmong(row->types, type) || IsAmong(row->types, Judged(type)) || (empty && row->empty_of_any)) return;
  Refuse("%s takes indices of %s, not of %s: convert these to s64 with To()%s", pytorch,
         TypesText(row->types), hlo::Name(type),
         IsAmong(row->types, hlo::kPred) ? ", or a mask to pred" : "");
}

void CheckOneType(const Operation& operation, absl::Span<const PrimitiveType> tensors) {
  if (!operation.accepted.one_type) return;
  for (const PrimitiveType type : tensors) {
    if (type == tensors[0]) continue;
    Refuse("%s takes tensors of one type, not %s and %s: convert one with To()", operation.pytorch,
           hlo::Name(tensors[0]), hlo::Name(type));
  }
}

}  // namespace hlod::lazy
