// reduce-window with a large window and a recognised reducer: one dimension after the other, with constant
// work per element.
//
// Along one dimension a window that always reaches an end of the array is a running total (cumsum, cumprod,
// cummax). Any other window, if it is not dilated, is combined from totals inside blocks of the window's
// length: a suffix of one block and a prefix of the next (van Herk 1992; Gil and Werman 1993). Sums of f32
// are computed in f64.
#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "server/engine/reduce/reducer_ops.h"
#include "server/engine/reduce/window.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

constexpr int64_t kLanes = 16;         // The number of lines side by side.
constexpr int64_t kStreamLanes = 256;  // The number of lines side by side where only their totals are kept.

// The pass along one dimension, from arrays [outer, in, inner] to [outer, out, inner].
struct Pass {
  WindowAxis axis;
  int64_t outer, inner;
};

enum class Method { kPrefix, kSuffix, kBlocks, kEach };

Method ChooseMethod(const WindowAxis& axis) {
  const hlo::WindowDimension& w = axis.window;
  if (w.base_dilation != 1 || w.window_dilation != 1) return Method::kEach;
  if ((axis.out - 1) * w.stride <= w.padding_low)
    return Method::kPrefix;  // Every window starts at or before the first element.
  // Every window ends at or after the last element.
  if (w.size - w.padding_low >= axis.in) return Method::kSuffix;
  return w.size > 8 ? Method::kBlocks : Method::kEach;
}

// Returns the number of places in the padded line of Method::kBlocks, or 0 for other methods. Shape inference
// bounds the sizes, so it does not overflow.
int64_t Padded(const WindowAxis& axis) {
  return ChooseMethod(axis) == Method::kBlocks ? (axis.out - 1) * axis.window.stride + axis.window.size : 0;
}

// The passes, and the scratch memory that they need.
struct Layout {
  std::vector<Pass> passes;
  bool streaming = false;     // One running total, straight from operand to result, which needs no scratch.
  int64_t line_bytes = 0;     // The line of one worker, and its totals.
  int64_t between_bytes = 0;  // One array between two passes.
  int64_t scratch_bytes = 0;
};

// Lays out totals of total_bytes; `streams` allows streaming. Returns nullopt when the array between two
// passes, which can be larger than operand and result, has a size that overflows.
std::optional<Layout> LayOut(const hlo::Shape& operand, const WindowAxes& axes, int workers,
                             int64_t total_bytes, bool streams) {
  Layout layout;
  hlo::Dims dims = operand.dims;
  int64_t between = 0, line = 0;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].IsTrivial()) continue;
    layout.passes.push_back({axes[d], Product(absl::MakeConstSpan(dims).first(d)),
                             Product(absl::MakeConstSpan(dims).subspan(d + 1))});
    dims[d] = axes[d].out;
    std::optional<int64_t> elements = 1;
    for (const int64_t size : dims) elements = elements ? CheckedMultiply(*elements, size) : std::nullopt;
    if (!elements) return std::nullopt;
    between = std::max(between, *elements);
    line = std::max(line, 4 * (Padded(axes[d]) + 1) + axes[d].in + axes[d].out);
  }
  if (streams && layout.passes.size() == 1 && ChooseMethod(layout.passes[0].axis) <= Method::kSuffix) {
    layout.streaming = true;
    return layout;
  }
  if (layout.passes.size() <= 1) between = 0;
  // Far below 2^63, so that sums and roundings cannot overflow either.
  constexpr int64_t kScratchMax = int64_t{1} << 60;
  const std::optional<int64_t> line_bytes = CheckedMultiply(line, kLanes * total_bytes);
  const std::optional<int64_t> between_bytes = CheckedMultiply(between, 2 * total_bytes);
  if (!line_bytes || !between_bytes || *line_bytes > kScratchMax / workers || *between_bytes > kScratchMax)
    return std::nullopt;
  layout.line_bytes = ScratchAlign(*line_bytes);
  layout.between_bytes = ScratchAlign(*between_bytes / 2);
  layout.scratch_bytes = workers * layout.line_bytes + 2 * layout.between_bytes;
  return layout;
}

template <typename Total>
Total* TotalsIn(std::byte* memory) {
  return reinterpret_cast<Total*>(memory);
}
template <typename Total>
const Total* TotalsIn(const std::byte* memory) {
  return reinterpret_cast<const Total*>(memory);
}

