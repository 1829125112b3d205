// What a routine's call takes and gives, as text: "Tmn" is a batch of m x n matrices of the routine's type.
//
// The first letter is the element type: T the routine's, R its real one, C its complex one, I s32. Each
// letter after it is a dimension; a size is what its letter stands for first. k stands for the smaller of m
// and n, h for n - 1 (0 for an n of 0).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/shape.h"

namespace hlod::lapack {

// Of one call.
struct Sizes {
  static constexpr int64_t kUnknown = -1;
  std::array<int64_t, 26> of;
  hlo::Dims batch;

  Sizes() { of.fill(kUnknown); }
  int64_t operator[](char letter) const { return of[letter - 'a']; }
};

hlo::PrimitiveType TypeOf(char letter, hlo::PrimitiveType type);

// Learns the sizes from a shape, or compares it with those that are known. INVALID_ARGUMENT naming `what`,
// its shape and the one that was expected.
absl::Status Match(std::string_view signature, hlo::PrimitiveType type, const hlo::Shape& shape,
                   std::string_view what, Sizes& sizes);

}  // namespace hlod::lapack
