// Work on tiles, compiled for several instruction sets.
//
// A tile is kLanes lines side by side: of each element first the lines' real parts, then their imaginary
// parts. The transforms are forward ones; an inverse transform is a forward one of the values with real and
// imaginary parts exchanged, exchanged back, which loading and storing do.
#pragma once

#include <cstdint>

#include "server/engine/fft/tables.h"

namespace hlod::engine::fft {

// Where the lines of a tile lie in memory, as pairs of numbers. Strides count pairs.
template <typename T>
struct Place {
  T* data;
  int64_t element_stride, lane_stride;
  bool exchanged = false;  // Whether real and imaginary parts are.
};

template <typename T>
struct Kernels {
  // `lanes` lines of n elements; the other lanes become zero.
  void (*load)(const Place<T>& from, int64_t n, int lanes, T* tile);
  void (*store)(const T* tile, int64_t n, int lanes, T scale, const Place<T>& to);
  // Runs the plan's passes from `a`, with `b` for room; returns the one that holds the result.
  T* (*passes)(const LinePlan<T>& plan, T* a, T* b);
  // Multiplies each element by its factor, with the parts exchanged before that, or after it.
  void (*scale)(T* tile, const Complex<T>* factors, int64_t n, bool exchange_before, bool exchange_after);
  // Multiplies element k of the line of lane l by root k (first + l) of `roots`, of which steps[k][l] is that
  // of k l: real parts of all lanes, then imaginary parts.
  void (*twiddle)(T* tile, int64_t n, int64_t first, const Roots<T>& roots, const T* steps);
};

// The best for this processor.
template <typename T>
const Kernels<T>& GetKernels();

// Transforms a tile of loaded lines, in `a` with `b` for room, each tile_length long; returns the one that
// holds the result.
template <typename T>
T* TransformTile(const LinePlan<T>& plan, T* a, T* b);

}  // namespace hlod::engine::fft
