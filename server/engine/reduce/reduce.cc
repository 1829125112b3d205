// reduce with a recognised reducer over any dimensions, in blocks whose partial results are combined in a
// wider type.
//
// The work is split by shape only, not by the number of threads, so a sum has the same bits on every machine.
#include "server/engine/reduce/reduce.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/reduce/reduce_steps.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

constexpr int64_t kColumns = 256;    // The outputs side by side in one job when the innermost dimension is
                                     // kept.
constexpr int64_t kPiece = 8192;     // The elements of one run that are reduced at once when the innermost
                                     // dimension is reduced.
constexpr int64_t kRowsABlock = 64;  // The number of rows whose partial results stay in the narrow type.
constexpr int64_t kJobsWanted = 64;  // With fewer outputs than this, the reduction itself is split.
constexpr int64_t kElementsAJob = 32768;
constexpr int64_t kAcrossRowsMin = 8;   // With fewer rows, the last row is most of the work.
constexpr int64_t kBoxColumnsMax = 64;  // Wider boxes lose nothing by a call per box.

// The partial results of a run are kept in four vectors, in separate arrays. A single array of all lanes
// would stay in memory, and every addition would wait for the store before it.
constexpr int64_t kVectors = 4, kVectorBytes = 32;

// Joins lanes, each with its counterpart in the other half, then those of that half, and so on.
template <int64_t kWidth, typename T, typename Join>
HLOD_ALWAYS_INLINE T JoinLanes(T* lanes, Join join) {
  if constexpr (kWidth == 1) {
    return lanes[0];
  } else {
    constexpr int64_t kHalf = kWidth / 2;
#pragma omp simd
    for (int64_t l = 0; l < kHalf; ++l) lanes[l] = join(lanes[l], lanes[l + kHalf]);
    return JoinLanes<kHalf>(lanes, join);
  }
}

template <typename Op>
struct ExtremumKernel {
  using Order = OrderedKey<Op>;
  using Key = typename Order::Key;

  // n must be at least one.
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* p, int64_t n, typename Op::Total* result) {
    constexpr int64_t kWidth = kVectorBytes / sizeof(Key), kLanes = kVectors * kWidth;
    Key a[kWidth], b[kWidth], c[kWidth], d[kWidth], nan[kWidth] = {}, more_nan[kWidth] = {};
#pragma omp simd
    for (int64_t l = 0; l < kWidth; ++l) a[l] = b[l] = c[l] = d[l] = Order::None();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const auto* const q = p + i;
#pragma omp simd
      for (int64_t l = 0; l < kWidth; ++l) {
        const auto w = Order::Load(q[l]), x = Order::Load(q[kWidth + l]), y = Order::Load(q[2 * kWidth + l]),
                   z = Order::Load(q[3 * kWidth + l]);
        a[l] = Order::Join(a[l], Order::Of(w));
        b[l] = Order::Join(b[l], Order::Of(x));
        c[l] = Order::Join(c[l], Order::Of(y));
        d[l] = Order::Join(d[l], Order::Of(z));
        nan[l] |= Order::IsNan(w) | Order::IsNan(y);
        more_nan[l] |= Order::IsNan(x) | Order::IsNan(z);
      }
    }
#pragma omp simd
    for (int64_t l = 0; l < kWidth; ++l) {
      a[l] = Order::Join(Order::Join(a[l], b[l]), Order::Join(c[l], d[l]));
      nan[l] |= more_nan[l];
    }
    Key best = JoinLanes<kWidth>(a, [](Key x, Key y) { return Order::Join(x, y); });
    Key any = JoinLanes<kWidth>(nan, [](Key x, Key y) { return static_cast<Key>(x | y); });
    for (; i < n; ++i) {
      const auto value = Order::Load(p[i]);
      best = Order::Join(best, Order::Of(value));
      any |= Order::IsNan(value);
    }
    *result = Order::Back(best, any);
  }
};

