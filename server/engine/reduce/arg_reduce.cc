// argmax and argmin: a reduce of values and their positions, of which only the values are read.
//
// A line (the elements of one output) is done in pieces that stay in the cache: first the extremum of a piece
// is found, as by a reduce of one operand; then its place, if it is better than that of the pieces before.
// Lines that are not contiguous are transposed first, some side by side. Pieces with a NaN, and short ones,
// are joined element by element, exactly as the reducer says. Short lines, and many side by side, have a step
// of their own (arg_columns.cc).
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
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

constexpr int64_t kArgPiece = 4096;      // The elements of a contiguous line that are reduced at once,
constexpr int64_t kArgTransposed = 512;  // and of a transposed one.
constexpr int64_t kArgLines = 16;        // The lines that are transposed together.
constexpr int64_t kArgShort = 24;        // Fewer elements are joined one by one.
constexpr int64_t kArgJobsWanted = 64;   // With fewer jobs than this, the lines themselves are split,
constexpr int64_t kArgChunkMin = 32768;  // into chunks of at least this many elements.
constexpr int64_t kArgValueBytesMax = 8;

// A value and its place: the result of some elements.
struct Found {
  alignas(kArgValueBytesMax) std::byte value[kArgValueBytesMax];
  int64_t place;
};

// The functions of one element type.
struct ArgFunctions {
  // Joins n dense elements into `found`, in order; the first is at `place`.
  void (*join)(const ArgReducer& reducer, Found& found, const std::byte* elements, int64_t n, int64_t place);
  // Returns true when the value a is kept beside b, and cannot even get b's bits.
  bool (*is_better)(const ArgReducer& reducer, const std::byte* a, const std::byte* b);
  bool (*is_nan)(const std::byte* value);
  // Finds the first, or the last, element that equals `value`. There must be one.
  int64_t (*first)(const std::byte* elements, int64_t n, const std::byte* value);
  int64_t (*last)(const std::byte* elements, int64_t n, const std::byte* value);
};

template <typename T>
struct FindKernel {
  // Sets `place` to the first i where elements[i] is a or b, or to n.
  static HLOD_ALWAYS_INLINE void Run(const T* elements, int64_t n, T a, T b, int64_t* place) {
    constexpr int64_t kBlock = 256 / sizeof(T);
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      T any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t l = 0; l < kBlock; ++l)
        any |= static_cast<T>(elements[i + l] == a || elements[i + l] == b);
      if (any != 0) break;
    }
    while (i < n && elements[i] != a && elements[i] != b) ++i;
    *place = i;
  }
};

template <typename T>
struct ArgFunctionsOf {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  using Number = typename ReducedElement<T>::Acc;

  static T Read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  static Number NumberAt(const std::byte* at) { return ReducedElement<T>::Load(Read(at)); }

  static bool Keeps(const ArgReducer& reducer, Number a, Number b) {
    const bool better = reducer.maximum ? a > b : a < b;
    return better || (!reducer.strict && a == b) || (reducer.first_nan && a != a);
  }
  static void Join(const ArgReducer& reducer, Found& found, const std::byte* elements, int64_t n,
                   int64_t place) {
    Number a = NumberAt(found.value);
    const std::byte* value = found.value;
    for (int64_t i = 0; i < n; ++i) {
      const Number b = NumberAt(elements + i * static_cast<int64_t>(sizeof(T)));
      const bool keeps = Keeps(reducer, a, b);
      const bool keeps_place = keeps || (reducer.lower && a == b && found.place < place + i);
      if (!keeps_place) found.place = place + i;
      if (keeps) continue;
      a = b;
      value = elements + i * static_cast<int64_t>(sizeof(T));
    }
    if (value != found.value) std::memcpy(found.value, value, sizeof(T));
  }
  static bool IsBetter(const ArgReducer& reducer, const std::byte* a, const std::byte* b) {
    return Keeps(reducer, NumberAt(a), NumberAt(b)) && (NumberAt(a) != NumberAt(b) || !reducer.strict);
  }
  static bool IsNan(const std::byte* value) { return NumberAt(value) != NumberAt(value); }

