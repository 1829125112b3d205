// The opcode table as an array, and its names as a hash map.
#include "common/hlo/opcode.h"

#include <array>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/base/text/strings.h"
#include "common/hlo/attributes.h"

namespace hlod::hlo {
namespace {

// Returns the position of `T` among the alternatives of Attributes.
template <typename T, size_t I = 0>
constexpr uint8_t IndexOf() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Attributes>>) {
    return I;
  } else {
    return IndexOf<T, I + 1>();
  }
}

constexpr std::array<OpcodeInfo, kOpcodeCount> kOpcodeTable = {{
#define HLOD_OP(id, text, arity, called, attributes, rule, traits) \
  {text, arity, called, IndexOf<attributes>(), traits},
#include "common/hlo/opcodes.inc"
#undef HLOD_OP
}};

}  // namespace

const OpcodeInfo& Info(Opcode opcode) { return kOpcodeTable[static_cast<size_t>(opcode)]; }

std::optional<Opcode> ParseOpcode(std::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>;
    for (int i = 0; i < kOpcodeCount; ++i) map->emplace(ToAbsl(kOpcodeTable[i].name), static_cast<Opcode>(i));
    return map;
  }();
  const auto it = by_name->find(ToAbsl(name));
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

ComparisonType DefaultComparisonType(PrimitiveType operand) {
  if (IsFloat(operand) || IsComplex(operand)) return ComparisonType::kFloat;
  return IsSigned(operand) ? ComparisonType::kSigned : ComparisonType::kUnsigned;
}

}  // namespace hlod::hlo
