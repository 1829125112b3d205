// Implements the three ways to transform lines, each over the team.
#include "server/engine/fft/lines.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine::fft {
namespace {

// Limits on the length of a tile's lines. Up to the first limit the tile fits in the L1 cache. Up to the
// second, rows that fill tiles are faster in them than as matrices (measured: 1,024 rows of 1,024 take 12 ms
// instead of 37), and their tiles fit in the L2 cache; up to the third, columns. The last limit is used if no
// other way is possible.
constexpr int64_t kTileLength = 256, kRowLength = 2048, kColumnLength = 8192, kTileLengthMax = 32768;
// The work, in nanoseconds, that a thread of the team does without checking for cancellation.
constexpr int64_t kAloneWork = 1'000'000;

// Returns an estimate of the time for the lines in nanoseconds: three per ten elements and passes.
int64_t WorkOfLines(int64_t length, int64_t lines) {
  const int64_t passes = std::bit_width(static_cast<uint64_t>(length)) + 4;
  return WorkOf(WorkOf(length, lines), passes) / 3 + 1;
}

template <typename T>
int64_t TileBytes(int64_t tile_length) {
  return ScratchAlign(tile_length * 2 * kLanes<T> * static_cast<int64_t>(sizeof(T)));
}

// Returns the largest divisor that is at most the square root.
int64_t MiddleDivisor(int64_t n) {
  int64_t divisor = 1;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d == 0) divisor = d;
  }
  return divisor;
}

template <typename T>
Complex<T> Read(const TileMemory<T>& place, int64_t element) {
  const T* const x = place.data + 2 * element * place.element_stride;
  return place.exchanged ? Complex<T>{x[1], x[0]} : Complex<T>{x[0], x[1]};
}
template <typename T>
void Write(const TileMemory<T>& place, int64_t element, Complex<T> value) {
  T* const x = place.data + 2 * element * place.element_stride;
  if (place.exchanged) std::swap(value.re, value.im);
  x[0] = value.re, x[1] = value.im;
}

}  // namespace

template <typename T>
std::unique_ptr<MatrixTransform<T>> MatrixTransform<T>::Make(int64_t length) {
  const int64_t n1 = MiddleDivisor(length), n2 = length / n1;
  // With fewer columns than a vector has lanes, most of each tile would be empty.
  if (n1 < kLanes<T> || TileLength(n2) > kTileLengthMax || TileLength(n1) > kTileLengthMax) return nullptr;
  return std::unique_ptr<MatrixTransform>(new MatrixTransform(n1, n2));
}

template <typename T>
MatrixTransform<T>::MatrixTransform(int64_t n1, int64_t n2)
    : first_(MakeLinePlan<T>(n1)), second_(MakeLinePlan<T>(n2)), roots_(n1 * n2) {
  steps_.resize(n1 * 2 * kLanes<T>);
  for (int64_t k = 0; k < n1; ++k) {
    for (int64_t l = 0; l < kLanes<T>; ++l) {
      const Complex<T> root = RootOfUnity<T>(k * l, n1 * n2);
      steps_[2 * k * kLanes<T> + l] = root.re;
      steps_[(2 * k + 1) * kLanes<T> + l] = root.im;
    }
  }
}

template <typename T>
int64_t MatrixTransform<T>::column_tiles() const {
  return CeilDiv(second_.length, kLanes<T>);
}
template <typename T>
int64_t MatrixTransform<T>::row_tiles() const {
  return CeilDiv(first_.length, kLanes<T>);
}