// Reduces n dense elements: kLanes partial results over kIterations elements each, which are combined in
// pairs, each with its counterpart in the other half.
template <typename Op>
struct RunKernel {
  using Acc = typename Op::Acc;
  using Total = typename Op::Total;
  static constexpr int64_t kWidth = kVectorBytes / sizeof(Acc), kLanes = kVectors * kWidth, kIterations = 16;

  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* p, int64_t n, Total* result) {
    if constexpr (Op::kExtremum && std::is_floating_point_v<Acc>) {
      ExtremumKernel<Op>::Run(p, n, result);
      return;
    }
    Total total = static_cast<Total>(Op::Identity());
    int64_t i = 0;
    while (n - i >= kLanes) {
      const int64_t iterations = std::min(kIterations, (n - i) / kLanes);
      Acc joined[kWidth];
      if constexpr (Op::kSmall) Widened(p + i, iterations, joined);
      else InVectors(p + i, iterations, joined);
      const Acc sum = JoinLanes<kWidth>(joined, [](Acc x, Acc y) { return Op::Apply(x, y); });
      total = Op::Apply(total, static_cast<Total>(sum));
      i += iterations * kLanes;
    }
    Acc rest = Op::Identity();
    for (; i < n; ++i) rest = Op::Apply(rest, Op::Load(p[i]));
    *result = Op::Apply(total, static_cast<Total>(rest));
  }

 private:
  // Both combine `iterations` * kLanes elements to kWidth partial results.
  static HLOD_ALWAYS_INLINE void InVectors(const typename Op::Element* p, int64_t iterations, Acc* joined) {
    Acc a[kWidth], b[kWidth], c[kWidth], d[kWidth];
#pragma omp simd
    for (int64_t l = 0; l < kWidth; ++l) a[l] = b[l] = c[l] = d[l] = Op::Identity();
    for (int64_t iteration = 0; iteration < iterations; ++iteration, p += kLanes) {
#pragma omp simd
      for (int64_t l = 0; l < kWidth; ++l) {
        a[l] = Op::Apply(a[l], Op::Load(p[l]));
        b[l] = Op::Apply(b[l], Op::Load(p[kWidth + l]));
        c[l] = Op::Apply(c[l], Op::Load(p[2 * kWidth + l]));
        d[l] = Op::Apply(d[l], Op::Load(p[3 * kWidth + l]));
      }
    }
#pragma omp simd
    for (int64_t l = 0; l < kWidth; ++l) joined[l] = Op::Apply(Op::Apply(a[l], c[l]), Op::Apply(b[l], d[l]));
  }
  // Elements that are converted first benefit more from long loops.
  static HLOD_ALWAYS_INLINE void Widened(const typename Op::Element* p, int64_t iterations, Acc* joined) {
    Acc lanes[kLanes];
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::Load(p[l]);
    for (int64_t iteration = 1; iteration < iterations; ++iteration) {
      p += kLanes;
#pragma omp simd
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] = Op::Apply(lanes[l], Op::Load(p[l]));
    }
#pragma omp simd
    for (int64_t l = 0; l < kWidth; ++l) {
      joined[l] = Op::Apply(Op::Apply(lanes[l], lanes[2 * kWidth + l]),
                            Op::Apply(lanes[kWidth + l], lanes[3 * kWidth + l]));
    }
  }
};

// Reduces `rows` rows of `n` dense elements into n partial results.
template <typename Op>
struct RowsKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* const* row, int64_t rows, int64_t n,
                                     typename Op::Acc* acc) {
    if constexpr (Op::kExtremum && OrderedKey<Op>::kHalf) return Extrema(row, rows, n, acc);
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const auto *a = row[r], *b = row[r + 1], *c = row[r + 2], *d = row[r + 3];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        acc[i] = Op::Apply(acc[i], Op::Apply(Op::Apply(Op::Load(a[i]), Op::Load(b[i])),
                                             Op::Apply(Op::Load(c[i]), Op::Load(d[i]))));
      }
    }
    for (; r < rows; ++r) {
      const auto* a = row[r];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], Op::Load(a[i]));
    }
  }

 private:
  static HLOD_ALWAYS_INLINE void Extrema(const typename Op::Element* const* row, int64_t rows, int64_t n,
                                         typename Op::Acc* acc) {
    using Order = OrderedKey<Op>;
    typename Order::Key best[kColumns], nan[kColumns] = {};
    std::fill_n(best, n, Order::None());
    for (int64_t r = 0; r < rows; ++r) {
      const auto* a = row[r];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        const auto value = Order::Load(a[i]);
        best[i] = Order::Join(best[i], Order::Of(value));
        nan[i] |= Order::IsNan(value);
      }
    }
    for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], Order::Back(best[i], nan[i]));
  }
};

