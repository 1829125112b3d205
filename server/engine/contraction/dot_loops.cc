// The engine's own matrix product, for small dots, where a library call costs more than the sum, and for the
// types that oneDNN lacks.
#include <algorithm>
#include <type_traits>

#include "server/engine/contraction/dot.h"
#include "server/engine/contraction/subnormals.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/unrolled.h"

namespace hlod::engine {
namespace {

// Computes one matrix product. Panels of kColumns columns by kDepth rows of rhs stay in L1 while kRows rows
// of lhs at a time are multiplied with them.
template <typename T>
struct DotKernel {
  // The sums of six rows of two AVX2 vectors (one AVX-512 vector), and the factors, fill AVX2's sixteen
  // registers.
  static constexpr int64_t kColumns = 64 / sizeof(T), kRows = 6, kDepth = 256;
  // The number of rows of lhs from which on a copy of the panel is faster.
  static constexpr int64_t kPackMin = 2 * kRows;

  template <int64_t kR>
  static HLOD_ALWAYS_INLINE void Block(const T* lhs, int64_t lhs_m, int64_t lhs_k, const T* rhs,
                                       int64_t rhs_k, T* out, int64_t out_m, int64_t depth, bool add) {
    T sum[kR][kColumns] = {};
    for (int64_t k = 0; k < depth; ++k) {
      const T* row = rhs + k * rhs_k;
#pragma GCC unroll 8  // The sums of all rows then stay in registers.
      for (int64_t r = 0; r < kR; ++r) {
        const T factor = lhs[r * lhs_m + k * lhs_k];
#pragma omp simd
        for (int64_t c = 0; c < kColumns; ++c) sum[r][c] += factor * row[c];
      }
    }
    for (int64_t r = 0; r < kR; ++r) {
      for (int64_t c = 0; c < kColumns; ++c) {
        if (add) sum[r][c] += out[r * out_m + c];
        out[r * out_m + c] = sum[r][c];
      }
    }
  }

  // Handles any strides and sizes: edges and tiny products.
  static HLOD_ALWAYS_INLINE void Edge(const T* lhs, int64_t lhs_m, int64_t lhs_k, const T* rhs, int64_t rhs_k,
                                      int64_t rhs_n, T* out, int64_t out_m, int64_t m, int64_t n,
                                      int64_t depth, bool add) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        T sum = {};
        for (int64_t k = 0; k < depth; ++k) sum += lhs[r * lhs_m + k * lhs_k] * rhs[k * rhs_k + c * rhs_n];
        if (add) sum += out[r * out_m + c];
        out[r * out_m + c] = sum;
      }
    }
  }

  // Adds the terms [k_begin, k) of the sums. Earlier terms are in `out` already, and with `adds` its former
  // contents.
  static HLOD_ALWAYS_INLINE void Run(const T* lhs, int64_t lhs_m, int64_t lhs_k, const T* rhs, int64_t rhs_k,
                                     int64_t rhs_n, T* out, int64_t out_m, int64_t m, int64_t n,
                                     int64_t k_begin, int64_t k, bool adds) {
    for (int64_t k0 = k_begin; k0 < k; k0 += kDepth) {
      const int64_t depth = std::min(kDepth, k - k0);
      const bool add = adds || k0 > 0;
      const T* l = lhs + k0 * lhs_k;
      const T* r = rhs + k0 * rhs_k;
      const int64_t full = rhs_n == 1 ? n / kColumns * kColumns : 0;
      for (int64_t c = 0; c < full; c += kColumns) {
        // Rows of rhs at a distance of a power of two would evict each other from L1.
        T packed[kDepth * kColumns];
        const T* panel = r + c;
        int64_t panel_k = rhs_k;
        if (m >= kPackMin && rhs_k != kColumns) {
          for (int64_t d = 0; d < depth; ++d) std::copy_n(panel + d * rhs_k, kColumns, packed + d * kColumns);
          panel = packed;
          panel_k = kColumns;
        }
        int64_t i = 0;
        for (; i + kRows <= m; i += kRows)
          Block<kRows>(l + i * lhs_m, lhs_m, lhs_k, panel, panel_k, out + i * out_m + c, out_m, depth, add);
        for (; i < m; ++i)
          Block<1>(l + i * lhs_m, lhs_m, lhs_k, panel, panel_k, out + i * out_m + c, out_m, depth, add);
      }
      if (full < n)
        Edge(l, lhs_m, lhs_k, r + full * rhs_n, rhs_k, rhs_n, out + full, out_m, m, n - full, depth, add);
    }
  }
};

