// pad and concatenate: outputs composed of boxes, each of which is one strided copy.
#include <algorithm>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "server/engine/movement/movement.h"

namespace hlod::engine {
namespace {

// Copies boxes into the output, one after the other.
class BoxesStep final : public MovementStep {
 public:
  struct Box {
    int input;
    int64_t src_offset, dst_offset;  // Offsets in bytes.
    CopyNd copy;
  };
  BoxesStep(hlo::Instruction instruction, std::vector<Box> boxes)
      : MovementStep(instruction), boxes_(std::move(boxes)) {}

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    for (const Box& box : boxes_) {
      RETURN_IF_ERROR(box.copy.Run(inputs[box.input] + box.src_offset, outputs[0] + box.dst_offset, context));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Box> boxes_;
};

}  // namespace

MaybeStep MakePadStep(hlo::Instruction instruction) {
  const hlo::Shape& in = instruction.operand(0).shape();
  const hlo::Shape& out = instruction.shape();
  const auto& padding = instruction.attributes<hlo::PadAttributes>().dimensions;
  const hlo::Dims in_strides = hlo::RowMajorStrides(in.dims), out_strides = hlo::RowMajorStrides(out.dims);
  const int width = Width(out);
  std::vector<BoxesStep::Box> boxes;

  // For one dimension: operand elements [begin, end) remain after negative padding. They go to first, first +
  // step, ...
  struct Span {
    int64_t begin, end, first, step;
  };
  absl::InlinedVector<Span, 6> spans;
  bool interior = false, empty = false;
  for (int64_t d = 0; d < out.rank(); ++d) {
    const int64_t step = padding[d].interior + 1, low = padding[d].low;
    const int64_t begin = low >= 0 ? 0 : CeilDiv(-low, step);
    // The last position of the output, counted from operand element 0.
    const int64_t room = out.dims[d] - 1 - low;
    const int64_t end = room < 0 ? 0 : std::min(in.dims[d], room / step + 1);
    spans.push_back({begin, end, low + begin * step, step});
    if (end <= begin) empty = true;
    if (padding[d].interior > 0 && end - begin > 1) interior = true;
  }

  const hlo::Dims no_strides(out.dims.size(), 0);
  const auto fill = [&](const hlo::Dims& sizes, int64_t dst_offset) {
    CopyNd copy = MakeCopyNd(sizes, no_strides, out_strides, width);
    if (copy.elements() > 0) boxes.push_back({1, 0, dst_offset * width, std::move(copy)});
  };
  if (empty || interior) {
    fill(out.dims, 0);
  } else {
    // Fills only the frame: for each dimension the slabs before and after, inside the kept range of the
    // earlier dimensions.
    hlo::Dims sizes(out.dims);
    int64_t offset = 0;
    for (int64_t d = 0; d < out.rank(); ++d) {
      const int64_t kept = spans[d].end - spans[d].begin, after = spans[d].first + kept;
      sizes[d] = spans[d].first;
      fill(sizes, offset);
      sizes[d] = out.dims[d] - after;
      fill(sizes, offset + after * out_strides[d]);
      sizes[d] = kept;
      offset += spans[d].first * out_strides[d];
    }
  }
  if (!empty) {
    hlo::Dims sizes, steps;
    int64_t src_offset = 0, dst_offset = 0;
    for (int64_t d = 0; d < out.rank(); ++d) {
      sizes.push_back(spans[d].end - spans[d].begin);
      steps.push_back(out_strides[d] * spans[d].step);
      src_offset += spans[d].begin * in_strides[d];
      dst_offset += spans[d].first * out_strides[d];
    }
    boxes.push_back({0, src_offset * width, dst_offset * width, MakeCopyNd(sizes, in_strides, steps, width)});
  }
  return std::make_unique<BoxesStep>(instruction, std::move(boxes));
}

MaybeStep MakeConcatenateStep(hlo::Instruction instruction) {
  const hlo::Shape& out = instruction.shape();
  const int64_t dimension = instruction.dimensions()[0];
  const hlo::Dims out_strides = hlo::RowMajorStrides(out.dims);
  std::vector<BoxesStep::Box> boxes;
  int64_t at = 0;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::Shape& in = instruction.operand(i).shape();
    CopyNd copy = MakeCopyNd(in.dims, hlo::RowMajorStrides(in.dims), out_strides, Width(out));
    if (copy.elements() > 0) {
      boxes.push_back({static_cast<int>(i), 0, at * out_strides[dimension] * Width(out), std::move(copy)});
    }
    at += in.dims[dimension];
  }
  return std::make_unique<BoxesStep>(instruction, std::move(boxes));
}

}  // namespace hlod::engine