template <typename T, typename Total>
void LoadTotals(const std::byte* from, int64_t count, std::byte* totals) {
  const auto* elements = reinterpret_cast<const T*>(from);
  Total* const to = TotalsIn<Total>(totals);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Total>(ReducedElement<T>::Load(elements[i]));
}

template <typename T, typename Total>
void StoreTotals(const std::byte* totals, int64_t count, std::byte* to) {
  auto* elements = reinterpret_cast<T*>(to);
  const Total* const from = TotalsIn<Total>(totals);
  for (int64_t i = 0; i < count; ++i) elements[i] = ReducedElement<T>::Store(from[i]);
}

// The order in which a running total takes the elements of a line and gives outputs: from its beginning
// (Method::kPrefix), or from its end.
struct RunningOrder {
  explicit RunningOrder(const WindowAxis& axis) {
    const hlo::WindowDimension& w = axis.window;
    const bool prefix = ChooseMethod(axis) == Method::kPrefix;
    step = prefix ? 1 : -1;
    first_element = prefix ? 0 : axis.in - 1;
    first_output = prefix ? 0 : axis.out - 1;
    reach = prefix ? w.size - w.padding_low : axis.in + w.padding_low - first_output * w.stride;
  }
  int64_t step;
  int64_t first_element, first_output;
  // The number of elements in the first output's window, where the line is long enough; each further window
  // has `stride` more.
  int64_t reach;
};

// False for the 8-bit floats and the integers of fewer bits, for which streaming is not compiled.
template <typename T>
constexpr bool kStreams = !(hlo::kIsSmallFloat<T> && sizeof(T) == 1) && !hlo::kIsSmallInt<T>;

// The reducer of an operation's totals. Sums and products wrap in the same way for signed and unsigned
// integers.
template <typename Op>
using ReducerOfTotals =
    ReducerOp<Op::kReducer, std::conditional_t<!Op::kExtremum && std::is_same_v<typename Op::Total, int8_t>,
                                               uint8_t, typename Op::Total>>;

// The computation along one line, and along kLanes lines side by side. Op is the reducer of totals.
template <typename Op>
struct Lines {
  using Total = typename Op::Element;

  static Total Identity() { return static_cast<Total>(Op::Identity()); }

  static void ApplyLanes(int64_t lanes, Total* to, const Total* a, const Total* b) {
    for (int64_t l = 0; l < lanes; ++l) to[l] = Op::Apply(a[l], b[l]);
  }

  static void JoinInit(const std::byte* init, int64_t count, std::byte* totals) {
    const Total first = *TotalsIn<Total>(init);
    Total* const to = TotalsIn<Total>(totals);
    for (int64_t i = 0; i < count; ++i) to[i] = Op::Apply(first, to[i]);
  }

  static bool Run(const WindowAxis& axis, const std::byte* elements, std::byte* results, int64_t lanes,
                  StopCheck& stop) {
    const Total* const in = TotalsIn<Total>(elements);
    Total* const out = TotalsIn<Total>(results);
    switch (ChooseMethod(axis)) {
      case Method::kPrefix:
      case Method::kSuffix:
        return lanes == 1 ? RunTotals<1>(axis, in, out, lanes, stop)
                          : RunTotals<kLanes>(axis, in, out, lanes, stop);
      case Method::kEach: return RunEach(axis, in, out, lanes, stop);
      case Method::kBlocks: return RunBlocks(axis, in, out, lanes, stop);
    }
    return true;
  }

  // Handles at most kBlock lines side by side. A single line's total stays in a register.
  template <int64_t kBlock>
  static bool RunTotals(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    const RunningOrder order(axis);
    if constexpr (kBlock == 1) lanes = 1;
    const int64_t step = order.step * lanes, elements = axis.in;
    const Total* from = in + order.first_element * lanes;
    Total* to = out + order.first_output * lanes;
    Total total[kBlock];
    std::fill_n(total, lanes, Identity());
    int64_t taken = 0, reach = order.reach;
    for (int64_t o = 0; o < axis.out; ++o, to += step, reach += axis.window.stride) {
      for (const int64_t end = std::min(elements, reach); taken < end; ++taken, from += step) {
        if (stop.Stops(lanes)) return false;
        ApplyLanes(lanes, total, total, from);
      }
      if (stop.Stops(lanes)) return false;
      std::copy_n(total, lanes, to);
    }
    return true;
  }