// Joins element k of each line into the line's accumulator, in order; row k of the elements has kShortLines
// of them.
constexpr int64_t kShortLines = 64;
template <typename Op>
struct ShortRowsKernel {
  static HLOD_ALWAYS_INLINE void Run(const typename Op::Element* rows, int64_t n, typename Op::Acc* acc) {
    if constexpr (Op::kExtremum && std::is_floating_point_v<typename Op::Acc>) return Extrema(rows, n, acc);
    for (int64_t k = 0; k < n; ++k, rows += kShortLines) {
#pragma omp simd
      for (int64_t l = 0; l < kShortLines; ++l) acc[l] = Op::Apply(acc[l], Op::Load(rows[l]));
    }
  }

 private:
  static HLOD_ALWAYS_INLINE void Extrema(const typename Op::Element* rows, int64_t n, typename Op::Acc* acc) {
    using Order = OrderedKey<Op>;
    typename Order::Key best[kShortLines], nan[kShortLines] = {};
    std::fill_n(best, kShortLines, Order::None());
    for (int64_t k = 0; k < n; ++k, rows += kShortLines) {
#pragma omp simd
      for (int64_t l = 0; l < kShortLines; ++l) {
        const auto value = Order::Load(rows[l]);
        best[l] = Order::Join(best[l], Order::Of(value));
        nan[l] |= Order::IsNan(value);
      }
    }
    for (int64_t l = 0; l < kShortLines; ++l) acc[l] = Order::Back(best[l], nan[l]);
  }
};

// Joins columns of boxes of a few rows, kPart at a time, whose partial results stay in registers.
template <typename Op>
struct BoxesKernel {
  using Element = typename Op::Element;
  using Acc = typename Op::Acc;
  using Total = typename Op::Total;

  static HLOD_ALWAYS_INLINE void Run(const Element* elements, const int64_t* boxes, int64_t count,
                                     const int64_t* rows, int64_t row_count, int64_t n, Total first,
                                     Element* out) {
    constexpr int64_t kPart = 16, kSmallPart = 4;
    for (int64_t box = 0; box < count; ++box, out += n) {
      const Element* const from = elements + boxes[box];
      int64_t c = 0;
      for (; c + kPart <= n; c += kPart) Columns<kPart>(from + c, rows, row_count, first, out + c);
      for (; c + kSmallPart <= n; c += kSmallPart)
        Columns<kSmallPart>(from + c, rows, row_count, first, out + c);
      for (; c < n; ++c) Columns<1>(from + c, rows, row_count, first, out + c);
    }
  }

 private:
  template <int64_t kCount>
  static HLOD_ALWAYS_INLINE void Columns(const Element* from, const int64_t* rows, int64_t row_count,
                                         Total first, Element* out) {
    Acc acc[kCount];
    if constexpr (Op::kExtremum && std::is_floating_point_v<Acc>) {
      using Order = OrderedKey<Op>;
      typename Order::Key best[kCount], nan[kCount] = {};
      for (int64_t i = 0; i < kCount; ++i) best[i] = Order::None();
      for (int64_t r = 0; r < row_count; ++r) {
        const Element* const row = from + rows[r];
#pragma omp simd
        for (int64_t i = 0; i < kCount; ++i) {
          const auto value = Order::Load(row[i]);
          best[i] = Order::Join(best[i], Order::Of(value));
          nan[i] |= Order::IsNan(value);
        }
      }
      for (int64_t i = 0; i < kCount; ++i) acc[i] = Order::Back(best[i], nan[i]);
    } else {
      for (int64_t i = 0; i < kCount; ++i) acc[i] = Op::Identity();
      for (int64_t r = 0; r < row_count; ++r) {
        const Element* const row = from + rows[r];
#pragma omp simd
        for (int64_t i = 0; i < kCount; ++i) acc[i] = Op::Apply(acc[i], Op::Load(row[i]));
      }
    }
    for (int64_t i = 0; i < kCount; ++i) out[i] = Op::Store(Op::Apply(first, static_cast<Total>(acc[i])));
  }
};

template <typename Op>
struct ReduceFunctionsOf {
  using Element = typename Op::Element;
  using Acc = typename Op::Acc;
  using Total = typename Op::Total;
  static_assert(sizeof(Total) <= kTotalBytesMax);

  static Total* TotalsIn(std::byte* memory) { return reinterpret_cast<Total*>(memory); }
  static const Total* TotalsIn(const std::byte* memory) { return reinterpret_cast<const Total*>(memory); }