  // Returns the bits of the other zero if the value is one; other numbers have one form.
  static Bits OtherBits(const std::byte* value) {
    Bits bits;
    std::memcpy(&bits, value, sizeof(T));
    if constexpr (!std::is_integral_v<T>) {
      constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
      if ((bits & static_cast<Bits>(~kSign)) == 0) return bits ^ kSign;
    }
    return bits;
  }
  static int64_t First(const std::byte* elements, int64_t n, const std::byte* value) {
    Bits bits;
    std::memcpy(&bits, value, sizeof(T));
    int64_t place = 0;
    RunBest<FindKernel<Bits>>(reinterpret_cast<const Bits*>(elements), n, bits, OtherBits(value), &place);
    return place;
  }
  static int64_t Last(const std::byte* elements, int64_t n, const std::byte* value) {
    Bits bits;
    std::memcpy(&bits, value, sizeof(T));
    const Bits other = OtherBits(value);
    const auto* const in = reinterpret_cast<const Bits*>(elements);
    int64_t i = n - 1;
    while (i > 0 && in[i] != bits && in[i] != other) --i;
    return i;
  }

  static constexpr ArgFunctions kFunctions = {Join, IsBetter, IsNan, First, Last};
};

const ArgFunctions* ArgFunctionsFor(hlo::PrimitiveType type) {
  const ArgFunctions* functions = nullptr;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr ((std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, hlo::F16> ||
                  std::is_same_v<T, hlo::BF16>) {
      functions = &ArgFunctionsOf<T>::kFunctions;
    }
  });
  return functions;
}