  static bool RunEach(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    for (int64_t o = 0; o < axis.out; ++o) {
      std::fill_n(out + o * lanes, lanes, Identity());
      for (int64_t k = 0; k < axis.window.size; ++k) {
        if (stop.Stops(lanes)) return false;
        const int64_t source = axis.Source(o, k);
        if (source >= 0) ApplyLanes(lanes, out + o * lanes, out + o * lanes, in + source * lanes);
      }
    }
    return true;
  }

  static bool RunBlocks(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    const hlo::WindowDimension& w = axis.window;
    const int64_t padded = Padded(axis);
    Total* const prefix = out + axis.out * lanes;
    Total* const suffix = prefix + padded * lanes;
    Total* const nothing = suffix + padded * lanes;
    std::fill_n(nothing, lanes, Identity());
    const auto element = [&](int64_t i) {
      const int64_t source = i - w.padding_low;
      return source >= 0 && source < axis.in ? in + source * lanes : nothing;
    };
    for (int64_t i = 0; i < padded; ++i) {
      if (stop.Stops(lanes)) return false;
      ApplyLanes(lanes, prefix + i * lanes, i % w.size == 0 ? nothing : prefix + (i - 1) * lanes, element(i));
    }
    for (int64_t i = padded; i-- > 0;) {
      if (stop.Stops(lanes)) return false;
      const bool ends_block = i % w.size == w.size - 1 || i == padded - 1;
      ApplyLanes(lanes, suffix + i * lanes, element(i), ends_block ? nothing : suffix + (i + 1) * lanes);
    }
    for (int64_t o = 0; o < axis.out; ++o) {
      if (stop.Stops(lanes)) return false;
      const int64_t start = o * w.stride, end = start + w.size - 1;
      if (start % w.size == 0) {
        std::copy_n(prefix + end * lanes, lanes, out + o * lanes);
      } else {
        ApplyLanes(lanes, out + o * lanes, suffix + start * lanes, prefix + end * lanes);
      }
    }
    return true;
  }
};

// Writes the running totals of at most kBlock lines side by side directly from operand to result, while they
// extend further (prefix) or start later (suffix, backwards). A single line's total stays in a register.
// Returns false when it was interrupted. The check is a copy, which stays in registers; the caller counts the
// work of the whole block.
template <typename Op, int64_t kBlock>
bool StreamBlock(const Pass& pass, const std::byte* operand, const std::byte* initial, std::byte* result,
                 int64_t lanes, StopCheck stop) {
  using Element = typename Op::Element;
  using Total = typename Op::Total;
  if constexpr (kBlock == 1) lanes = 1;
  const Total init = static_cast<Total>(Op::Load(*reinterpret_cast<const Element*>(initial)));
  const RunningOrder order(pass.axis);
  const int64_t inner = pass.inner, step = order.step * inner, elements = pass.axis.in;
  const int64_t results = pass.axis.out, stride = pass.axis.window.stride;
  const Element* from = reinterpret_cast<const Element*>(operand) + order.first_element * inner;
  Element* to = reinterpret_cast<Element*>(result) + order.first_output * inner;
  Total total[kBlock];
  std::fill_n(total, lanes, static_cast<Total>(Op::Identity()));
  int64_t taken = 0, reach = order.reach;
  for (int64_t o = 0; o < results; ++o, to += step, reach += stride) {
    for (const int64_t end = std::min(elements, reach); taken < end; ++taken, from += step) {
      if (stop.Stops(lanes)) return false;
      for (int64_t l = 0; l < lanes; ++l)
        total[l] = Op::Apply(total[l], static_cast<Total>(Op::Load(from[l])));
    }
    if (stop.Stops(lanes)) return false;
    for (int64_t l = 0; l < lanes; ++l) to[l] = Op::Store(Op::Apply(init, total[l]));
  }
  return true;
}

// The functions of one reducer for one type of elements. The steps are compiled once for all of them: totals
// are in memory whose type only these functions know.
struct ScanFunctions {
  using Stream = bool (*)(const Pass& pass, const std::byte* operand, const std::byte* init,
                          std::byte* result, int64_t lanes, StopCheck stop);

