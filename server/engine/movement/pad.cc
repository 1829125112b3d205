// pad and concatenate: outputs composed of boxes, each of which is one strided copy.
#include <algorithm>
#include <vector>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "server/engine/movement/movement.h"
#include "server/engine/tile/view.h"

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

// The effect of padding on one dimension: operand elements [begin, end) remain after negative padding. They
// go to first, first + step, ...
struct PadSpan {
  int64_t begin, end, first, step;
  int64_t count() const { return end - begin; }
};
using PadSpans = absl::InlinedVector<PadSpan, 6>;

PadSpans SpansOf(hlo::Instruction instruction) {
  const hlo::Shape& in = instruction.operand(0).shape();
  const hlo::Shape& out = instruction.shape();
  const auto& padding = instruction.attributes<hlo::PadAttributes>().dimensions;
  PadSpans spans;
  for (int64_t d = 0; d < out.rank(); ++d) {
    const int64_t step = padding[d].interior + 1, low = padding[d].low;
    const int64_t begin = low >= 0 ? 0 : CeilDiv(-low, step);
    // The last position of the output, counted from operand element 0.
    const int64_t room = out.dims[d] - 1 - low;
    const int64_t end = room < 0 ? 0 : std::min(in.dims[d], room / step + 1);
    spans.push_back({begin, end, low + begin * step, step});
  }
  return spans;
}

// Appends the box that fills part of the output, unless it is empty.
void AddFill(const hlo::Shape& out, const hlo::Dims& sizes, int64_t dst_offset,
             std::vector<BoxesStep::Box>& boxes) {
  const hlo::Dims no_strides(out.dims.size(), 0);
  CopyNd copy = MakeCopyNd(sizes, no_strides, hlo::RowMajorStrides(out.dims), Width(out));
  if (copy.elements() > 0) boxes.push_back({1, 0, dst_offset * Width(out), std::move(copy)});
}

// Fills only the frame: for each dimension the slabs before and after, inside the kept range of the earlier
// dimensions.
void AddFrame(const hlo::Shape& out, const PadSpans& spans, std::vector<BoxesStep::Box>& boxes) {
  const hlo::Dims strides = hlo::RowMajorStrides(out.dims);
  hlo::Dims sizes(out.dims);
  int64_t offset = 0;
  for (int64_t d = 0; d < out.rank(); ++d) {
    const int64_t kept = spans[d].count(), after = spans[d].first + kept;
    sizes[d] = spans[d].first;
    AddFill(out, sizes, offset, boxes);
    sizes[d] = out.dims[d] - after;
    AddFill(out, sizes, offset + after * strides[d], boxes);
    sizes[d] = kept;
    offset += spans[d].first * strides[d];
  }
}

BoxesStep::Box KeptBox(const StridedRead& in, const hlo::Shape& out, const PadSpans& spans) {
  const hlo::Dims out_strides = hlo::RowMajorStrides(out.dims);
  const int width = Width(out);
  hlo::Dims sizes, steps;
  int64_t src_offset = in.offset, dst_offset = 0;
  for (int64_t d = 0; d < out.rank(); ++d) {
    sizes.push_back(spans[d].count());
    steps.push_back(out_strides[d] * spans[d].step);
    src_offset += spans[d].begin * in.strides[d];
    dst_offset += spans[d].first * out_strides[d];
  }
  return {0, src_offset * width, dst_offset * width, MakeCopyNd(sizes, in.strides, steps, width)};
}

// Returns the copies that make a padded array of a few elements, one for each element; none if there are
// more.
StepCopies CopiesOfPad(hlo::Instruction instruction) {
  StepCopies copies;
  const hlo::Shape &in = instruction.operand(0).shape(), &out = instruction.shape();
  const int64_t width = Width(out), count = Elements(out);
  if (count > static_cast<int64_t>(StepCopies::kCopiesMax)) return copies;
  const StridedRead read = ReadOfOperand(instruction, 0);
  const auto& padding = instruction.attributes<hlo::PadAttributes>().dimensions;
  for (int64_t e = 0; e < count; ++e) {
    int64_t from = read.offset, left = e;
    bool inside = true;
    for (int64_t d = out.rank(); d-- > 0;) {
      const int64_t step = padding[d].interior + 1, place = left % out.dims[d] - padding[d].low;
      inside = inside && place >= 0 && place % step == 0 && place / step < in.dims[d];
      from += place / step * read.strides[d];
      left /= out.dims[d];
    }
    if (inside) copies.copies.push_back({0, from * width, e * width, width});
    else copies.copies.push_back({1, 0, e * width, width});
  }
  return copies;
}

}  // namespace

MaybeStep MakePadStep(hlo::Instruction instruction) {
  const hlo::Shape& out = instruction.shape();
  const PadSpans spans = SpansOf(instruction);
  const bool empty = std::ranges::any_of(spans, [](const PadSpan& span) { return span.count() <= 0; });
  const bool interior =
      std::ranges::any_of(spans, [](const PadSpan& span) { return span.step > 1 && span.count() > 1; });
  std::vector<BoxesStep::Box> boxes;
  if (empty || interior) {
    AddFill(out, out.dims, 0, boxes);
  } else {
    AddFrame(out, spans, boxes);
  }
  if (!empty) boxes.push_back(KeptBox(ReadOfOperand(instruction, 0), out, spans));
  auto step = std::make_unique<BoxesStep>(instruction, std::move(boxes));
  if (StepCopies copies = CopiesOfPad(instruction); !copies.copies.empty())
    step->OfferCopies(std::move(copies));
  return step;
}

MaybeStep MakeConcatenateStep(hlo::Instruction instruction) {
  if (MaybeStep step = MakeInterleaveStep(instruction); step != nullptr) return step;
  const hlo::Shape& out = instruction.shape();
  const int64_t dimension = instruction.dimensions()[0];
  const hlo::Dims out_strides = hlo::RowMajorStrides(out.dims);
  std::vector<BoxesStep::Box> boxes;
  int64_t at = 0;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::Shape& in = instruction.operand(i).shape();
    const StridedRead read = ReadOfOperand(instruction, i);
    CopyNd copy = MakeCopyNd(in.dims, read.strides, out_strides, Width(out));
    if (copy.elements() > 0) {
      boxes.push_back({static_cast<int>(i), read.offset * Width(out),
                       at * out_strides[dimension] * Width(out), std::move(copy)});
    }
    at += in.dims[dimension];
  }
  StepCopies copies;
  for (const BoxesStep::Box& box : boxes)
    copies.copies.push_back({box.input, box.src_offset, box.dst_offset, box.copy.contiguous_bytes()});
  auto step = std::make_unique<BoxesStep>(instruction, std::move(boxes));
  step->OfferCopies(std::move(copies));
  return step;
}

}  // namespace hlod::engine
