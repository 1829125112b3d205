// Opcodes and their properties, which are rows of a table (opcodes.inc).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlod::hlo {

enum class Opcode : uint8_t {
#define HLOD_OP(id, text, arity, called, attributes, rule, traits) id,
#include "common/hlo/opcodes.inc"
#undef HLOD_OP
};
using enum Opcode;

#define HLOD_OP(id, text, arity, called, attributes, rule, traits) +1
inline constexpr int kOpcodeCount = 0
#include "common/hlo/opcodes.inc"
    ;
#undef HLOD_OP
static_assert(kOpcodeCount < 256, "Opcode is a uint8_t.");

enum OpcodeTraits : uint8_t {
  kElementwise = 1,
  kCollective = 2,
  kSideEffect = 4,
  kDataMovement = 8,
  kOptimizedOnly = 16,
  kValueDependent = 32,
  kStateful = 64,
};

struct OpcodeInfo {
  std::string_view name;  // "dynamic-update-slice"
  int arity;              // The number of operands; -1 when it varies.
  int called;             // The number of called computations; -1 when it varies.
  uint8_t attributes;     // The index of the alternative of hlo::Attributes.
  uint8_t traits;         // OpcodeTraits.
};
const OpcodeInfo& Info(Opcode opcode);

inline std::string_view Name(Opcode opcode) { return Info(opcode).name; }
inline bool HasTrait(Opcode opcode, OpcodeTraits trait) { return (Info(opcode).traits & trait) != 0; }

// Returns the opcode with this HLO spelling, or nullopt. The codec handles legacy spellings of comparisons.
std::optional<Opcode> ParseOpcode(std::string_view name);

}  // namespace hlod::hlo
