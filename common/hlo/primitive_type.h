// Element types by XLA's names and wire numbers, and the dispatch from a run-time type to its C++ storage
// type.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/hlo/elements/small_types.h"

namespace hlod::hlo {

enum class PrimitiveType : uint8_t {
  kInvalid = 0,
#define HLOD_TYPE(id, number, text, bits, type_class, storage) id = number,
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE
};
using enum PrimitiveType;

enum class TypeClass : uint8_t { kPred, kSigned, kUnsigned, kFloat, kComplex, kOther };

// The row of primitive_types.inc; {"invalid", 0, 0, kOther} for kInvalid and unknown numbers.
struct TypeInfo {
  std::string_view name;  // The name in HLO text.
  int bits;               // The width of a value; 0 for tuple, token, opaque, buffer.
  int bytes;              // The width in memory, in literals and buffers: sub-byte types take one byte.
  TypeClass type_class;
};
const TypeInfo& Info(PrimitiveType type);

inline std::string_view Name(PrimitiveType type) { return Info(type).name; }
inline int ByteWidth(PrimitiveType type) { return Info(type).bytes; }
inline bool IsArrayType(PrimitiveType type) { return Info(type).bytes > 0; }
inline bool IsFloat(PrimitiveType type) { return Info(type).type_class == TypeClass::kFloat; }
inline bool IsComplex(PrimitiveType type) { return Info(type).type_class == TypeClass::kComplex; }
inline bool IsSigned(PrimitiveType type) { return Info(type).type_class == TypeClass::kSigned; }
inline bool IsUnsigned(PrimitiveType type) { return Info(type).type_class == TypeClass::kUnsigned; }
// Returns true for signed and unsigned integers; pred is not an integer.
inline bool IsInteger(PrimitiveType type) { return IsSigned(type) || IsUnsigned(type); }

// Returns the type spelled `name` in HLO text ("bf16"), or nullopt.
std::optional<PrimitiveType> ParsePrimitiveType(std::string_view name);
// Returns the type with XLA's wire number, or nullopt (0 and numbers that this build does not know).
std::optional<PrimitiveType> PrimitiveTypeFromNumber(int number);
// Returns f32 for c64 and f64 for c128; other types unchanged.
PrimitiveType RealType(PrimitiveType type);
// Returns c64 for f32 and c128 for f64; other types unchanged.
PrimitiveType ComplexType(PrimitiveType type);

// Returns the PrimitiveType of a C++ storage type: kPrimitiveTypeOf<float> is kF32; kInvalid for a type that
// stores no element.
template <typename T>
consteval PrimitiveType PrimitiveTypeFor() {
#define HLOD_TYPE(id, number, text, bits, type_class, storage) \
  if (std::is_same_v<T, storage>) return PrimitiveType::id;
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE
  return PrimitiveType::kInvalid;
}
template <typename T>
inline constexpr PrimitiveType kPrimitiveTypeOf = PrimitiveTypeFor<T>();

// Calls f.template operator()<T>() with the storage type of `type`. Returns false when `type` has none
// (tuple, token, ...).
//   VisitType(shape.type(), [&]<typename T>() { Fill<T>(...); });
template <typename F>
bool VisitType(PrimitiveType type, F&& f) {
  switch (type) {
#define HLOD_TYPE(id, number, text, bits, type_class, storage) \
  case PrimitiveType::id:                                      \
    if constexpr (!std::is_void_v<storage>) {                  \
      f.template operator()<storage>();                        \
      return true;                                             \
    }                                                          \
    return false;
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE
    default: return false;
  }
}

}  // namespace hlod::hlo
