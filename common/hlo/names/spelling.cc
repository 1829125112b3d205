// The tables of names.
#include <array>

#include "common/hlo/names/spelling.h"

namespace hlod::hlo {
namespace {

struct OldSpelling {
  std::string_view name;
  OpcodeSpelling meaning;
};
// Spellings of old writers; XLA's reader upgrades them in the same way.
constexpr std::array kOldSpellings = {
    OldSpelling{"equal-to", {kCompare, "EQ"}},
    OldSpelling{"not-equal-to", {kCompare, "NE"}},
    OldSpelling{"greater-than", {kCompare, "GT"}},
    OldSpelling{"greater-than-or-equal-to", {kCompare, "GE"}},
    OldSpelling{"less-than", {kCompare, "LT"}},
    OldSpelling{"less-than-or-equal-to", {kCompare, "LE"}},
    OldSpelling{"cross-replica-sum", {kAllReduce, ""}},
    OldSpelling{"generate-token", {kAfterAll, ""}},
};

// In the order of the enumerators.
constexpr std::array<std::string_view, 6> kDirections = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::array<std::string_view, 4> kTypes = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};

template <typename Enum, size_t N>
std::optional<Enum> Find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<OpcodeSpelling> ParseOpcodeSpelling(std::string_view name) {
  if (const std::optional<Opcode> opcode = ParseOpcode(name)) return OpcodeSpelling{*opcode, ""};
  for (const OldSpelling& old : kOldSpellings) {
    if (old.name == name) return old.meaning;
  }
  return std::nullopt;
}

std::string_view DirectionName(ComparisonDirection direction) {
  return kDirections[static_cast<size_t>(direction)];
}
std::string_view ComparisonTypeName(ComparisonType type) { return kTypes[static_cast<size_t>(type)]; }
std::optional<ComparisonDirection> ParseDirection(std::string_view name) {
  return Find<ComparisonDirection>(kDirections, name);
}
std::optional<ComparisonType> ParseComparisonType(std::string_view name) {
  return Find<ComparisonType>(kTypes, name);
}

}  // namespace hlod::hlo