// Element j1 n2 + j2 of the line is element j1 of column j2.
template <typename T>
void MatrixTransform<T>::Columns(const TileMemory<T>& from, T* middle, const TileRoom<T>& room, int64_t begin,
                                 int64_t end, int worker) const {
  const Kernels<T>& kernels = GetKernels<T>();
  const int64_t n1 = first_.length, n2 = second_.length;
  for (int64_t j2 = begin * kLanes<T>; j2 < std::min(n2, end * kLanes<T>); j2 += kLanes<T>) {
    const int lanes = static_cast<int>(std::min<int64_t>(kLanes<T>, n2 - j2));
    T* const tile = room.tile(worker, 0);
    kernels.load({from.data + 2 * j2 * from.element_stride, n2 * from.element_stride, from.element_stride,
                  from.exchanged},
                 n1, lanes, tile);
    T* const result = TransformTile(first_, tile, room.tile(worker, 1));
    kernels.twiddle(result, n1, j2, roots_, steps_.data());
    kernels.store(result, n1, lanes, T(1), {middle + 2 * j2, n2, 1});
  }
}

// Element k1 + n1 k2 of the result is element k2 of row k1.
template <typename T>
void MatrixTransform<T>::Rows(const T* middle, const TileMemory<T>& to, T scale, const TileRoom<T>& room,
                              int64_t begin, int64_t end, int worker) const {
  const Kernels<T>& kernels = GetKernels<T>();
  const int64_t n1 = first_.length, n2 = second_.length;
  for (int64_t k1 = begin * kLanes<T>; k1 < std::min(n1, end * kLanes<T>); k1 += kLanes<T>) {
    const int lanes = static_cast<int>(std::min<int64_t>(kLanes<T>, n1 - k1));
    T* const tile = room.tile(worker, 0);
    kernels.load({const_cast<T*>(middle) + 2 * k1 * n2, 1, n2}, n2, lanes, tile);
    const T* const result = TransformTile(second_, tile, room.tile(worker, 1));
    kernels.store(
        result, n2, lanes, scale,
        {to.data + 2 * k1 * to.element_stride, n1 * to.element_stride, to.element_stride, to.exchanged});
  }
}

template <typename T>
absl::Status MatrixTransform<T>::Run(const TileMemory<T>& from, const TileMemory<T>& to, T scale, T* middle,
                                     const TileRoom<T>& room, const StepContext& context) const {
  RETURN_IF_ERROR(ParallelPieces(
      context, room.threads, column_tiles(), WorkOfLines(first_.tile_length, second_.length),
      [&](int64_t begin, int64_t end, int worker) { Columns(from, middle, room, begin, end, worker); }));
  return ParallelPieces(
      context, room.threads, row_tiles(), WorkOfLines(second_.tile_length, first_.length),
      [&](int64_t begin, int64_t end, int worker) { Rows(middle, to, scale, room, begin, end, worker); });
}

template <typename T>
void MatrixTransform<T>::RunAlone(const TileMemory<T>& from, const TileMemory<T>& to, T scale, T* middle,
                                  const TileRoom<T>& room, int worker) const {
  Columns(from, middle, room, 0, column_tiles(), worker);
  Rows(middle, to, scale, room, 0, row_tiles(), worker);
}

template <typename T>
std::unique_ptr<LineTransform<T>> LineTransform<T>::Make(int64_t length, int64_t inner, int64_t blocks,
                                                         int threads) {
  std::unique_ptr<LineTransform> made(new LineTransform(length, inner, blocks, std::max(1, threads)));
  const int64_t neighbours = inner > 1 ? inner : blocks, tile_length = TileLength(length);
  const bool fills_tiles = 2 * neighbours >= kLanes<T>;
  int64_t longest = tile_length, pairs = 0;  // The longest line of a tile, and the pairs of other scratch.
  if (tile_length <= kTileLength ||
      (fills_tiles && tile_length <= (inner > 1 ? kColumnLength : kRowLength))) {
    made->plan_.emplace(MakeLinePlan<T>(length));
  } else if ((made->matrix_ = MatrixTransform<T>::Make(length)) != nullptr) {
    longest = made->matrix_->tile_length();
    made->alone_ = WorkOfLines(length, 1) <= kAloneWork;
    pairs = made->alone_ ? length * made->threads_ : length;
  } else if (tile_length <= kTileLengthMax && fills_tiles) {
    made->plan_.emplace(MakeLinePlan<T>(length));
  } else {
    made->convolution_ = GoodLength(2 * length - 1);
    made->matrix_ = MatrixTransform<T>::Make(made->convolution_);
    if (made->matrix_ == nullptr) return nullptr;
    made->chirp_roots_.emplace(2 * length);
    longest = made->matrix_->tile_length();
    pairs = 3 * made->convolution_;
  }
  made->tile_bytes_ = TileBytes<T>(longest);
  made->scratch_bytes_ =
      2 * made->threads_ * made->tile_bytes_ + ScratchAlign(2 * pairs * static_cast<int64_t>(sizeof(T)));
  return made;
}