  int64_t element_bytes, total_bytes;
  void (*load)(const std::byte* elements, int64_t count, std::byte* totals);
  void (*store)(const std::byte* totals, int64_t count, std::byte* elements);
  // Combines totals with the initial value, which is a total, too.
  void (*join_init)(const std::byte* init, int64_t count, std::byte* totals);
  // Computes the totals of `lanes` lines. `in` and `out` are [size, lanes]; the memory after `out` can be
  // used for totals. Returns false when it was interrupted.
  bool (*run)(const WindowAxis& axis, const std::byte* in, std::byte* out, int64_t lanes, StopCheck& stop);
  // Null for types for which streaming is not compiled.
  Stream stream_line, stream_lines;
};

constexpr int64_t kTotalBytesMax = 16;

// Op is the reducer of elements.
template <typename Op>
constexpr ScanFunctions MakeScanFunctions() {
  using Element = typename Op::Element;
  using Reducer = ReducerOfTotals<Op>;
  using Total = typename Reducer::Element;
  static_assert(sizeof(Total) <= kTotalBytesMax);
  ScanFunctions f{sizeof(Element),
                  sizeof(Total),
                  LoadTotals<Element, Total>,
                  StoreTotals<Element, Total>,
                  Lines<Reducer>::JoinInit,
                  Lines<Reducer>::Run,
                  nullptr,
                  nullptr};
  if constexpr (kStreams<Element>) {
    f.stream_line = StreamBlock<Op, 1>;
    f.stream_lines = StreamBlock<Op, kStreamLanes>;
  }
  return f;
}

template <typename Op>
constexpr ScanFunctions kScanFunctions = MakeScanFunctions<Op>();

