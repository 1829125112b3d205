// Sums of a signal's elements times a filter's, for a filter of one feature: places side by side in vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/engine/run/cpu_dispatch.h"

namespace hlod::engine {

// A position of the filter: its weight, and the places at which it meets an element of the signal, at place p
// the element p + x.
template <typename T>
struct FilterTap {
  T weight;
  int64_t x, begin, end;
};

// Adds up taps at the places [begin, end) of a line.
template <typename T>
struct FilterKernel {
  // The sums of places that stay in registers.
  static constexpr int64_t kColumns = 64 / sizeof(T), kRows = 4, kPlaces = kRows * kColumns;

  static HLOD_ALWAYS_INLINE void Run(const FilterTap<T>* taps, int64_t count, const T* signal, int64_t begin,
                                     int64_t end, T* line) {
    for (int64_t p = begin; p < end; p += kPlaces) {
      const int64_t next = std::min(end, p + kPlaces);
      const bool whole = next - p == kPlaces;
      if (whole) AddWhole(taps, count, signal, p, line);
      for (int64_t t = 0; t < count; ++t) {
        if (whole && taps[t].begin <= p && next <= taps[t].end) continue;
        const T weight = taps[t].weight;
        const T* const x = signal + taps[t].x;
        const int64_t first = std::max(p, taps[t].begin), last = std::min(next, taps[t].end);
#pragma omp simd
        for (int64_t i = first; i < last; ++i) line[i] += weight * x[i];
      }
    }
  }

 private:
  // Adds the taps that meet an element at each of the places.
  static HLOD_ALWAYS_INLINE void AddWhole(const FilterTap<T>* taps, int64_t count, const T* signal, int64_t p,
                                          T* line) {
    T sum[kRows][kColumns] = {};
    for (int64_t t = 0; t < count; ++t) {
      if (taps[t].begin > p || p + kPlaces > taps[t].end) continue;
      const T weight = taps[t].weight;
      const T* const x = signal + taps[t].x + p;
#pragma GCC unroll 4  // The sums then stay in registers.
      for (int64_t r = 0; r < kRows; ++r) {
#pragma omp simd
        for (int64_t c = 0; c < kColumns; ++c) sum[r][c] += weight * x[r * kColumns + c];
      }
    }
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < kColumns; ++c) line[p + r * kColumns + c] += sum[r][c];
    }
  }
};

}  // namespace hlod::engine
