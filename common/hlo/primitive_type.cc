// The table of primitive types, with searches by enumerator, wire number and name.
#include "common/hlo/primitive_type.h"

#include <array>

namespace hlod::hlo {
namespace {

constexpr int kNumbers = 37;

constexpr std::array<TypeInfo, kNumbers> MakeTable() {
  std::array<TypeInfo, kNumbers> table{};
  table.fill({"invalid", 0, 0, TypeClass::kOther});
#define HLOD_TYPE(id, number, text, bits, type_class, storage) \
  table[number] = {text, bits, (bits + 7) / 8, TypeClass::type_class};
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE
  return table;
}
constexpr std::array<TypeInfo, kNumbers> kTypeTable = MakeTable();

}  // namespace

const TypeInfo& Info(PrimitiveType type) {
  const auto number = static_cast<size_t>(type);
  return kTypeTable[number < kTypeTable.size() ? number : 0];
}

std::optional<PrimitiveType> ParsePrimitiveType(std::string_view name) {
  for (int number = 1; number < kNumbers; ++number) {
    if (kTypeTable[number].name == name) return static_cast<PrimitiveType>(number);
  }
  return std::nullopt;
}

std::optional<PrimitiveType> PrimitiveTypeFromNumber(int number) {
  if (number <= 0 || number >= kNumbers || kTypeTable[number].name == "invalid") return std::nullopt;
  return static_cast<PrimitiveType>(number);
}

PrimitiveType RealType(PrimitiveType type) { return type == kC64 ? kF32 : type == kC128 ? kF64 : type; }
PrimitiveType ComplexType(PrimitiveType type) { return type == kF32 ? kC64 : type == kF64 ? kC128 : type; }

}  // namespace hlod::hlo