  static void Begin(std::byte* totals, int64_t count) {
    std::fill_n(TotalsIn(totals), count, static_cast<Total>(Op::Identity()));
  }
  static void Run(const std::byte* elements, int64_t count, std::byte* total) {
    Total part;
    RunBest<RunKernel<Op>>(reinterpret_cast<const Element*>(elements), count, &part);
    *TotalsIn(total) = Op::Apply(*TotalsIn(total), part);
  }
  static void Rows(const std::byte* const* rows, int64_t row_count, int64_t count, std::byte* totals) {
    const Element* elements[kRowsABlock];
    for (int64_t r = 0; r < row_count; ++r) elements[r] = reinterpret_cast<const Element*>(rows[r]);
    Acc acc[kColumns];
    std::fill_n(acc, count, Op::Identity());
    RunBest<RowsKernel<Op>>(static_cast<const Element* const*>(elements), row_count, count,
                            static_cast<Acc*>(acc));
    Total* const to = TotalsIn(totals);
    for (int64_t c = 0; c < count; ++c) to[c] = Op::Apply(to[c], static_cast<Total>(acc[c]));
  }
  static void Join(std::byte* totals, const std::byte* others, int64_t count) {
    Total* const to = TotalsIn(totals);
    for (int64_t c = 0; c < count; ++c) to[c] = Op::Apply(to[c], TotalsIn(others)[c]);
  }
  static void Finish(const std::byte* totals, int64_t count, const std::byte* init, std::byte* out) {
    const Total first = static_cast<Total>(Op::Load(*reinterpret_cast<const Element*>(init)));
    auto* const to = reinterpret_cast<Element*>(out);
    for (int64_t c = 0; c < count; ++c) to[c] = Op::Store(Op::Apply(first, TotalsIn(totals)[c]));
  }

  static void ShortRows(const std::byte* elements, int64_t rows, int64_t n, const std::byte* init,
                        std::byte* out) {
    constexpr auto kWidth = static_cast<int64_t>(sizeof(Element));
    alignas(64) std::byte block[kShortRun * kShortLines * kWidth] = {};
    const Total first = static_cast<Total>(Op::Load(*reinterpret_cast<const Element*>(init)));
    auto* to = reinterpret_cast<Element*>(out);
    for (int64_t row = 0; row < rows;
         row += kShortLines, elements += kShortLines * n * kWidth, to += kShortLines) {
      const int64_t lines = std::min(kShortLines, rows - row);
      TransposeBlock(elements, block, n, kShortLines * kWidth, lines, n * kWidth, static_cast<int>(kWidth));
      Acc acc[kShortLines];
      std::fill_n(acc, kShortLines, Op::Identity());
      RunBest<ShortRowsKernel<Op>>(reinterpret_cast<const Element*>(block), n, static_cast<Acc*>(acc));
      for (int64_t l = 0; l < lines; ++l) to[l] = Op::Store(Op::Apply(first, static_cast<Total>(acc[l])));
    }
  }

  static void Boxes(const std::byte* elements, const int64_t* boxes, int64_t count, const int64_t* rows,
                    int64_t row_count, int64_t n, const std::byte* init, std::byte* out) {
    const Total first = static_cast<Total>(Op::Load(*reinterpret_cast<const Element*>(init)));
    RunBest<BoxesKernel<Op>>(reinterpret_cast<const Element*>(elements), boxes, count, rows, row_count, n,
                             first, reinterpret_cast<Element*>(out));
  }

  static constexpr ReduceFunctions kFunctions = {sizeof(Element), sizeof(Total), Begin, Run, Rows, Join,
                                                 Finish,          ShortRows,     Boxes};
};

