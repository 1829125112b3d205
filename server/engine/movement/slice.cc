// dynamic-slice and dynamic-update-slice: copies of a window whose start is read while running and clamped
// into the array.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/movement/movement.h"

namespace hlod::engine {
namespace {

// The start of a window: one scalar index operand per dimension, each clamped so that the window fits.
class WindowStart {
 public:
  // The index operands are `first`, `first` + 1, ...; one operand of rank 1 (an old form) holds all of them.
  WindowStart(hlo::Instruction instruction, int first, absl::Span<const int64_t> window) : first_(first) {
    const hlo::Shape& operand = instruction.operand(0).shape();
    const hlo::Dims strides = hlo::RowMajorStrides(operand.dims);
    if (operand.rank() == 0) return;
    const hlo::Shape& index = instruction.operand(first).shape();
    packed_ = index.rank() == 1;
    type_ = index.type;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      dims_.push_back({operand.dims[d] - window[d], strides[d] * Width(operand)});
    }
  }

  // Returns the offset in bytes of the window's first element in the array.
  int64_t Offset(const std::byte* const* inputs) const {
    int64_t offset = 0;
    for (size_t d = 0; d < dims_.size(); ++d) {
      const std::byte* element = packed_ ? inputs[first_] + d * hlo::ByteWidth(type_) : inputs[first_ + d];
      offset += std::clamp<int64_t>(ReadInteger(element, type_), 0, dims_[d].last) * dims_[d].stride;
    }
    return offset;
  }

  // Returns the same for a loop of machine code; nullopt for types of indices that this does not read.
  std::optional<std::vector<StepCopies::Index>> Indices() const {
    if (packed_ || (!dims_.empty() && type_ != hlo::kS32 && type_ != hlo::kS64)) return std::nullopt;
    std::vector<StepCopies::Index> indices;
    for (size_t d = 0; d < dims_.size(); ++d) {
      const int input = first_ + static_cast<int>(d);
      if (dims_[d].last > 0)
        indices.push_back({input, 0, type_ == hlo::kS64, dims_[d].last, dims_[d].stride});
    }
    return indices;
  }

 private:
  struct Dim {
    int64_t last, stride;  // The largest start; bytes per index.
  };
  int first_;
  bool packed_ = false;
  hlo::PrimitiveType type_ = hlo::kInvalid;
  std::vector<Dim> dims_;
};

class DynamicSliceStep final : public MovementStep {
 public:
  explicit DynamicSliceStep(hlo::Instruction instruction)
      : MovementStep(instruction),
        start_(instruction, 1, instruction.shape().dims),
        copy_(MakeCopyNd(instruction.shape().dims, hlo::RowMajorStrides(instruction.operand(0).shape().dims),
                         hlo::RowMajorStrides(instruction.shape().dims), Width(instruction.shape()))) {
    if (auto indices = start_.Indices())
      OfferCopies({.indices = *std::move(indices), .copies = {{0, 0, 0, copy_.contiguous_bytes()}}});
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    return copy_.Run(inputs[0] + start_.Offset(inputs), outputs[0], context);
  }

 private:
  WindowStart start_;
  CopyNd copy_;
};

class DynamicUpdateSliceStep final : public MovementStep {
 public:
  explicit DynamicUpdateSliceStep(hlo::Instruction instruction)
      : MovementStep(instruction), start_(instruction, 2, instruction.operand(1).shape().dims) {
    const hlo::Shape& array = instruction.shape();
    const hlo::Shape& window = instruction.operand(1).shape();
    const CopyDim run{Bytes(array), 1, 1};
    if (Elements(window) != Elements(array)) whole_ = CopyNd(absl::MakeConstSpan(&run, 1), 1);
    window_ = MakeCopyNd(window.dims, hlo::RowMajorStrides(window.dims), hlo::RowMajorStrides(array.dims),
                         Width(array));
    Share(0, 0);
    if (auto indices = start_.Indices()) {
      OfferCopies({.indices = *std::move(indices),
                   .updates = true,
                   .copies = {{1, 0, 0, window_.contiguous_bytes()}}});
    }
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const int64_t offset = start_.Offset(inputs);
    if (inputs[0] != outputs[0]) RETURN_IF_ERROR(whole_.Run(inputs[0], outputs[0], context));
    return window_.Run(inputs[1], outputs[0] + offset, context);
  }

 private:
  WindowStart start_;
  CopyNd whole_, window_;  // `whole_` is empty when the window covers the array.
};

}  // namespace

MaybeStep MakeDynamicSliceStep(hlo::Instruction instruction) {
  return std::make_unique<DynamicSliceStep>(instruction);
}
MaybeStep MakeDynamicUpdateSliceStep(hlo::Instruction instruction) {
  return std::make_unique<DynamicUpdateSliceStep>(instruction);
}

}  // namespace hlod::engine