template <typename T>
absl::Status LineTransform<T>::Run(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale,
                                   std::byte* scratch, const StepContext& context) const {
  const TileRoom<T> room{scratch, tile_bytes_, std::min(threads_, context.threads)};
  if (plan_.has_value()) return RunTiles(from, to, inverse, scale, room, context);
  T* const buffers = reinterpret_cast<T*>(scratch + 2 * threads_ * tile_bytes_);
  if (convolution_ == 0) return RunMatrices(from, to, inverse, scale, buffers, room, context);
  RETURN_IF_ERROR(MakeFilter(buffers, room, context));
  for (int64_t o = 0; o < blocks_; ++o) {
    for (int64_t i = 0; i < inner_; ++i) {
      // The parts of one line may all be too small for a check of their own.
      RETURN_IF_ERROR(StopCheck::Verdict(context.run));
      const TileMemory<T> source{from.data + 2 * (o * from.block_stride + i), from.element_stride, 0,
                                 inverse};
      const TileMemory<T> target{to.data + 2 * (o * to.block_stride + i), to.element_stride, 0, inverse};
      RETURN_IF_ERROR(RunConvolution(source, target, scale, buffers, room, context));
    }
  }
  return absl::OkStatus();
}

// Several short lines are distributed over the team; a long line uses the whole team.
template <typename T>
absl::Status LineTransform<T>::RunMatrices(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale,
                                           T* middle, const TileRoom<T>& room,
                                           const StepContext& context) const {
  const auto line = [&](const Lines<T>& lines, int64_t i) -> TileMemory<T> {
    return {lines.data + 2 * (i / inner_ * lines.block_stride + i % inner_), lines.element_stride, 0,
            inverse};
  };
  const int64_t lines = blocks_ * inner_;
  if (alone_ && lines > 1) {
    return ParallelPieces(context, room.threads, lines, WorkOfLines(length_, lines),
                          [&](int64_t begin, int64_t end, int worker) {
                            for (int64_t i = begin; i < end; ++i) {
                              matrix_->RunAlone(line(from, i), line(to, i), scale,
                                                middle + 2 * worker * length_, room, worker);
                            }
                          });
  }
  for (int64_t i = 0; i < lines; ++i) {
    RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    RETURN_IF_ERROR(matrix_->Run(line(from, i), line(to, i), scale, middle, room, context));
  }
  return absl::OkStatus();
}

