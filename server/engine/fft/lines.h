// Transforms of all lines of an array along one dimension, of any length.
//
// A short line is transformed in a tile with others. A long one, of n = n1 n2 elements, is n2 lines of n1,
// which are the columns of a matrix and lie side by side, and then n1 lines of n2. One whose length has no
// such factors is a convolution of a length that has.
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

// Complex lines: element e of line i of block o is the pair of numbers at o block_stride + e element_stride +
// i.
template <typename T>
struct Lines {
  T* data;
  int64_t element_stride, block_stride;
};

// The tiles of each thread, in scratch.
template <typename T>
struct TileRoom {
  std::byte* scratch;
  int64_t tile_bytes;
  int threads;
  T* tile(int worker, int which) const {
    return reinterpret_cast<T*>(scratch + (2 * worker + which) * tile_bytes);
  }
};

// One long line, as a matrix.
template <typename T>
class MatrixTransform {
 public:
  // Null when `length` has no two factors that fit tiles.
  static std::unique_ptr<MatrixTransform> Make(int64_t length);

  // The longest line of a tile.
  int64_t tile_length() const { return std::max(first_.tile_length, second_.tile_length); }
  // `from` and `to` are the line, and may be the same; `middle` has room for it. Lane strides are not looked
  // at. Over the team, and by one of its threads.
  absl::Status Run(const Place<T>& from, const Place<T>& to, T scale, T* middle, const TileRoom<T>& room,
                   const StepContext& context) const;
  void RunAlone(const Place<T>& from, const Place<T>& to, T scale, T* middle, const TileRoom<T>& room,
                int worker) const;

 private:
  MatrixTransform(int64_t n1, int64_t n2);

  // Tiles [begin, end) of the first transform, of columns, and of the second, of rows.
  void Columns(const Place<T>& from, T* middle, const TileRoom<T>& room, int64_t begin, int64_t end,
               int worker) const;
  void Rows(const T* middle, const Place<T>& to, T scale, const TileRoom<T>& room, int64_t begin, int64_t end,
            int worker) const;
  int64_t column_tiles() const;
  int64_t row_tiles() const;

  const LinePlan<T> first_, second_;
  const Roots<T> roots_;
  std::vector<T> steps_;  // For Kernels::twiddle.
};

template <typename T>
class LineTransform {
 public:
  // For `blocks` blocks of `inner` lines. Null when the length is beyond what can be done.
  static std::unique_ptr<LineTransform> Make(int64_t length, int64_t inner, int64_t blocks, int threads);

  int64_t scratch_bytes() const { return scratch_bytes_; }
  // `from` (which is not written to) and `to` may be the same. Results are multiplied by `scale`.
  absl::Status Run(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale, std::byte* scratch,
                   const StepContext& context) const;

 private:
  LineTransform(int64_t length, int64_t inner, int64_t blocks, int threads)
      : length_(length), inner_(inner), blocks_(blocks), threads_(threads) {}

  absl::Status RunTiles(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale,
                        const TileRoom<T>& room, const StepContext& context) const;
  absl::Status RunMatrices(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale, T* middle,
                           const TileRoom<T>& room, const StepContext& context) const;
  absl::Status RunConvolution(const Place<T>& from, const Place<T>& to, T scale, T* buffers,
                              const TileRoom<T>& room, const StepContext& context) const;
  absl::Status MakeFilter(T* buffers, const TileRoom<T>& room, const StepContext& context) const;

  const int64_t length_, inner_, blocks_;
  const int threads_;
  // One of the three ways; a convolution has the matrix too.
  std::optional<LinePlan<T>> plan_;
  std::unique_ptr<MatrixTransform<T>> matrix_;
  bool alone_ = false;       // Whether a thread of the team does a whole matrix.
  int64_t convolution_ = 0;  // Its length.
  std::optional<Roots<T>> chirp_roots_;
  int64_t tile_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace hlod::engine::fft
