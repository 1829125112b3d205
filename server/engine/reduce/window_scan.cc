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

// Returns nullopt when the array between two passes, which can be larger than operand and result, has a size
// that overflows.
std::optional<Layout> LayOut(const hlo::Shape& operand, const WindowAxes& axes, int workers,
                             int64_t total_bytes) {
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
  if (layout.passes.size() == 1 && ChooseMethod(layout.passes[0].axis) <= Method::kSuffix) {
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

template <typename Op>
class ScanWindowStep final : public Step {
 public:
  using Element = typename Op::Element;
  using Total = typename Op::Total;

  ScanWindowStep(hlo::Instruction instruction, Layout layout, int workers)
      : Step(StepKind::kLibrary, DescribeStep(instruction)),
        passes_(std::move(layout.passes)),
        streaming_(layout.streaming),
        workers_(workers),
        line_bytes_(layout.line_bytes),
        between_bytes_(layout.between_bytes) {
    elements_ = Elements(instruction.operand(0).shape());
    outputs_ = Elements(instruction.shape());
    set_flops(static_cast<double>(elements_ + outputs_));
    set_scratch_bytes(layout.scratch_bytes);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (outputs_ == 0) return absl::OkStatus();
    const Total init = static_cast<Total>(Op::Load(*reinterpret_cast<const Element*>(inputs[1])));
    const auto* in = reinterpret_cast<const Element*>(inputs[0]);
    auto* out = reinterpret_cast<Element*>(outputs[0]);
    if (streaming_) {
      Stream(in, init, out, context);
      return StopCheck::Verdict(context.run);
    }
    std::byte* between[2] = {context.scratch + workers_ * line_bytes_,
                             context.scratch + workers_ * line_bytes_ + between_bytes_};
    for (size_t p = 0; p < passes_.size(); ++p) {
      const Pass& pass = passes_[p];
      const bool first = p == 0, last = p + 1 == passes_.size();
      const auto* from = reinterpret_cast<const Total*>(between[(p + 1) % 2]);
      auto* to = reinterpret_cast<Total*>(between[p % 2]);
      const int64_t blocks = (pass.inner + kLanes - 1) / kLanes;
      ParallelRanges(std::min(context.threads, workers_), pass.outer * blocks,
                     pass.outer * pass.axis.in * pass.inner, [&](int64_t begin, int64_t end, int worker) {
                       auto* line = reinterpret_cast<Total*>(context.scratch + worker * line_bytes_);
                       StopCheck stop(context.run);
                       for (int64_t job = begin; job < end; ++job) {
                         const int64_t lane = job % blocks * kLanes,
                                       lanes = std::min(kLanes, pass.inner - lane);
                         const int64_t in_base = job / blocks * pass.axis.in * pass.inner + lane;
                         const int64_t out_base = job / blocks * pass.axis.out * pass.inner + lane;
                         Total* result = line + pass.axis.in * lanes;
                         for (int64_t i = 0; i < pass.axis.in; ++i) {
                           if (stop.Stops(lanes)) return;
                           for (int64_t l = 0; l < lanes; ++l) {
                             const int64_t at = in_base + i * pass.inner + l;
                             line[i * lanes + l] = first ? static_cast<Total>(Op::Load(in[at])) : from[at];
                           }
                         }
                         if (!RunLine(pass.axis, line, result, lanes, stop)) return;
                         for (int64_t o = 0; o < pass.axis.out; ++o) {
                           if (stop.Stops(lanes)) return;
                           for (int64_t l = 0; l < lanes; ++l) {
                             const int64_t at = out_base + o * pass.inner + l;
                             if (last) {
                               out[at] = Op::Store(Op::Apply(init, result[o * lanes + l]));
                             } else {
                               to[at] = result[o * lanes + l];
                             }
                           }
                         }
                       }
                     });
      RETURN_IF_ERROR(StopCheck::Verdict(context.run));
    }
    return absl::OkStatus();
  }

 private:
  // Writes running totals directly from operand to result while they extend further (prefix) or start later
  // (suffix, backwards).
  void Stream(const Element* in, Total init, Element* out, const StepContext& context) const {
    if (passes_[0].inner == 1) StreamLines<1>(in, init, out, context);
    else StreamLines<kStreamLanes>(in, init, out, context);
  }

  // Handles kBlock lines side by side. A single line's total stays in a register.
  template <int64_t kBlock>
  void StreamLines(const Element* in, Total init, Element* out, const StepContext& context) const {
    const Pass& pass = passes_[0];
    const WindowAxis& axis = pass.axis;
    const bool prefix = ChooseMethod(axis) == Method::kPrefix;
    const int64_t blocks = (pass.inner + kBlock - 1) / kBlock;
    ParallelRanges(context.threads, pass.outer * blocks, elements_, [&](int64_t begin, int64_t end, int) {
      StopCheck stop(context.run);
      for (int64_t job = begin; job < end; ++job) {
        const int64_t lane = job % blocks * kBlock;
        const int64_t lanes = kBlock == 1 ? 1 : std::min(kBlock, pass.inner - lane);
        const Element* from = in + job / blocks * axis.in * pass.inner + lane;
        Element* to = out + job / blocks * axis.out * pass.inner + lane;
        Total total[kBlock];
        std::fill_n(total, lanes, static_cast<Total>(Op::Identity()));
        const auto add = [&](int64_t i) {
          for (int64_t l = 0; l < lanes; ++l)
            total[l] = Op::Apply(total[l], static_cast<Total>(Op::Load(from[i * pass.inner + l])));
        };
        const auto emit = [&](int64_t o) {
          for (int64_t l = 0; l < lanes; ++l) to[o * pass.inner + l] = Op::Store(Op::Apply(init, total[l]));
        };
        if (prefix) {
          int64_t next = 0;
          for (int64_t o = 0; o < axis.out; ++o) {
            const int64_t reach =
                std::min(axis.in, o * axis.window.stride - axis.window.padding_low + axis.window.size);
            for (; next < reach; ++next) {
              if (stop.Stops(lanes)) return;
              add(next);
            }
            if (stop.Stops(lanes)) return;
            emit(o);
          }
        } else {
          int64_t next = axis.in;
          for (int64_t o = axis.out; o-- > 0;) {
            const int64_t reach = std::max<int64_t>(0, o * axis.window.stride - axis.window.padding_low);
            while (next > reach) {
              if (stop.Stops(lanes)) return;
              add(--next);
            }
            if (stop.Stops(lanes)) return;
            emit(o);
          }
        }
      }
    });
  }

  static void ApplyLanes(int64_t lanes, Total* to, const Total* a, const Total* b) {
    for (int64_t l = 0; l < lanes; ++l) to[l] = Op::Apply(a[l], b[l]);
  }

  // `in` and `out` are [size, lanes]. The memory after `out` can be used for totals. Returns false when it
  // was interrupted.
  static bool RunLine(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    switch (ChooseMethod(axis)) {
      case Method::kPrefix: return RunPrefix(axis, in, out, lanes, stop);
      case Method::kSuffix: return RunSuffix(axis, in, out, lanes, stop);
      case Method::kEach: return RunEach(axis, in, out, lanes, stop);
      case Method::kBlocks: return RunBlocks(axis, in, out, lanes, stop);
    }
    return true;
  }

  static bool RunPrefix(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    const hlo::WindowDimension& w = axis.window;
    Total* const total = out + axis.out * lanes;
    std::fill_n(total, lanes, static_cast<Total>(Op::Identity()));
    int64_t next = 0;
    for (int64_t o = 0; o < axis.out; ++o) {
      const int64_t reach = std::min(axis.in, o * w.stride - w.padding_low + w.size);
      for (; next < reach; ++next) {
        if (stop.Stops(lanes)) return false;
        ApplyLanes(lanes, total, total, in + next * lanes);
      }
      if (stop.Stops(lanes)) return false;
      std::copy_n(total, lanes, out + o * lanes);
    }
    return true;
  }

  static bool RunSuffix(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    const hlo::WindowDimension& w = axis.window;
    Total* const total = out + axis.out * lanes;
    std::fill_n(total, lanes, static_cast<Total>(Op::Identity()));
    int64_t next = axis.in;
    for (int64_t o = axis.out; o-- > 0;) {
      const int64_t reach = std::max<int64_t>(0, o * w.stride - w.padding_low);
      while (next > reach) {
        if (stop.Stops(lanes)) return false;
        --next;
        ApplyLanes(lanes, total, total, in + next * lanes);
      }
      if (stop.Stops(lanes)) return false;
      std::copy_n(total, lanes, out + o * lanes);
    }
    return true;
  }

  static bool RunEach(const WindowAxis& axis, const Total* in, Total* out, int64_t lanes, StopCheck& stop) {
    for (int64_t o = 0; o < axis.out; ++o) {
      std::fill_n(out + o * lanes, lanes, static_cast<Total>(Op::Identity()));
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
    std::fill_n(nothing, lanes, static_cast<Total>(Op::Identity()));
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

  std::vector<Pass> passes_;
  bool streaming_;
  int workers_;
  int64_t elements_ = 0, outputs_ = 0;
  int64_t line_bytes_, between_bytes_;
};

}  // namespace

MaybeStep MakeScanWindowStep(hlo::Instruction instruction, const WindowAxes& axes, ScalarReducer reducer,
                             int threads) {
  MaybeStep step;
  if (Elements(instruction.operand(0).shape()) == 0) return step;
  const auto make = [&]<typename Op>() {
    const int workers = std::max(1, threads);
    const int64_t total_bytes = sizeof(typename ScanWindowStep<Op>::Total);
    std::optional<Layout> layout = LayOut(instruction.operand(0).shape(), axes, workers, total_bytes);
    if (layout) step = std::make_unique<ScanWindowStep<Op>>(instruction, *std::move(layout), workers);
  };
  const hlo::PrimitiveType type = instruction.shape().type;
  if (!VisitReducer(reducer, type, make)) VisitSmallestReducer(reducer, type, make);
  return step;
}

}  // namespace hlod::engine
