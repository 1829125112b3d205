// The innermost part of the engine's own matrix products: tiles of the result that stay in registers.
//
// A panel is a strip of an operand, copied so that a kernel reads it from beginning to end: of lhs the rows
// of one tile, element by element of the depth; of rhs kernels.columns columns. Copying also converts narrow
// floats, so that every kernel multiplies f32 or f64.
#pragma once

#include <cstdint>

#include "common/hlo/primitive_type.h"

namespace hlod::engine {

// The operands and the result of a tile. Strides count elements.
template <typename T>
struct PanelTile {
  const T* lhs;
  int64_t lhs_row, lhs_depth;  // Not used for a panel, in which the rows of one depth are neighbours.
  const T* rhs;
  int64_t rhs_depth;
  int64_t depth;
  T* out;
  int64_t out_row;
  int columns;  // The columns to be written.
  bool adds;    // Adds to the output's contents instead of overwriting them.
};

template <typename T>
struct PanelKernels {
  // The largest tile: its rows, the elements of a vector, and its columns.
  static constexpr int kRowsMax = 14, kVectorsMax = 2;
  int rows, lanes;
  int columns() const { return kVectorsMax * lanes; }

  using Tile = void (*)(const PanelTile<T>& tile);
  // By rows - 1 and vectors of columns - 1. `packed` reads panels of both operands, whose columns are full;
  // `strided` reads both where they are, the columns of rhs being neighbours.
  Tile packed[kRowsMax][kVectorsMax];
  Tile strided[kRowsMax][kVectorsMax];
};

// Returns the best kernels for this processor. T is float or double.
template <typename T>
const PanelKernels<T>& GetPanelKernels();

}  // namespace hlod::engine