// Computes products of a row with a column, of neighbouring batches side by side.
template <typename T>
struct PointsKernel {
  static HLOD_ALWAYS_INLINE void Run(const T* lhs, int64_t lhs_batch, int64_t lhs_k, const T* rhs,
                                     int64_t rhs_batch, int64_t rhs_k, T* out, int64_t batches, int64_t k,
                                     bool adds) {
    constexpr int64_t kPart = 16;
    for (int64_t b = 0; b < batches; b += kPart) {
      const int64_t part = std::min(kPart, batches - b);
      T sum[kPart] = {};
      for (int64_t d = 0; d < k; ++d) {
        const T* const x = lhs + b * lhs_batch + d * lhs_k;
        const T* const y = rhs + b * rhs_batch + d * rhs_k;
#pragma omp simd
        for (int64_t i = 0; i < part; ++i) sum[i] += x[i * lhs_batch] * y[i * rhs_batch];
      }
      for (int64_t i = 0; i < part; ++i) {
        if (adds) sum[i] += out[b + i];
        out[b + i] = sum[i];
      }
    }
  }
};

// Computes products of matrices with kN columns and kK terms, of neighbouring batches.
template <typename T, int kN, int kK>
struct TinyKernel {
  static HLOD_ALWAYS_INLINE void Run(const DotView* view, int64_t lhs_batch, int64_t rhs_batch, const T* lhs,
                                     const T* rhs, T* out, int64_t batches) {
    const int64_t m = view->m, lhs_m = view->lhs_m, lhs_k = view->lhs_k, rhs_k = view->rhs_k,
                  rhs_n = view->rhs_n;
    const bool adds = view->adds;
    for (int64_t b = 0; b < batches; ++b, lhs += lhs_batch, rhs += rhs_batch) {
      T matrix[kK * kN];
      Unrolled<kK * kN>([&](auto at)
                            HLOD_INLINE_LAMBDA { matrix[at] = rhs[at / kN * rhs_k + at % kN * rhs_n]; });
      for (int64_t i = 0; i < m; ++i, out += kN) {
        T factors[kK], sums[kN] = {};
        Unrolled<kK>([&](auto k) HLOD_INLINE_LAMBDA { factors[k] = lhs[i * lhs_m + k * lhs_k]; });
        Unrolled<kK * kN>([&](auto at)
                              HLOD_INLINE_LAMBDA { sums[at % kN] += factors[at / kN] * matrix[at]; });
        Unrolled<kN>([&](auto n) HLOD_INLINE_LAMBDA { out[n] = adds ? sums[n] + out[n] : sums[n]; });
      }
    }
  }
};

// Computes `batches` neighbouring products of short sums.
template <typename T>
void ShortProducts(const DotView& view, const DotView::Batch& batch, const T* lhs, const T* rhs, T* out,
                   int64_t batches) {
  if (view.is_points())
    return RunBest<PointsKernel<T>>(lhs, batch.lhs_stride, view.lhs_k, rhs, batch.rhs_stride, view.rhs_k, out,
                                    batches, view.k, view.adds);
  if constexpr (std::is_floating_point_v<T>) {
    const auto run = [&]<int kN, int kK>() {
      RunBest<TinyKernel<T, kN, kK>>(&view, batch.lhs_stride, batch.rhs_stride, lhs, rhs, out, batches);
    };
    const auto of_columns = [&]<int kN>() {
      if (view.k == 2) run.template operator()<kN, 2>();
      else if (view.k == 3) run.template operator()<kN, 3>();
      else run.template operator()<kN, 4>();
    };
    if (view.n == 2) of_columns.template operator()<2>();
    else if (view.n == 3) of_columns.template operator()<3>();
    else of_columns.template operator()<4>();
  }
}

