// Copies of parts of matrices into panels, in which a kernel of the engine's matrix products reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/hlo/primitive_type.h"
#include "server/engine/run/compute_types.h"

namespace hlod::engine {

// The part of an operand to be copied: `lanes` rows of lhs, or columns of rhs, and `depth` elements of each.
// Strides count elements.
struct PanelSource {
  const std::byte* data;
  int64_t lane_stride, depth_stride;
  int64_t lanes, depth;
};

// Copies and converts to panel[depth][width]. Lanes from source.lanes to `width` become zeros.
using PackPanel = void (*)(const PanelSource& source, int64_t width, std::byte* panel);

// Multiplies rows, whose elements are neighbours, by a vector of the same type. Writes source.lanes sums.
using MultiplyByVector = void (*)(const PanelSource& rows, const std::byte* vector, std::byte* sums);

// Multiplies a row, whose elements are `row_stride` apart, by a matrix of the same type, whose lanes are
// neighbours. Writes matrix.lanes sums.
using MultiplyByMatrix = void (*)(const std::byte* row, int64_t row_stride, const PanelSource& matrix,
                                  std::byte* sums);

// The functions of one instruction set: copies of f32, bf16 and f16 to f32, and of f64; the conversion of
// sums to f16; and products with vectors of the four types.
struct PanelPacks {
  PackPanel f32, bf16, f16, f64;
  ConvertFunction to_f16;
  MultiplyByVector rows_f32, rows_bf16, rows_f16, rows_f64;
  MultiplyByMatrix matrix_f32, matrix_bf16, matrix_f16, matrix_f64;
};

// Returns this processor's copy from elements of type `from` to f32 or f64; null if there is none. f32 may
// come from f32, bf16 and f16, f64 from f64 only.
PackPanel FindPackPanel(hlo::PrimitiveType from, hlo::PrimitiveType to);

// Return this processor's products with vectors of type `from`; null if there is none.
MultiplyByVector FindMultiplyByVector(hlo::PrimitiveType from);
MultiplyByMatrix FindMultiplyByMatrix(hlo::PrimitiveType from);

// Returns this processor's conversion of sums to a result's type, as FindConversion does.
std::optional<ConvertFunction> FindSumConversion(hlo::PrimitiveType sums, hlo::PrimitiveType result);

}  // namespace hlod::engine
