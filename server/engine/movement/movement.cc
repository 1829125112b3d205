// The movement steps that are one strided copy from one operand: transpose, broadcast, reverse, slice, copy,
// reshape, bitcast-convert.
#include "server/engine/movement/movement.h"

#include <cstring>
#include <optional>

#include "common/hlo/bitcast.h"
#include "server/engine/movement/movement_steps.h"
#include "server/engine/run/parallel.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

class CopyStep final : public MovementStep {
 public:
  // The output's first element is `offset` bytes into the operand.
  CopyStep(hlo::Instruction instruction, CopyNd copy, int64_t offset, bool identity)
      : MovementStep(instruction), copy_(std::move(copy)), offset_(offset) {
    if (identity) Share(0, 0);  // If the memory is shared, the step does nothing.
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (inputs[0] == outputs[0]) return absl::OkStatus();
    return copy_.Run(inputs[0] + offset_, outputs[0], context);
  }

 private:
  CopyNd copy_;
  int64_t offset_;
};

// The strides, in elements, of what the step reads, in the order of the output's dimensions, and the first
// element.
struct StridedView {
  hlo::Dims strides;
  int64_t start = 0;
};

std::optional<StridedView> ViewOf(hlo::Instruction instruction) {
  const hlo::Shape& in = instruction.operand(0).shape();
  const hlo::Shape& out = instruction.shape();
  const StridedRead read = ReadOfOperand(instruction, 0);
  const hlo::Dims& in_strides = read.strides;
  StridedView view{hlo::Dims(out.dims.size(), 0), read.offset};
  switch (instruction.opcode()) {
    case hlo::kTranspose: {
      const hlo::Dims& permutation = instruction.dimensions();
      for (size_t i = 0; i < permutation.size(); ++i) view.strides[i] = in_strides[permutation[i]];
      return view;
    }
    case hlo::kBroadcast: {
      const hlo::Dims& dimensions = instruction.dimensions();
      for (size_t i = 0; i < dimensions.size(); ++i) view.strides[dimensions[i]] = in_strides[i];
      return view;
    }
    case hlo::kReverse: {
      view.strides = in_strides;
      for (int64_t d : instruction.dimensions()) {
        view.start += (in.dims[d] - 1) * in_strides[d];
        view.strides[d] = -in_strides[d];
      }
      return view;
    }
    case hlo::kSlice: {
      const auto& slice = instruction.attributes<hlo::SliceAttributes>();
      for (size_t i = 0; i < in_strides.size(); ++i) {
        view.start += slice.start[i] * in_strides[i];
        // A slice of one element may have any step.
        const bool steps = !slice.stride.empty() && out.dims[i] > 1;
        if (__builtin_mul_overflow(in_strides[i], steps ? slice.stride[i] : 1, &view.strides[i]))
          view.strides[i] = 0;  // The array is empty.
      }
      return view;
    }
    default: return std::nullopt;
  }
}

// Returns true when the bytes of `from` are the bytes of `to`. Sub-byte types are stored as one byte per
// element, so this holds for them only if the types are equal.
bool SameBytes(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  if (from == to) return true;
  const auto whole = [](hlo::PrimitiveType type) {
    return hlo::Info(type).bits % 8 == 0 && type != hlo::kPred;
  };
  return whole(from) && whole(to);
}

}  // namespace

MaybeStep MakeMovementStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (!AllStatic(instruction) || !instruction.shape().IsArray()) return nullptr;
  switch (instruction.opcode()) {
    case hlo::kTranspose:
    case hlo::kBroadcast:
    case hlo::kReverse:
    case hlo::kSlice: {
      const StridedView view = *ViewOf(instruction);
      const hlo::Shape& out = instruction.shape();
      if (Elements(out) == 0) return std::make_unique<CopyStep>(instruction, CopyNd(), 0, false);
      return std::make_unique<CopyStep>(
          instruction, MakeCopyNd(out.dims, view.strides, hlo::RowMajorStrides(out.dims), Width(out)),
          view.start * Width(out), false);
    }
    case hlo::kBitcast:
      if (!hlo::IsRowMajor(instruction.shape()) || !hlo::IsRowMajor(instruction.operand(0).shape()))
        return nullptr;
      [[fallthrough]];
    case hlo::kBitcastConvert:
      if (!SameBytes(instruction.operand(0).shape().type, instruction.shape().type)) return nullptr;
      [[fallthrough]];
    case hlo::kReshape:
    case hlo::kCopy: {
      const int64_t bytes = Bytes(instruction.shape());
      if (bytes != Bytes(instruction.operand(0).shape())) return nullptr;
      const CopyDim run{bytes, 1, 1};
      return std::make_unique<CopyStep>(instruction, CopyNd(absl::MakeConstSpan(&run, 1), 1), 0, true);
    }
    case hlo::kDynamicSlice: return MakeDynamicSliceStep(instruction);
    case hlo::kDynamicUpdateSlice: return MakeDynamicUpdateSliceStep(instruction);
    case hlo::kPad: return MakePadStep(instruction);
    case hlo::kConcatenate: return MakeConcatenateStep(instruction);
    case hlo::kIota: return MakeIotaStep(instruction);
    default: return nullptr;
  }
}

}  // namespace hlod::engine
