// argmax and argmin of many lines at once: a vector's lanes are lines side by side, and each lane keeps its
// best value and the place of it. The elements are joined in order, exactly as the reducer says, without a
// branch.
//
// Lines that are side by side in memory are read where they are. A vector that is wider than the rows of one
// array of lines also reads the beginning of the next row, and the results of these lanes are not stored: for
// f32[16,12,12] over dimension 1, each of the 16 arrays takes 12 steps of one vector, of which 12 lanes
// count. Short lines that are contiguous are transposed first, and narrow elements are widened.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "common/base/errors/status.h"
#include "server/engine/reduce/reduce.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLines = 128;       // The lines of a job.
constexpr int64_t kRows = 64;         // The rows that are widened at once.
constexpr int64_t kVectorBytes = 32;  // The bytes of the vectors in which lines are joined.
constexpr int64_t kFewLines = 8;      // Fewer lines side by side are gathered from several arrays.
// This step is for lines of at most kShortLine elements, and for kSideBySide lines side by side or more. The
// other step divides lines: it takes kSplitElements elements or more in fewer jobs than kJobsWanted.
constexpr int64_t kShortLine = 64, kSideBySide = 16, kJobsWanted = 8, kSplitElements = 262144;

// The type in which elements are compared, and that of their places.
template <typename T>
using Compared =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, int32_t, typename ReducedElement<T>::Acc>;
template <typename C>
using PlaceOf = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;

// The rules of a reducer beyond its comparison, as masks: the value stays, or the place alone does.
template <typename Place>
struct Stays {
  Place equal, nan, equal_place;
};

// Joins the elements of n rows into the best values of `lines` lines, which are read in whole vectors. With
// kCompares, an equal element of a lower place takes the place; else no place is lower than the one that is
// kept.
template <typename C, bool kMaximum, bool kCompares>
struct ColumnsKernel {
  using Place = PlaceOf<C>;
  static constexpr int64_t kLanes = kVectorBytes / sizeof(C);

  // Two vectors are joined side by side, so that one does not wait for the other.
  static HLOD_ALWAYS_INLINE void Run(const Stays<Place>* stays, const C* rows, int64_t stride, int64_t n,
                                     Place first, int64_t lines, C* best, Place* place) {
    const Stays<Place> masks = *stays;
    int64_t line = 0;
    for (; line + kLanes < lines; line += 2 * kLanes) {
      C a[kLanes], b[kLanes];
      Place i[kLanes], j[kLanes];
      Copy(best + line, place + line, a, i);
      Copy(best + line + kLanes, place + line + kLanes, b, j);
      const C* row = rows + line;
      for (int64_t r = 0; r < n; ++r, row += stride) {
        Join(row, static_cast<Place>(first + r), masks, a, i);
        Join(row + kLanes, static_cast<Place>(first + r), masks, b, j);
      }
      Copy(a, i, best + line, place + line);
      Copy(b, j, best + line + kLanes, place + line + kLanes);
    }
    if (line >= lines) return;
    C a[kLanes];
    Place i[kLanes];
    Copy(best + line, place + line, a, i);
    for (int64_t r = 0; r < n; ++r)
      Join(rows + line + r * stride, static_cast<Place>(first + r), masks, a, i);
    Copy(a, i, best + line, place + line);
  }

 private:
  static HLOD_ALWAYS_INLINE void Copy(const C* values, const Place* places, C* to, Place* places_to) {
    std::memcpy(to, values, kVectorBytes);
    std::memcpy(places_to, places, kVectorBytes);
  }
  static HLOD_ALWAYS_INLINE void Join(const C* row, Place at, const Stays<Place>& masks, C (&a)[kLanes],
                                      Place (&i)[kLanes]) {
#pragma omp simd
    for (int64_t l = 0; l < kLanes; ++l) {
      const C b = row[l];
      const Place equal = a[l] == b ? -1 : 0, better = (kMaximum ? a[l] > b : a[l] < b) ? -1 : 0,
                  nan = a[l] != a[l] ? -1 : 0;
      Place equal_place = equal & masks.equal_place;
      if constexpr (kCompares) equal_place &= i[l] < at ? -1 : 0;
      const Place stays = better | (equal & masks.equal) | (nan & masks.nan),
                  place_stays = stays | equal_place;
      a[l] = stays != 0 ? a[l] : b;
      i[l] = place_stays != 0 ? i[l] : at;
    }
  }
};

// Converts rows of `lines` elements to rows of kLines.
template <typename T>
struct WidenKernel {
  static HLOD_ALWAYS_INLINE void Run(const T* from, int64_t stride, int64_t n, int64_t lines,
                                     Compared<T>* to) {
    for (int64_t r = 0; r < n; ++r, from += stride, to += kLines) {
#pragma omp simd
      for (int64_t l = 0; l < lines; ++l) to[l] = static_cast<Compared<T>>(ReducedElement<T>::Load(from[l]));
    }
  }
};

