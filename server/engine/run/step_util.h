// Helpers that the step factories share: sizes of verified shapes, integers of any width read from memory,
// the text for Plan::Dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/types/span.h"
#include "common/base/arithmetic.h"
#include "common/base/system/cpu.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Return the elements, and the dense bytes, of an array shape that passed the verifier (so that neither
// overflows).
inline int64_t Elements(const hlo::Shape& shape) { return hlo::ElementCount(shape).value_or(0); }
inline int64_t Bytes(const hlo::Shape& shape) { return hlo::ByteSize(shape).value_or(0); }
inline int Width(const hlo::Shape& shape) { return hlo::ByteWidth(shape.type); }

// Returns the product of sizes.
inline int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

// Returns true when the result and all operands have static shapes; steps support no others.
bool AllStatic(hlo::Instruction instruction);

// Returns an element of any integer type as an int64. A u64 above INT64_MAX saturates (it is an index, and
// both are out of range).
int64_t ReadInteger(const std::byte* element, hlo::PrimitiveType type);

// Returns a text such as "gather f32[5,8] <- f32[16,8], s32[5,1]".
std::string DescribeStep(hlo::Instruction instruction);

// Rounds a scratch section up, so that the next one starts on a cache line.
inline int64_t ScratchAlign(int64_t bytes) { return AlignUp(bytes, 64); }

// Calls f.operator()<T>() with a number type of `width` bytes (a pair of numbers for 16), in which an element
// of any type can be moved by one instruction.
struct Bytes16 {
  uint64_t low, high;
};
template <typename F>
HLOD_ALWAYS_INLINE void VisitWidth(int width, F&& f) {
  switch (width) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: return f.template operator()<Bytes16>();
  }
}

// Returns true when `value` occurs in `list`.
inline bool Contains(absl::Span<const int64_t> list, int64_t value) {
  for (int64_t v : list) {
    if (v == value) return true;
  }
  return false;
}

}  // namespace hlod::engine