class ReduceStep final : public Step {
 public:
  ReduceStep(hlo::Instruction instruction, const ReduceFunctions& functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), f_(functions) {
    const hlo::Shape& operand = instruction.operand(0).shape();
    walk_ = MakeReduceWalk(operand, instruction.dimensions());
    elements_ = Elements(operand);
    outputs_ = walk_.kept.count();
    if (elements_ == 0) return;
    StridedIndex& kept = walk_.kept;
    StridedIndex& reduced = walk_.reduced;
    if (kept.rank() > 0 && kept.innermost_stride() == 1) {
      columns_ = kept.innermost_size();
      kept.DropInnermost();
    } else if (reduced.rank() > 0 && reduced.innermost_stride() == 1) {
      run_ = reduced.innermost_size();
      reduced.DropInnermost();
      if (run_ < kShortRun && reduced.rank() == 0 && kept.rank() <= 1 && kept.Offset(1) == run_)
        short_rows_ = true;
      pieces_ = (run_ + kPiece - 1) / kPiece;
    }
    across_ = columns_ == 1 && run_ > 1 && run_ <= kColumns && reduced.count() >= kAcrossRowsMin;
    if (columns_ > 1 && columns_ <= kBoxColumnsMax && reduced.count() <= kRowsABlock &&
        kept.count() >= kJobsWanted) {
      for (int64_t row = 0; row < reduced.count(); ++row) box_rows_.push_back(reduced.Offset(row));
    }
    column_blocks_ = (columns_ + kColumns - 1) / kColumns;
    jobs_ = kept.count() * column_blocks_;
    rows_ = reduced.count() * pieces_;
    if (jobs_ < kJobsWanted) {
      chunks_ =
          std::clamp<int64_t>(std::min(kJobsWanted / jobs_, elements_ / jobs_ / kElementsAJob), 1, rows_);
    }
    if (chunks_ > 1) set_scratch_bytes(jobs_ * chunks_ * BlockBytes());
    set_flops(static_cast<double>(elements_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const std::byte* const init = inputs[1];
    std::byte* const out = outputs[0];
    if (elements_ == 0) {
      return ParallelPieces(context, outputs_, outputs_, [&](int64_t begin, int64_t end, int) {
        Fill(init, static_cast<int>(f_.element_bytes), end - begin, out + begin * f_.element_bytes);
      });
    }
    if (short_rows_) {
      return ParallelPieces(context, outputs_, elements_, [&](int64_t begin, int64_t end, int) {
        f_.short_rows(inputs[0] + begin * run_ * f_.element_bytes, end - begin, run_, init,
                      out + begin * f_.element_bytes);
      });
    }
    if (!box_rows_.empty()) return RunBoxes(inputs, outputs, context);
    std::byte* const partials = context.scratch;
    ParallelRanges(context.threads, jobs_ * chunks_, elements_, [&](int64_t begin, int64_t end, int) {
      alignas(64) std::byte totals[kColumns * kTotalBytesMax];
      StopCheck stop(context.run);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t job = i / chunks_, chunk = i % chunks_;
        const int64_t row_begin = rows_ * chunk / chunks_, row_end = rows_ * (chunk + 1) / chunks_;
        std::byte* const to = chunks_ == 1 ? totals : partials + i * BlockBytes();
        if (!ReduceJob(inputs[0], job, row_begin, row_end, to, stop)) return;
        if (chunks_ == 1) f_.finish(totals, WidthOf(job), init, out + OutputOf(job) * f_.element_bytes);
      }
    });
    RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    if (chunks_ == 1) return absl::OkStatus();
    for (int64_t job = 0; job < jobs_; ++job) {
      std::byte* const totals = partials + job * chunks_ * BlockBytes();
      for (int64_t chunk = 1; chunk < chunks_; ++chunk)
        f_.join(totals, totals + chunk * BlockBytes(), WidthOf(job));
      f_.finish(totals, WidthOf(job), init, out + OutputOf(job) * f_.element_bytes);
    }
    return absl::OkStatus();
  }

 private:
  // Reduces the boxes of all outputs, kColumns of them at a time.
  absl::Status RunBoxes(const std::byte* const* inputs, std::byte* const* outputs,
                        const StepContext& context) const {
    return ParallelPieces(context, jobs_, elements_, [&](int64_t begin, int64_t end, int) {
      int64_t boxes[kColumns];
      for (int64_t job = begin; job < end; job += kColumns) {
        const int64_t count = std::min(kColumns, end - job);
        for (int64_t i = 0; i < count; ++i) boxes[i] = walk_.kept.Offset(job + i);
        f_.boxes(inputs[0], boxes, count, box_rows_.data(), static_cast<int64_t>(box_rows_.size()), columns_,
                 inputs[1], outputs[0] + job * columns_ * f_.element_bytes);
      }
    });
  }

  int64_t BlockBytes() const { return std::min(columns_, kColumns) * f_.total_bytes; }
  int64_t WidthOf(int64_t job) const {
    return std::min(kColumns, columns_ - job % column_blocks_ * kColumns);
  }
  int64_t OutputOf(int64_t job) const {
    return job / column_blocks_ * columns_ + job % column_blocks_ * kColumns;
  }

  // Reduces rows [row_begin, row_end) of a job into `totals`. Returns false when it was interrupted.
  bool ReduceJob(const std::byte* in, int64_t job, int64_t row_begin, int64_t row_end, std::byte* totals,
                 StopCheck& stop) const {
    const int64_t first = walk_.kept.Offset(job / column_blocks_) + job % column_blocks_ * kColumns;
    const std::byte* const base = in + first * f_.element_bytes;
    const int64_t width = WidthOf(job);
    f_.begin(totals, width);
    if (across_) return ReduceAcross(base, row_begin, row_end, totals, stop);
    if (columns_ == 1) {
      for (int64_t row = row_begin; row < row_end; ++row) {
        const int64_t piece = row % pieces_ * kPiece, count = std::min(kPiece, run_ - piece);
        f_.run(base + (walk_.reduced.Offset(row / pieces_) + piece) * f_.element_bytes, count, totals);
        if (stop.Stops(count + 4)) return false;
      }
      return true;
    }
    return ReduceRows(base, row_begin, row_end, width, totals, stop);
  }

  // Joins element i of each of the rows into total i, for i < width.
  bool ReduceRows(const std::byte* base, int64_t row_begin, int64_t row_end, int64_t width, std::byte* totals,
                  StopCheck& stop) const {
    for (int64_t row = row_begin; row < row_end; row += kRowsABlock) {
      const std::byte* pointers[kRowsABlock];
      const int64_t rows = std::min(kRowsABlock, row_end - row);
      for (int64_t r = 0; r < rows; ++r)
        pointers[r] = base + walk_.reduced.Offset(row + r) * f_.element_bytes;
      f_.rows(pointers, rows, width, totals);
      if (stop.Stops(rows * (width + 4))) return false;
    }
    return true;
  }

  // Reduces rows of which all elements go to one output: first across the rows, then the row that is left, by
  // halves.
  bool ReduceAcross(const std::byte* base, int64_t row_begin, int64_t row_end, std::byte* total,
                    StopCheck& stop) const {
    alignas(64) std::byte totals[kColumns * kTotalBytesMax];
    f_.begin(totals, run_);
    if (!ReduceRows(base, row_begin, row_end, run_, totals, stop)) return false;
    for (int64_t left = run_; left > 1;) {
      const int64_t kept = (left + 1) / 2;
      f_.join(totals, totals + kept * f_.total_bytes, left - kept);
      left = kept;
    }
    f_.join(total, totals, 1);
    return true;
  }

  const ReduceFunctions& f_;
  ReduceWalk walk_;
  int64_t elements_ = 0, outputs_ = 0;
  int64_t columns_ = 1, column_blocks_ = 1;  // The innermost dimension, when it is kept.
  int64_t run_ = 1, pieces_ = 1;  // The innermost dimension, when it is reduced, and its pieces of kPiece
                                  // elements.
  int64_t jobs_ = 0, rows_ = 0, chunks_ = 1;
  bool across_ = false;  // True if rows of one output are reduced across, before the elements of a row.
  std::vector<int64_t> box_rows_;  // The rows of a box, if the reduction is of many boxes of few of them.
  bool short_rows_ = false;        // True if the operand consists of rows of run_ elements.
};

}  // namespace

