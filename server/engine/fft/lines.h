// Transforms all lines of an array along one dimension, of any length.
//
// A short line is transformed in a tile together with others. A long line, of n = n1 n2 elements, is
// transformed as the n2 columns, of n1 elements, of a matrix, which lie side by side, and then as its n1
// rows, of n2. A line whose length has no such factors becomes a convolution of a length that has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/fft/kernels.h"
#include "server/engine/run/step.h"

namespace hlod::engine::fft {

// Complex lines. Element e of line i of block o is the pair of numbers at o block_stride + e element_stride +
// i.
template <typename T>
struct Lines {
  T* data;
  int64_t element_stride, block_stride;
};

// The tiles of each thread, in the scratch memory.
template <typename T>
struct TileRoom {
  std::byte* scratch;
  int64_t tile_bytes;
  int threads;
  T* tile(int worker, int which) const {
    return reinterpret_cast<T*>(scratch + (2 * worker + which) * tile_bytes);
  }
};

// The transform of one long line, as a matrix.
template <typename T>
class MatrixTransform {
 public:
  // Returns null when `length` has no two factors that fit tiles.
  static std::unique_ptr<MatrixTransform> Make(int64_t length);

  // The length of the longest line of a tile.
  int64_t tile_length() const { return std::max(first_.tile_length, second_.tile_length); }
  // Transform `from` to `to`, which may be the same line; `middle` has room for it. Lane strides are ignored.
  // Run uses the team, RunAlone only the calling thread.
  absl::Status Run(const TileMemory<T>& from, const TileMemory<T>& to, T scale, T* middle,
                   const TileRoom<T>& room, const StepContext& context) const;
  void RunAlone(const TileMemory<T>& from, const TileMemory<T>& to, T scale, T* middle,
                const TileRoom<T>& room, int worker) const;

 private:
  MatrixTransform(int64_t n1, int64_t n2);

  // Transform tiles [begin, end): first the columns, then the rows.
  void Columns(const TileMemory<T>& from, T* middle, const TileRoom<T>& room, int64_t begin, int64_t end,
               int worker) const;
  void Rows(const T* middle, const TileMemory<T>& to, T scale, const TileRoom<T>& room, int64_t begin,
            int64_t end, int worker) const;
  int64_t column_tiles() const;
  int64_t row_tiles() const;

  const LinePlan<T> first_, second_;
  const Roots<T> roots_;
  std::vector<T> steps_;  // The argument of Kernels::twiddle.
};

template <typename T>
class LineTransform {
 public:
  // Makes a transform of `blocks` blocks of `inner` lines. Returns null when the length is too large to be
  // transformed.
  static std::unique_ptr<LineTransform> Make(int64_t length, int64_t inner, int64_t blocks, int threads);

  int64_t scratch_bytes() const { return scratch_bytes_; }
  // `from` and `to` may be the same; otherwise `from` is not changed. Results are multiplied by `scale`.
  absl::Status Run(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale, std::byte* scratch,
                   const StepContext& context) const;

 private:
  LineTransform(int64_t length, int64_t inner, int64_t blocks, int threads)
      : length_(length), inner_(inner), blocks_(blocks), threads_(threads) {}

  absl::Status RunTiles(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale,
                        const TileRoom<T>& room, const StepContext& context) const;
  absl::Status RunMatrices(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale, T* middle,
                           const TileRoom<T>& room, const StepContext& context) const;
  absl::Status RunConvolution(const TileMemory<T>& from, const TileMemory<T>& to, T scale, T* buffers,
                              const TileRoom<T>& room, const StepContext& context) const;
  absl::Status MakeFilter(T* buffers, const TileRoom<T>& room, const StepContext& context) const;

  const int64_t length_, inner_, blocks_;
  const int threads_;
  // The way in which lines are transformed: by `plan_`, by `matrix_`, or as a convolution, which uses
  // `matrix_` too.
  std::optional<LinePlan<T>> plan_;
  std::unique_ptr<MatrixTransform<T>> matrix_;
  bool alone_ = false;       // True when one thread of the team transforms a whole matrix.
  int64_t convolution_ = 0;  // The length of the convolution; 0 if none is used.
  std::optional<Roots<T>> chirp_roots_;
  int64_t tile_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace hlod::engine::fft
