// The axes of windows, and the choice of a step for a reduce-window.
#include "server/engine/reduce/window.h"

#include <algorithm>

#include "server/engine/reduce/reduce_steps.h"

namespace hlod::engine {
namespace {

// The number of positions up to which reading each one is as fast as any other method, and as a running
// total.
constexpr int64_t kSmallWindow = 32, kSmallRunningWindow = 4;
// The same for windows whose outputs are computed in registers: reading and adding a vector takes little
// beside the passes of other methods, which take some positions' time for each element of the operand.
constexpr int64_t kVectorWindow = 128, kPositionsPerElement = 49;
// The rows, in widths of the window, from which on few columns are at their edges, which are computed one by
// one.
constexpr int64_t kWidthsARow = 4;

// Returns true if reading each position is as fast as any other method.
bool IsSmallWindow(const WindowAxes& axes, hlo::Instruction instruction) {
  const int64_t positions = WindowPositions(axes);
  if (positions <= kSmallWindow) return true;
  if (positions > kVectorWindow || !ReadsWindowInVectors(axes)) return false;
  constexpr int kWidthMin = 4;  // Narrower numbers are converted at each position.
  if (hlo::ByteWidth(instruction.shape().type) < kWidthMin) return false;
  const auto last =
      std::find_if_not(axes.rbegin(), axes.rend(), [](const WindowAxis& a) { return a.IsTrivial(); });
  if (last->window.size * kWidthsARow > last->in) return false;
  const int64_t read = Elements(instruction.operand(0).shape()), made = Elements(instruction.shape());
  return made <= INT64_MAX / kVectorWindow && made * positions / kPositionsPerElement <= read;
}

MaybeStep MakeReduceWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  const hlo::PrimitiveType type = instruction.operand(0).shape().type;
  MaybeStep step;
  if (instruction.operand_count() == 2 && instruction.shape().type == type &&
      instruction.operand(1).shape().type == type) {
    const ScalarReducer reducer = RecogniseReducer(module.computation(instruction.called()[0]));
    const hlo::Window& window = instruction.attributes<hlo::WindowAttributes>().window;
    const WindowAxes axes = MakeWindowAxes(instruction.operand(0).shape(), instruction.shape(), window);
    const int64_t positions = WindowPositions(axes);
    if (positions > kSmallRunningWindow)
      step = MakeScanWindowStep(instruction, axes, reducer, threads,
                                /*only_running=*/IsSmallWindow(axes, instruction));
    if (step == nullptr) step = MakeDirectWindowStep(instruction, axes, reducer);
  }
  return step != nullptr ? std::move(step) : MakeGeneralWindowStep(module, instruction, threads);
}

}  // namespace

WindowAxes MakeWindowAxes(const hlo::Shape& in, const hlo::Shape& out, const hlo::Window& window) {
  const hlo::Dims in_strides = hlo::RowMajorStrides(in.dims), out_strides = hlo::RowMajorStrides(out.dims);
  WindowAxes axes;
  for (size_t d = 0; d < window.size(); ++d) {
    axes.push_back({in.dims[d], out.dims[d], in_strides[d], out_strides[d], window[d]});
  }
  return axes;
}

int64_t WindowPositions(const WindowAxes& axes) {
  int64_t positions = 1;
  for (const WindowAxis& axis : axes) {
    positions = CheckedMultiply(positions, axis.window.size).value_or(INT64_MAX);
  }
  return positions;
}

MaybeStep MakeWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction)) return nullptr;
  if (instruction.opcode() == hlo::kReduceWindow) return MakeReduceWindowStep(module, instruction, threads);
  if (instruction.opcode() == hlo::kSelectAndScatter)
    return MakeSelectAndScatterStep(module, instruction, threads);
  return nullptr;
}

}  // namespace hlod::engine
