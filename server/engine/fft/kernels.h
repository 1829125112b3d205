// Operations on tiles, compiled for several instruction sets.
//
// A tile is kLanes lines side by side: for each element first the real parts of all lines, then their
// imaginary parts. All transforms are forward ones. An inverse transform is a forward one of the values with
// real and imaginary parts exchanged, exchanged back afterwards; loading and storing do the exchanges.
#pragma once

#include <cstdint>

#include "server/engine/fft/tables.h"

namespace hlod::engine::fft {

// The location of a tile's lines in memory, as pairs of numbers. Strides count pairs.
template <typename T>
struct TileMemory {
  T* data;
  int64_t element_stride, lane_stride;
  bool exchanged = false;  // True when real and imaginary parts are exchanged.
};

template <typename T>
struct Kernels {
  // Move `lanes` lines of n elements between memory and a tile. Loading sets the other lanes to zero.
  void (*load)(const TileMemory<T>& from, int64_t n, int lanes, T* tile);
  void (*store)(const T* tile, int64_t n, int lanes, T scale, const TileMemory<T>& to);
  // Runs the plan's passes from `a`, with `b` as a second buffer. Returns the buffer that holds the result.
  T* (*passes)(const LinePlan<T>& plan, T* a, T* b);
  // Multiplies each element by its factor; real and imaginary parts are exchanged before or after the
  // multiplication.
  void (*scale)(T* tile, const Complex<T>* factors, int64_t n, bool exchange_before, bool exchange_after);
  // Multiplies element k of lane l's line by root k (first + l) of `roots`. steps[k][l] is root k l: real
  // parts of all lanes, then imaginary parts.
  void (*twiddle)(T* tile, int64_t n, int64_t first, const Roots<T>& roots, const T* steps);
};

// Returns the best kernels for this processor.
template <typename T>
const Kernels<T>& GetKernels();

// Transforms a tile of loaded lines, in `a` with `b` as a second buffer, each tile_length long. Returns the
// buffer that holds the result.
template <typename T>
T* TransformTile(const LinePlan<T>& plan, T* a, T* b);

}  // namespace hlod::engine::fft