class ArgReduceStep final : public Step {
 public:
  ArgReduceStep(hlo::Instruction instruction, const ArgReducer& reducer, const ArgLines& lines,
                const ReduceFunctions& extremum, const ArgFunctions& functions, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        reducer_(reducer),
        extremum_(extremum),
        f_(functions),
        width_(Width(instruction.operand(0).shape())),
        place_type_(instruction.operand(1).shape().type),
        place_width_(Width(instruction.operand(1).shape())),
        workers_(std::max(1, threads)),
        outer_(lines.outer),
        length_(lines.length),
        inner_(lines.inner) {
    blocks_ = (inner_ + kArgLines - 1) / kArgLines;
    jobs_ = outer_ * blocks_;
    if (jobs_ > 0 && jobs_ < kArgJobsWanted) {
      const int64_t elements = length_ * std::min(inner_, kArgLines);
      chunks_ = std::clamp<int64_t>(std::min(kArgJobsWanted / jobs_, elements / kArgChunkMin), 1, length_);
    }
    worker_bytes_ = inner_ == 1 ? 0 : ScratchAlign(kArgTransposed * kArgLines * width_);
    partial_bytes_ = ScratchAlign(jobs_ * chunks_ * lines_bytes());
    if (chunks_ == 1) partial_bytes_ = 0;
    set_scratch_bytes(partial_bytes_ + worker_bytes_ * workers_);
    set_flops(static_cast<double>(outer_ * length_ * inner_));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    auto* const partials = reinterpret_cast<Found*>(context.scratch);
    const int64_t lines = std::min(inner_, kArgLines);
    ParallelRanges(std::min(context.threads, workers_), jobs_ * chunks_, outer_ * length_ * inner_,
                   [&](int64_t begin, int64_t end, int worker) {
                     StopCheck stop(context.run);
                     std::byte* const block = context.scratch + partial_bytes_ + worker * worker_bytes_;
                     Found own[kArgLines];
                     for (int64_t i = begin; i < end; ++i) {
                       Found* const found = chunks_ == 1 ? own : partials + i * lines;
                       if (!RunChunk(inputs, i / chunks_, i % chunks_, block, found, stop)) return;
                       if (chunks_ == 1) Store(found, i, outputs);
                     }
                   });
    RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    for (int64_t job = 0; chunks_ > 1 && job < jobs_; ++job) {
      Found* const found = partials + job * chunks_ * lines;
      for (int64_t i = lines; i < chunks_ * lines; ++i)
        f_.join(reducer_, found[i % lines], found[i].value, 1, found[i].place);
      Store(found, job, outputs);
    }
    return absl::OkStatus();
  }

 private:
  int64_t lines_bytes() const { return std::min(inner_, kArgLines) * static_cast<int64_t>(sizeof(Found)); }
  int64_t FirstOf(int64_t job) const { return job % blocks_ * kArgLines; }
  int64_t LinesOf(int64_t job) const { return std::min(kArgLines, inner_ - FirstOf(job)); }

  // Reduces a chunk of a job's lines; the first chunk begins with the initial value. Returns false when it
  // was interrupted.
  bool RunChunk(const std::byte* const* inputs, int64_t job, int64_t chunk, std::byte* block, Found* found,
                StopCheck& stop) const {
    const int64_t begin = length_ * chunk / chunks_, end = length_ * (chunk + 1) / chunks_;
    const int64_t lines = LinesOf(job), piece = inner_ == 1 ? kArgPiece : kArgTransposed;
    const std::byte* const base = inputs[0] + (job / blocks_ * length_ * inner_ + FirstOf(job)) * width_;
    for (int64_t at = begin; at < end; at += piece) {
      const int64_t n = std::min(piece, end - at);
      const std::byte* elements = base + at * inner_ * width_;
      if (inner_ > 1) {
        TransposeBlock(elements, block, lines, kArgTransposed * width_, n, inner_ * width_, width_);
        elements = block;
      }
      for (int64_t l = 0; l < lines; ++l, elements += kArgTransposed * width_) {
        int64_t done = 0;
        if (at == 0) {
          std::memcpy(found[l].value, inputs[2], static_cast<size_t>(width_));
          found[l].place = ReadInteger(inputs[3], place_type_);
        } else if (at == begin) {
          std::memcpy(found[l].value, elements, static_cast<size_t>(width_));
          found[l].place = at;
          done = 1;
        }
        JoinPiece(found[l], elements + done * width_, n - done, at + done);
      }
      if (stop.Stops(lines * (n + 16))) return false;
    }
    return true;
  }

  void JoinPiece(Found& found, const std::byte* elements, int64_t n, int64_t place) const {
    if (n < kArgShort) return f_.join(reducer_, found, elements, n, place);
    alignas(64) std::byte total[kTotalBytesMax];
    Found best;
    extremum_.begin(total, 1);
    extremum_.run(elements, n, total);
    extremum_.finish(total, 1, elements, best.value);  // The first element changes nothing.
    if (f_.is_nan(best.value)) return f_.join(reducer_, found, elements, n, place);
    if (f_.is_better(reducer_, found.value, best.value)) return;
    // A strict reducer keeps the later of equal values, whose sign differs if they are zeros.
    const bool last_place = reducer_.strict && !reducer_.lower;
    const int64_t value = reducer_.strict && (last_place || IsZero(best.value))
                              ? f_.last(elements, n, best.value)
                              : f_.first(elements, n, best.value);
    const int64_t at = last_place || !IsZero(best.value) ? value : f_.first(elements, n, best.value);
    f_.join(reducer_, found, elements + value * width_, 1, place + at);
  }
  bool IsZero(const std::byte* value) const {  // All bits except for the sign's.
    for (int64_t i = 0; i < width_ - 1; ++i) {
      if (value[i] != std::byte{0}) return false;
    }
    return (value[width_ - 1] & std::byte{0x7f}) == std::byte{0};
  }

  void Store(const Found* found, int64_t job, std::byte* const* outputs) const {
    const int64_t to = job / blocks_ * inner_ + FirstOf(job);
    for (int64_t l = 0; l < LinesOf(job); ++l) {
      std::memcpy(outputs[0] + (to + l) * width_, found[l].value, static_cast<size_t>(width_));
      std::memcpy(outputs[1] + (to + l) * place_width_, &found[l].place, static_cast<size_t>(place_width_));
    }
  }

  const ArgReducer reducer_;
  const ReduceFunctions& extremum_;
  const ArgFunctions& f_;
  const int64_t width_;
  const hlo::PrimitiveType place_type_;
  const int64_t place_width_;
  const int workers_;
  const int64_t outer_, length_, inner_;
  int64_t blocks_ = 1;  // The blocks of lines side by side.
  int64_t jobs_ = 0, chunks_ = 1, worker_bytes_ = 0, partial_bytes_ = 0;
};

}  // namespace

MaybeStep MakeArgReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const std::optional<ArgReducer> reducer = MatchArgReduce(module, instruction);
  if (!reducer.has_value()) return nullptr;
  const hlo::Shape& operand = instruction.operand(0).shape();
  // Booleans are bytes of 0 and 1, which are ordered as numbers are.
  const hlo::PrimitiveType type = operand.type == hlo::kPred ? hlo::kU8 : operand.type;
  const int64_t along = instruction.dimensions()[0];
  ArgLines lines;
  for (int64_t d = 0; d < operand.rank(); ++d)
    (d < along ? lines.outer : d == along ? lines.length : lines.inner) *= operand.dims[d];
  if (MaybeStep step = MakeArgColumnsStep(instruction, type, *reducer, lines, threads)) return step;
  const ReduceFunctions* const extremum =
      ReduceFunctionsFor(reducer->maximum ? ScalarReducer::kMaximum : ScalarReducer::kMinimum, type);
  const ArgFunctions* const functions = ArgFunctionsFor(type);
  if (extremum == nullptr || functions == nullptr) return nullptr;
  return std::make_unique<ArgReduceStep>(instruction, *reducer, lines, *extremum, *functions, threads);
}

}  // namespace hlod::engine
