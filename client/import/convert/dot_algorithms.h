// The algorithms of dots: PrecisionConfig's numbers, and the types that StableHLO states for each.
#pragma once

#include <cstdint>

#include "common/hlo/primitive_type.h"

namespace hlod::stablehlo {

// A row of PrecisionConfig's algorithms: the types of operands and accumulation, the number of products per
// multiplication, and PrecisionConfig's number. `operands` is kInvalid for any f8.
struct DotAlgorithm {
  hlo::PrimitiveType operands, accumulation;
  int64_t products;
  bool imprecise;
  uint8_t number;
};
inline constexpr DotAlgorithm kDotAlgorithms[] = {
    {hlo::kInvalid, hlo::kF32, 1, false, 1}, {hlo::kInvalid, hlo::kF32, 1, true, 2},
    {hlo::kF16, hlo::kF16, 1, false, 3},     {hlo::kF16, hlo::kF32, 1, false, 4},
    {hlo::kBF16, hlo::kBF16, 1, false, 5},   {hlo::kBF16, hlo::kF32, 1, false, 6},
    {hlo::kBF16, hlo::kF32, 3, false, 7},    {hlo::kBF16, hlo::kF32, 6, false, 8},
    {hlo::kF32, hlo::kF32, 1, false, 11},    {hlo::kF64, hlo::kF64, 1, false, 12},
    {hlo::kBF16, hlo::kF32, 9, false, 13},
};
// TF32 is a word, not an element type.
inline constexpr uint8_t kTf32 = 9, kTf32Times3 = 10;

}  // namespace hlod::stablehlo