// The lines in a tile are those of a block or, if a block is one line, those of several blocks.
template <typename T>
absl::Status LineTransform<T>::RunTiles(const Lines<T>& from, const Lines<T>& to, bool inverse, T scale,
                                        const TileRoom<T>& room, const StepContext& context) const {
  const Kernels<T>& kernels = GetKernels<T>();
  const bool across = inner_ == 1;
  const int64_t lines = across ? blocks_ : inner_, tiles_each = CeilDiv(lines, kLanes<T>);
  const auto place = [&](const Lines<T>& field, int64_t block, int64_t line) -> TileMemory<T> {
    const int64_t lane_stride = across ? field.block_stride : 1;
    return {field.data + 2 * (block * field.block_stride + line * lane_stride), field.element_stride,
            lane_stride, inverse};
  };
  const int64_t tiles = tiles_each * (across ? 1 : blocks_);
  return ParallelPieces(context, room.threads, tiles,
                        WorkOfLines(plan_->tile_length, WorkOf(tiles, kLanes<T>)),
                        [&](int64_t begin, int64_t end, int worker) {
                          for (int64_t t = begin; t < end; ++t) {
                            const int64_t block = t / tiles_each, line = t % tiles_each * kLanes<T>;
                            const int lanes = static_cast<int>(std::min<int64_t>(kLanes<T>, lines - line));
                            T* const tile = room.tile(worker, 0);
                            kernels.load(place(from, block, line), length_, lanes, tile);
                            const T* const result = TransformTile(*plan_, tile, room.tile(worker, 1));
                            kernels.store(result, length_, lanes, scale, place(to, block, line));
                          }
                        });
}

// Writes the transform of the chirp's conjugate to the beginning of the buffers.
template <typename T>
absl::Status LineTransform<T>::MakeFilter(T* buffers, const TileRoom<T>& room,
                                          const StepContext& context) const {
  const int64_t m = convolution_, n = length_;
  const TileMemory<T> filter{buffers, 1, 0};
  RETURN_IF_ERROR(ParallelPieces(context, room.threads, m, 4 * m, [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; ++k) Write(filter, k, {0, 0});
  }));
  // Both ends of the filter, which do not overlap.
  RETURN_IF_ERROR(ParallelPieces(context, room.threads, n, 4 * n, [&](int64_t begin, int64_t end, int) {
    ChirpWalk<T> chirps(*chirp_roots_, n, begin);
    for (int64_t k = begin; k < end; ++k) {
      const Complex<T> chirp = chirps.Next();
      Write(filter, k, {chirp.re, -chirp.im});
      if (k > 0) Write(filter, m - k, {chirp.re, -chirp.im});
    }
  }));
  return matrix_->Run(filter, filter, T(1), buffers + 2 * m, room, context);
}

// Convolves like TransformTile.
template <typename T>
absl::Status LineTransform<T>::RunConvolution(const TileMemory<T>& from, const TileMemory<T>& to, T scale,
                                              T* buffers, const TileRoom<T>& room,
                                              const StepContext& context) const {
  const int64_t m = convolution_, n = length_;
  T* const middle = buffers + 2 * m;
  const TileMemory<T> filter{buffers, 1, 0}, line{buffers + 4 * m, 1, 0},
      exchanged{buffers + 4 * m, 1, 0, true};
  RETURN_IF_ERROR(ParallelPieces(context, room.threads, m, 4 * m, [&](int64_t begin, int64_t end, int) {
    ChirpWalk<T> chirps(*chirp_roots_, n, begin);
    int64_t k = begin;
    for (; k < std::min(n, end); ++k) Write(line, k, Read(from, k) * chirps.Next());
    for (; k < end; ++k) Write(line, k, {0, 0});
  }));
  RETURN_IF_ERROR(matrix_->Run(line, line, T(1), middle, room, context));
  RETURN_IF_ERROR(ParallelPieces(context, room.threads, m, 2 * m, [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; ++k) Write(exchanged, k, Read(line, k) * Read(filter, k));
  }));
  RETURN_IF_ERROR(matrix_->Run(line, exchanged, T(1) / static_cast<T>(m), middle, room, context));
  return ParallelPieces(context, room.threads, n, 4 * n, [&](int64_t begin, int64_t end, int) {
    ChirpWalk<T> chirps(*chirp_roots_, n, begin);
    for (int64_t k = begin; k < end; ++k) {
      const Complex<T> value = Read(line, k) * chirps.Next();
      Write(to, k, {scale * value.re, scale * value.im});
    }
  });
}

template class MatrixTransform<float>;
template class MatrixTransform<double>;
template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace hlod::engine::fft