template <typename T>
absl::Status LoopShortTyped(const DotView& view, const T* lhs, const T* rhs, T* out,
                            const StepContext& context) {
  const DotView::Batch inner = view.batch.back();
  const int64_t each = view.m * view.n, work = each * view.k;
  const int64_t piece = std::min(inner.size, StopCheck::PieceOf(work));
  const int64_t pieces = CeilDiv(inner.size, piece), runs = view.batches() / inner.size;
  ParallelRanges(context.threads, runs * pieces, WorkOf(view.batches(), work),
                 [&](int64_t begin, int64_t end, int) {
                   const WithoutSubnormals zeros;
                   StopCheck stop(context.run);
                   for (int64_t job = begin; job < end; ++job) {
                     const int64_t first = job % pieces * piece, n = std::min(piece, inner.size - first);
                     const int64_t batch = job / pieces * inner.size + first;
                     const DotView::Offsets from = view.OffsetsOf(batch);
                     ShortProducts<T>(view, inner, lhs + from.lhs, rhs + from.rhs, out + batch * each, n);
                     if (stop.Stops(n * work)) return;
                   }
                 });
  return StopCheck::Verdict(context.run);
}

template <typename T>
absl::Status LoopDotTyped(const DotView& view, const T* lhs, const T* rhs, T* out,
                          const StepContext& context) {
  constexpr int64_t kRowsAJob = 96, kColumnsAJob = 256;
  const int64_t row_jobs = (view.m + kRowsAJob - 1) / kRowsAJob,
                column_jobs = (view.n + kColumnsAJob - 1) / kColumnsAJob;
  const int64_t matrix_jobs = row_jobs * column_jobs;
  const int64_t work = WorkOf(WorkOf(view.batches(), WorkOf(view.m, view.n)), std::max<int64_t>(view.k, 1));
  ParallelRanges(context.threads, view.batches() * matrix_jobs, work, [&](int64_t begin, int64_t end, int) {
    const WithoutSubnormals zeros;
    StopCheck stop(context.run);
    for (int64_t job = begin; job < end; ++job) {
      const int64_t batch = job / matrix_jobs;
      const int64_t row = job % matrix_jobs / column_jobs * kRowsAJob,
                    column = job % column_jobs * kColumnsAJob;
      T* to = out + batch * view.m * view.n + row * view.n + column;
      const DotView::Offsets from = view.OffsetsOf(batch);
      const T* l = lhs + from.lhs + row * view.lhs_m;
      const T* r = rhs + from.rhs + column * view.rhs_n;
      const int64_t rows = std::min(kRowsAJob, view.m - row),
                    columns = std::min(kColumnsAJob, view.n - column);
      const int64_t depth = AlignUp(StopCheck::PieceOf(rows * columns), DotKernel<T>::kDepth);
      for (int64_t k = 0; k < view.k;) {
        const int64_t next = std::min(view.k - k, depth) + k;
        RunBest<DotKernel<T>>(l, view.lhs_m, view.lhs_k, r, view.rhs_k, view.rhs_n, to, view.n, rows, columns,
                              k, next, view.adds);
        if (stop.Stops((next - k) * rows * columns)) return;
        k = next;
      }
    }
  });
  return StopCheck::Verdict(context.run);
}

}  // namespace

absl::Status LoopDot(hlo::PrimitiveType type, const DotView& view, const std::byte* lhs, const std::byte* rhs,
                     std::byte* out, const StepContext& context) {
  absl::Status status;
  VisitContractionType(type, [&]<typename T>() {
    const bool is_short = view.is_points() || (view.is_tiny() && std::is_floating_point_v<T>);
    const auto loop = is_short ? LoopShortTyped<T> : LoopDotTyped<T>;
    status = loop(view, reinterpret_cast<const T*>(lhs), reinterpret_cast<const T*>(rhs),
                  reinterpret_cast<T*>(out), context);
  });
  return status;
}

}  // namespace hlod::engine
