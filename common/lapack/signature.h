// The operands and results of a routine's call, as text: "Tmn" is a batch of m x n matrices of the routine's
// type.
//
// The first letter is the element type: T is the routine's, R its real type, C its complex type, I is s32.
// Each following letter is a dimension, whose size is that of the letter's first occurrence. k is the smaller
// of m and n, h is n - 1 (0 when n is 0).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/shape.h"

namespace hlod::lapack {

// The sizes of one call.
struct Sizes {
  static constexpr int64_t kUnknown = -1;
  std::array<int64_t, 26> of;
  hlo::Dims batch;

  Sizes() { of.fill(kUnknown); }
  int64_t operator[](char letter) const { return of[letter - 'a']; }
};

hlo::PrimitiveType TypeOf(char letter, hlo::PrimitiveType type);

// Sets the sizes from a shape, or compares it with sizes that are known. INVALID_ARGUMENT if they differ,
// with `what`, its shape and the expected one.
absl::Status Match(std::string_view signature, hlo::PrimitiveType type, const hlo::Shape& shape,
                   std::string_view what, Sizes& sizes);

}  // namespace hlod::lapack