template <typename T>
class ArgColumnsStep final : public Step {
  using C = Compared<T>;
  using Place = PlaceOf<C>;
  static constexpr bool kWidened = !std::is_same_v<T, C>;
  static constexpr int64_t kLanes = kVectorBytes / sizeof(C);

 public:
  ArgColumnsStep(hlo::Instruction instruction, const ArgReducer& reducer, const ArgLines& lines, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        reducer_(reducer),
        lines_(lines),
        place_type_(instruction.operand(1).shape().type),
        place_width_(Width(instruction.operand(1).shape())),
        workers_(std::max(1, threads)),
        arrays_(Arrays(lines)),
        blocks_(Blocks(lines)),
        jobs_(Jobs(lines)) {
    if (IsGathered(lines))
      gathered_bytes_ = ScratchAlign(lines_.length * kLines * static_cast<int64_t>(sizeof(T)));
    worker_bytes_ =
        gathered_bytes_ + (kWidened ? ScratchAlign(kRows * kLines * static_cast<int64_t>(sizeof(C))) : 0);
    set_scratch_bytes(worker_bytes_ * workers_);
    set_flops(static_cast<double>(elements()));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    ParallelRanges(std::min(context.threads, workers_), jobs_, elements(),
                   [&](int64_t begin, int64_t end, int worker) {
                     StopCheck stop(context.run);
                     std::byte* const scratch = context.scratch + worker * worker_bytes_;
                     const Best initial = Initial(inputs);
                     for (int64_t job = begin; job < end; ++job) {
                       if (!RunJob(job, initial, inputs, outputs, scratch, stop)) return;
                     }
                   });
    return StopCheck::VerdictAfter(elements(), context.run);
  }

  // Few lines side by side are gathered from several arrays of them.
  static bool IsGathered(const ArgLines& lines) { return lines.inner < kFewLines; }
  // The arrays of a job's lines, the blocks of lines of an array that is divided, and the jobs.
  static int64_t Arrays(const ArgLines& lines) { return IsGathered(lines) ? kLines / lines.inner : 1; }
  static int64_t Blocks(const ArgLines& lines) { return (lines.inner + kLines - 1) / kLines; }
  static int64_t Jobs(const ArgLines& lines) {
    return (lines.outer + Arrays(lines) - 1) / Arrays(lines) * Blocks(lines);
  }

 private:
  struct Best {
    alignas(kVectorBytes) C value[kLines];
    alignas(kVectorBytes) Place place[kLines];
    int64_t initial_place = 0;
    Place initial = 0;  // The same, as it is compared.
  };
  int64_t elements() const { return lines_.outer * lines_.length * lines_.inner; }

  Best Initial(const std::byte* const* inputs) const {
    Best best;
    std::fill_n(best.value, kLines, Load(*reinterpret_cast<const T*>(inputs[2])));
    best.initial_place = ReadInteger(inputs[3], place_type_);
    // A place beyond Place is none of the elements', and is compared with these as the nearest Place.
    best.initial = static_cast<Place>(std::clamp<int64_t>(
        best.initial_place, std::numeric_limits<Place>::min(), std::numeric_limits<Place>::max()));
    std::fill_n(best.place, kLines, best.initial);
    return best;
  }

  // Returns false when it was interrupted.
  bool RunJob(int64_t job, const Best& initial, const std::byte* const* inputs, std::byte* const* outputs,
              std::byte* scratch, StopCheck& stop) const {
    const int64_t array = job / blocks_ * arrays_, first = job % blocks_ * kLines;
    const int64_t arrays = std::min(arrays_, lines_.outer - array);
    const int64_t lines = std::min(kLines, arrays * lines_.inner - first);
    const T* const in = reinterpret_cast<const T*>(inputs[0]);
    const T* rows = in + array * lines_.length * lines_.inner + first;
    const T* end = in + elements();
    int64_t stride = lines_.inner;
    if (gathered_bytes_ > 0) {
      Gather(rows, arrays, scratch);
      rows = reinterpret_cast<const T*>(scratch);
      end = rows + lines_.length * kLines;
      stride = kLines;
    }
    Best best;
    const auto padded = static_cast<size_t>((lines + kLanes - 1) / kLanes * kVectorBytes);
    std::memcpy(best.value, initial.value, padded);
    std::memcpy(best.place, initial.place, padded);
    best.initial_place = initial.initial_place;
    best.initial = initial.initial;
    if (!JoinRows(rows, end, stride, lines, scratch + gathered_bytes_, best, stop)) return false;
    Store(best, array * lines_.inner + first, lines, outputs);
    return true;
  }

  // Copies the lines of some arrays side by side.
  void Gather(const T* from, int64_t arrays, std::byte* to) const {
    constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
    const auto* source = reinterpret_cast<const std::byte*>(from);
    const int64_t row = lines_.inner * kWidth, array = lines_.length * row;
    if (lines_.inner == 1)
      return TransposeBlock(source, to, lines_.length, kLines * kWidth, arrays, array,
                            static_cast<int>(kWidth));
    for (int64_t r = 0; r < lines_.length; ++r, source += row, to += kLines * kWidth)
      CopyRuns(source, to, arrays, array, row, row);
  }

  static C Load(T element) { return static_cast<C>(ReducedElement<T>::Load(element)); }

  // Joins rows that are `stride` elements apart, before `end`. Returns false when it was interrupted.
  bool JoinRows(const T* rows, const T* end, int64_t stride, int64_t lines, std::byte* block, Best& best,
                StopCheck& stop) const {
    for (int64_t at = 0; at < lines_.length; at += kRows, rows += kRows * stride) {
      const int64_t n = std::min(kRows, lines_.length - at);
      if constexpr (kWidened) {
        C* const widened = reinterpret_cast<C*>(block);
        RunBest<WidenKernel<T>>(rows, stride, n, lines, widened);
        Join(widened, kLines, n, at, lines, best);
      } else {
        // The elements that are read of each row.
        const int64_t whole = (lines + kLanes - 1) / kLanes * kLanes;
        const int64_t room = end - rows - whole;
        const int64_t safe = room < 0 ? 0 : std::min(n, room / stride + 1);
        Join(rows, stride, safe, at, lines, best);
        for (int64_t r = safe; r < n; ++r) {
          C row[kLines];
          std::copy_n(rows + r * stride, lines, row);
          std::fill(row + lines, row + whole, C{});
          Join(row, kLines, 1, at + r, lines, best);
        }
      }
      if (stop.Stops(n * (lines + kLanes))) return false;
    }
    return true;
  }

  void Join(const C* rows, int64_t stride, int64_t n, int64_t first, int64_t lines, Best& best) const {
    const auto run = [&]<bool kMaximum, bool kCompares>() {
      const Stays<Place> stays = {.equal = static_cast<Place>(reducer_.strict ? 0 : -1),
                                  .nan = static_cast<Place>(reducer_.first_nan ? -1 : 0),
                                  .equal_place = static_cast<Place>(reducer_.lower ? -1 : 0)};
      RunBest<ColumnsKernel<C, kMaximum, kCompares>>(&stays, rows, stride, n, static_cast<Place>(first),
                                                     lines, static_cast<C*>(best.value),
                                                     static_cast<Place*>(best.place));
    };
    // The elements' places rise from 0: only an initial one can be larger than one of theirs.
    const bool compares = reducer_.lower && best.initial_place > 0;
    if (reducer_.maximum)
      compares ? run.template operator()<true, true>() : run.template operator()<true, false>();
    else compares ? run.template operator()<false, true>() : run.template operator()<false, false>();
  }

  void Store(const Best& best, int64_t first, int64_t lines, std::byte* const* outputs) const {
    T* const values = reinterpret_cast<T*>(outputs[0]) + first;
    if constexpr (kWidened) {
      for (int64_t l = 0; l < lines; ++l) values[l] = ReducedElement<T>::Store(best.value[l]);
    } else {
      std::memcpy(values, best.value, static_cast<size_t>(lines) * sizeof(T));
    }
    std::byte* const places = outputs[1] + first * place_width_;
    if (place_width_ == sizeof(Place) && best.initial_place == best.initial) {
      std::memcpy(places, best.place, static_cast<size_t>(lines * place_width_));
      return;
    }
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t place = best.place[l] == best.initial ? best.initial_place : best.place[l];
      std::memcpy(places + l * place_width_, &place, static_cast<size_t>(place_width_));
    }
  }

  const ArgReducer reducer_;
  const ArgLines lines_;
  const hlo::PrimitiveType place_type_;
  const int64_t place_width_;
  const int workers_;
  const int64_t arrays_, blocks_, jobs_;
  int64_t gathered_bytes_ = 0, worker_bytes_ = 0;
};

bool Pays(const ArgLines& lines) {
  const int64_t elements = lines.outer * lines.length * lines.inner;
  if (elements == 0 || lines.length >= std::numeric_limits<int32_t>::max()) return false;
  if (lines.length <= kShortLine) return true;
  return lines.inner >= kSideBySide &&
         (ArgColumnsStep<float>::Jobs(lines) >= kJobsWanted || elements < kSplitElements);
}

}  // namespace

MaybeStep MakeArgColumnsStep(hlo::Instruction instruction, hlo::PrimitiveType type, const ArgReducer& reducer,
                             const ArgLines& lines, int threads) {
  if (!Pays(lines)) return nullptr;
  MaybeStep step;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr ((std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, hlo::F16> ||
                  std::is_same_v<T, hlo::BF16>) {
      step = std::make_unique<ArgColumnsStep<T>>(instruction, reducer, lines, threads);
    }
  });
  return step;
}

}  // namespace hlod::engine
