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

// The copies of one instruction set: f32, bf16 and f16 to f32, and f64; and the conversion of sums to f16.
struct PanelPacks {
  PackPanel f32, bf16, f16, f64;
  ConvertFunction to_f16;
};

// Returns this processor's copy from elements of type `from` to f32 or f64; null if there is none. f32 may
// come from f32, bf16 and f16, f64 from f64 only.
PackPanel FindPackPanel(hlo::PrimitiveType from, hlo::PrimitiveType to);

// Returns this processor's conversion of sums to a result's type, as FindConversion does.
std::optional<ConvertFunction> FindSumConversion(hlo::PrimitiveType sums, hlo::PrimitiveType result);

}  // namespace hlod::engine