class StreamWindowStep final : public Step {
 public:
  StreamWindowStep(hlo::Instruction instruction, const Pass& pass, const ScanFunctions& functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), f_(functions), pass_(pass) {
    set_flops(static_cast<double>(OperandElements() + ResultElements()));
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (ResultElements() == 0) return absl::OkStatus();
    const bool one = pass_.inner == 1;
    const ScanFunctions::Stream stream = one ? f_.stream_line : f_.stream_lines;
    const int64_t block = one ? 1 : kStreamLanes, blocks = (pass_.inner + block - 1) / block;
    ParallelRanges(context.threads, pass_.outer * blocks, OperandElements(),
                   [&](int64_t begin, int64_t end, int) {
                     StopCheck stop(context.run);
                     for (int64_t job = begin; job < end; ++job) {
                       const int64_t lane = job % blocks * block, lanes = std::min(block, pass_.inner - lane);
                       const int64_t in = job / blocks * pass_.axis.in * pass_.inner + lane;
                       const int64_t out = job / blocks * pass_.axis.out * pass_.inner + lane;
                       if (!stream(pass_, inputs[0] + in * f_.element_bytes, inputs[1],
                                   outputs[0] + out * f_.element_bytes, lanes, stop) ||
                           stop.Stops(pass_.axis.in * lanes)) {
                         return;
                       }
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  int64_t OperandElements() const { return pass_.outer * pass_.axis.in * pass_.inner; }
  int64_t ResultElements() const { return pass_.outer * pass_.axis.out * pass_.inner; }

  const ScanFunctions& f_;
  const Pass pass_;
};

// Computes in lines of totals.
class ScanWindowStep final : public Step {
 public:
  ScanWindowStep(hlo::Instruction instruction, Layout layout, int workers, const ScanFunctions& functions)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        f_(functions),
        outputs_(Elements(instruction.shape())),
        layout_(std::move(layout)),
        workers_(workers) {
    set_flops(static_cast<double>(Elements(instruction.operand(0).shape()) + outputs_));
    set_scratch_bytes(layout_.scratch_bytes);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (outputs_ == 0) return absl::OkStatus();
    alignas(kTotalBytesMax) std::byte init[kTotalBytesMax];
    f_.load(inputs[1], 1, init);
    std::byte* const between = context.scratch + workers_ * layout_.line_bytes;
    for (size_t p = 0; p < layout_.passes.size(); ++p) {
      const Pass& pass = layout_.passes[p];
      // Reads what the pass before wrote, unless it is the first, and writes between unless it is the last.
      const std::byte* const from = p == 0 ? inputs[0] : between + (p + 1) % 2 * layout_.between_bytes;
      const bool last = p + 1 == layout_.passes.size();
      std::byte* const to = last ? outputs[0] : between + p % 2 * layout_.between_bytes;
      const int64_t blocks = (pass.inner + kLanes - 1) / kLanes;
      ParallelRanges(std::min(context.threads, workers_), pass.outer * blocks,
                     pass.outer * pass.axis.in * pass.inner, [&](int64_t begin, int64_t end, int worker) {
                       std::byte* const line = context.scratch + worker * layout_.line_bytes;
                       StopCheck stop(context.run);
                       for (int64_t job = begin; job < end; ++job) {
                         if (!RunBlock(pass, job, {from, p == 0}, {to, last}, init, line, stop)) return;
                       }
                     });
      RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    }
    return absl::OkStatus();
  }

 private:
  // An array of a pass: of elements if it is the step's own operand or result, else of totals.
  struct Source {
    const std::byte* data;
    bool elements;
  };
  struct Target {
    std::byte* data;
    bool elements;
  };

  // Computes block `job` of kLanes lines. Returns false when it was interrupted.
  bool RunBlock(const Pass& pass, int64_t job, Source from, Target to, const std::byte* init, std::byte* line,
                StopCheck& stop) const {
    const int64_t blocks = (pass.inner + kLanes - 1) / kLanes;
    const int64_t lane = job % blocks * kLanes, lanes = std::min(kLanes, pass.inner - lane);
    const int64_t row_bytes = lanes * f_.total_bytes;
    std::byte* const result = line + pass.axis.in * row_bytes;
    // Rows of all lanes are contiguous, and handled at once.
    const int64_t rows = lanes == pass.inner ? std::max<int64_t>(1, kStreamLanes / lanes) : 1;
    const int64_t in = job / blocks * pass.axis.in * pass.inner + lane;
    for (int64_t i = 0; i < pass.axis.in; i += rows) {
      const int64_t count = std::min(rows, pass.axis.in - i) * lanes;
      if (stop.Stops(count)) return false;
      Load(from, in + i * pass.inner, count, line + i * row_bytes);
    }
    if (!f_.run(pass.axis, line, result, lanes, stop)) return false;
    const int64_t out = job / blocks * pass.axis.out * pass.inner + lane;
    for (int64_t o = 0; o < pass.axis.out; o += rows) {
      const int64_t count = std::min(rows, pass.axis.out - o) * lanes;
      if (stop.Stops(count)) return false;
      Store(result + o * row_bytes, count, init, to, out + o * pass.inner);
    }
    return true;
  }

  void Load(Source from, int64_t at, int64_t count, std::byte* totals) const {
    if (from.elements) return f_.load(from.data + at * f_.element_bytes, count, totals);
    std::copy_n(from.data + at * f_.total_bytes, count * f_.total_bytes, totals);
  }

  // Combines totals, which are lost, with the initial value when they become elements of the result.
  void Store(std::byte* totals, int64_t count, const std::byte* init, Target to, int64_t at) const {
    if (!to.elements) {
      std::copy_n(totals, count * f_.total_bytes, to.data + at * f_.total_bytes);
      return;
    }
    f_.join_init(init, count, totals);
    f_.store(totals, count, to.data + at * f_.element_bytes);
  }

  const ScanFunctions& f_;
  const int64_t outputs_;
  const Layout layout_;
  const int workers_;
};

}  // namespace

MaybeStep MakeScanWindowStep(hlo::Instruction instruction, const WindowAxes& axes, ScalarReducer reducer,
                             int threads, bool only_running) {
  MaybeStep step;
  const hlo::Shape& operand = instruction.operand(0).shape();
  if (Elements(operand) == 0) return step;
  const int workers = std::max(1, threads);
  const auto make = [&](const ScanFunctions& functions) {
    std::optional<Layout> layout =
        LayOut(operand, axes, workers, functions.total_bytes, functions.stream_line != nullptr);
    if (!layout) return;
    if (layout->streaming) {
      step = std::make_unique<StreamWindowStep>(instruction, layout->passes[0], functions);
    } else if (!only_running) {
      step = std::make_unique<ScanWindowStep>(instruction, *std::move(layout), workers, functions);
    }
  };
  const auto visit = [&]<typename Op>() { make(kScanFunctions<Op>); };
  const hlo::PrimitiveType type = instruction.shape().type;
  if (!VisitReducer(reducer, type, visit)) VisitSmallestReducer(reducer, type, visit);
  return step;
}

}  // namespace hlod::engine