ReduceWalk MakeReduceWalk(const hlo::Shape& operand, absl::Span<const int64_t> dimensions) {
  const hlo::Dims strides = hlo::RowMajorStrides(operand.dims);
  ReduceWalk walk;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    (Contains(dimensions, d) ? walk.reduced : walk.kept).Append(operand.dims[d], strides[d]);
  }
  return walk;
}

const ReduceFunctions* ReduceFunctionsFor(ScalarReducer reducer, hlo::PrimitiveType type) {
  const ReduceFunctions* functions = nullptr;
  VisitReducer(reducer, type, [&]<typename Op>() { functions = &ReduceFunctionsOf<Op>::kFunctions; });
  return functions;
}

MaybeStep MakeReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (instruction.opcode() != hlo::kReduce || !AllStatic(instruction)) return nullptr;
  MaybeStep step;
  if (instruction.operand_count() == 2) {
    const hlo::PrimitiveType type = instruction.operand(0).shape().type;
    const ScalarReducer reducer = RecogniseReducer(module.computation(instruction.called()[0]));
    if (instruction.shape().type == type && instruction.operand(1).shape().type == type) {
      const ReduceFunctions* const functions = ReduceFunctionsFor(reducer, type);
      if (functions != nullptr) step = std::make_unique<ReduceStep>(instruction, *functions);
    }
  } else {
    step = MakeArgReduceStep(module, instruction, threads);
  }
  return step != nullptr ? std::move(step) : MakeGeneralReduceStep(module, instruction, threads);
}

}  // namespace hlod::engine
