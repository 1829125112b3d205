// Windows over arrays: the iteration that reduce-window and select-and-scatter share, and the factories of
// their steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/base/arithmetic.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/reducer.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {

// One dimension under a window.
struct WindowAxis {
  int64_t in = 1, out = 1;                // The sizes of the operand and of the windowed result.
  int64_t in_stride = 0, out_stride = 0;  // The strides in elements.
  hlo::WindowDimension window;

  // Returns the operand's index under window position `k` of output `o`, or -1 for padding and the holes of
  // base dilation.
  int64_t Source(int64_t o, int64_t k) const {
    const int64_t at = o * window.stride + k * window.window_dilation - window.padding_low;
    if (at < 0 || at % window.base_dilation != 0) return -1;
    const int64_t index = at / window.base_dilation;
    return index < in ? index : -1;
  }
  // The window positions at which an output in [low, high] can have an element; at the others it has only
  // padding.
  struct Range {
    int64_t begin, end;
  };
  Range Positions(int64_t low, int64_t high) const {
    // The last index of the dilated operand; negative if that is empty.
    const int64_t last = (in - 1) * window.base_dilation;
    const int64_t first = window.padding_low - high * window.stride;
    const int64_t past = window.padding_low + last - low * window.stride;
    if (in == 0 || past < 0) return {0, 0};
    return {first <= 0 ? 0 : CeilDiv(first, window.window_dilation),
            std::min(window.size, past / window.window_dilation + 1)};
  }
  // Returns true when the window returns elements unchanged.
  bool IsTrivial() const {
    return window.size == 1 && window.stride == 1 && window.padding_low == 0 && window.padding_high == 0 &&
           window.base_dilation == 1;
  }
};
using WindowAxes = absl::InlinedVector<WindowAxis, 6>;

// Iterates over the positions of a window over several axes, the last axis fastest, within a range per axis.
class WindowWalk {
 public:
  // REQUIRES: each axis has a range, and there are at most hlo::kMaxRank.
  void Start(size_t axes) {
    axes_ = axes;
    valid_ = true;
  }
  void Limit(size_t axis, WindowAxis::Range range) {
    begin_[axis] = position_[axis] = range.begin;
    end_[axis] = range.end;
    valid_ = valid_ && range.begin < range.end;
  }
  bool valid() const { return valid_; }
  int64_t operator[](size_t axis) const { return position_[axis]; }
  void Next() {
    size_t d = axes_;
    while (d > 0 && ++position_[d - 1] == end_[d - 1]) {
      --d;
      position_[d] = begin_[d];
    }
    valid_ = d > 0;
  }

 private:
  size_t axes_ = 0;
  bool valid_ = false;
  int64_t begin_[hlo::kMaxRank], end_[hlo::kMaxRank], position_[hlo::kMaxRank];
};

// Returns the axes of a window over `in` whose result has the dimensions of `out`. Reversal has no effect for
// either opcode.
WindowAxes MakeWindowAxes(const hlo::Shape& in, const hlo::Shape& out, const hlo::Window& window);

// Returns the number of positions in one window, at most INT64_MAX.
int64_t WindowPositions(const WindowAxes& axes);

// Defined in window_scan.cc: for large windows of recognised reducers, one dimension at a time with constant
// work per element. With `only_running`, only for windows that are running totals along one dimension.
// Returns null if another method is faster.
MaybeStep MakeScanWindowStep(hlo::Instruction instruction, const WindowAxes& axes, ScalarReducer reducer,
                             int threads, bool only_running);
// Returns true if the direct step joins the elements of windows as vectors, in registers.
bool ReadsWindowInVectors(const WindowAxes& axes);
// Defined in window_direct.cc: reads the whole window for each output. Returns null for other reducers than
// the recognised ones. REQUIRES: one operand, whose type is the result's.
MaybeStep MakeDirectWindowStep(hlo::Instruction instruction, const WindowAxes& axes, ScalarReducer reducer);
// Defined in window_running.cc: for windows that grow by an element from one output to the next, of any
// reducer. Returns null, and leaves `function`, for others.
MaybeStep MakeRunningWindowStep(hlo::Instruction instruction, const WindowAxes& axes,
                                std::unique_ptr<ScalarFunction>& function, int threads);
// Defined in window_general.cc: for several operands and any reducer.
MaybeStep MakeGeneralWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// Defined in select_and_scatter.cc.
MaybeStep MakeSelectAndScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
