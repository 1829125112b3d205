// Concatenations of two to four arrays element by element, such as the stack of real and imaginary parts, or
// of the coordinates of points: the tuples are written at once, by shuffles of vectors.
#include <algorithm>
#include <vector>

#include "server/engine/movement/movement.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

constexpr uint32_t kCountMax = 4;
constexpr int64_t kTuplesMin = 16;  // Fewer are copied as boxes, which loops of machine code do themselves.

class InterleaveStep final : public MovementStep {
 public:
  InterleaveStep(hlo::Instruction instruction, std::vector<int64_t> offsets, int64_t tuples, int width)
      : MovementStep(instruction), offsets_(std::move(offsets)), tuples_(tuples), width_(width) {}

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const auto count = static_cast<int64_t>(offsets_.size());
    return ParallelPieces(context, tuples_, tuples_ * count, [&](int64_t begin, int64_t end, int) {
      const std::byte* from[kCountMax];
      for (int64_t i = 0; i < count; ++i)
        from[i] = inputs[i] + offsets_[static_cast<size_t>(i)] + begin * width_;
      Interleave(from, static_cast<int>(count), end - begin, outputs[0] + begin * count * width_, width_);
    });
  }

 private:
  const std::vector<int64_t> offsets_;  // In bytes.
  const int64_t tuples_;
  const int width_;
};

// Returns true if an array of these dimensions is read from one element to the next.
bool IsDense(const hlo::Dims& dims, const hlo::Dims& strides) {
  const hlo::Dims dense = hlo::RowMajorStrides(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1 && strides[d] != dense[d]) return false;
  }
  return true;
}

}  // namespace

MaybeStep MakeInterleaveStep(hlo::Instruction instruction) {
  const hlo::Shape& out = instruction.shape();
  const auto dimension = static_cast<size_t>(instruction.dimensions()[0]);
  const uint32_t count = instruction.operand_count();
  const int64_t tuples = Elements(out) / std::max<int64_t>(1, count);
  if (count < 2 || count > kCountMax || tuples < kTuplesMin || Width(out) > 8) return nullptr;
  std::vector<int64_t> offsets;
  for (uint32_t i = 0; i < count; ++i) {
    const hlo::Dims& dims = instruction.operand(i).shape().dims;
    const StridedRead read = ReadOfOperand(instruction, i);
    const bool single = std::all_of(dims.begin() + static_cast<ptrdiff_t>(dimension), dims.end(),
                                    [](int64_t size) { return size == 1; });
    if (!single || !IsDense(dims, read.strides)) return nullptr;
    offsets.push_back(read.offset * Width(out));
  }
  return std::make_unique<InterleaveStep>(instruction, std::move(offsets), tuples, Width(out));
}

}  // namespace hlod::engine
