// Combines the partial results of a reduction at the end of a fused group.
#include "server/engine/tile/fused_reduction.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "server/engine/tile/reduce_pattern.h"
#include "server/engine/tile/view.h"

namespace hlod::engine {
namespace {

template <typename T>
T NeutralOf(FoldOp op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case FoldOp::kAdd: return Limits::has_infinity ? static_cast<T>(-0.0) : T{0};
    case FoldOp::kMultiply: return T{1};
    case FoldOp::kMinimum: return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case FoldOp::kMaximum: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case FoldOp::kAnd:
      if constexpr (Limits::is_integer) return static_cast<T>(~T{0});
      return T{};
    case FoldOp::kOr:
    case FoldOp::kXor: return T{};
  }
  return T{};
}

template <typename T>
void StoreNeutral(FoldOp op, std::byte* element) {
  const T value = NeutralOf<T>(op);
  std::memcpy(element, &value, sizeof(T));
}

}  // namespace

std::optional<FusedReduction> FusedReduction::Make(const hlo::Module& module,
                                                   const hlo::Computation& computation, hlo::Instruction reduce,
                                                   const std::vector<hlo::NodeId>& inputs, int kept, int output) {
  const TileOps& ops = GetTileOps();
  const hlo::PrimitiveType type = reduce.shape().type;
  FusedReduction r;
  r.output_ = output;
  r.fold_.kept = kept;
  CarrierOf(type, &r.fold_.carrier);
  r.fold_.op = FoldOpOf(module, reduce);
  const FoldOp op = r.fold_.op;
  const bool in_double = FoldsInDouble(op, r.carrier());
  if (in_double && r.carrier() == Carrier::kF32) {
    r.widen_ = ops.convert(Carrier::kF32, Carrier::kF64);
    r.round_ = ops.convert(Carrier::kF64, Carrier::kF32);
  }
  r.load_ = ops.load(type);
  r.store_ = ops.store(type);
  r.width_ = hlo::ByteWidth(type);
  r.fold_all_ = ops.fold(op, r.carrier());
  r.fold_columns_ = ops.fold_columns(op, r.carrier());
  r.fold_rows_ = ops.fold_rows(op, r.carrier());
  r.fold_groups_ = ops.fold_groups(op, r.carrier());
  r.join_columns_ = ops.fold_columns(op, in_double ? Carrier::kF64 : r.carrier());
  const View init = ResolveView(computation, reduce.operands()[1], 1);
  const hlo::Instruction base = computation[init.base];
  const auto input = std::find(inputs.begin(), inputs.end(), init.base);
  if (input != inputs.end()) {
    r.init_input_ = static_cast<int>(input - inputs.begin());
    if (init.offset != 0) return std::nullopt;
  } else if (base.opcode() == hlo::kConstant && base.literal().element_count() == 1) {
    std::memcpy(r.init_, base.literal().bytes().data(), base.literal().bytes().size());
  } else {
    return std::nullopt;
  }
  return r;
}

void FusedReduction::Start(const std::byte* const* inputs, std::byte* accumulators, int n) const {
  const std::byte* init = init_input_ >= 0 ? inputs[init_input_] : init_;
  alignas(8) std::byte wide[8], element[8];
  if (load_ != nullptr) load_(wide, init, nullptr, nullptr, 1, 0);
  else std::memcpy(wide, init, static_cast<size_t>(width_));
  if (widen_ != nullptr) widen_(element, wide, nullptr, nullptr, 1, 0);
  else std::memcpy(element, wide, 8);
  Fill(element, accumulator_bytes(), n, accumulators);
}

void FusedReduction::Neutral(std::byte* element) const {
  const FoldOp op = fold_.op;
  if (FoldsInDouble(op, carrier())) return StoreNeutral<double>(op, element);
  switch (carrier()) {
    case Carrier::kPred: {  // A byte of 0 or 1.
      const bool all = op == FoldOp::kAnd || op == FoldOp::kMultiply || op == FoldOp::kMinimum;
      *element = static_cast<std::byte>(all ? 1 : 0);
      return;
    }
    case Carrier::kI8: return StoreNeutral<int8_t>(op, element);
    case Carrier::kU8: return StoreNeutral<uint8_t>(op, element);
    case Carrier::kI16: return StoreNeutral<int16_t>(op, element);
    case Carrier::kU16: return StoreNeutral<uint16_t>(op, element);
    case Carrier::kI32: return StoreNeutral<int32_t>(op, element);
    case Carrier::kU32: return StoreNeutral<uint32_t>(op, element);
    case Carrier::kI64: return StoreNeutral<int64_t>(op, element);
    case Carrier::kU64: return StoreNeutral<uint64_t>(op, element);
    case Carrier::kF32: return StoreNeutral<float>(op, element);
    case Carrier::kF64: return StoreNeutral<double>(op, element);
    case Carrier::kC64:
    case Carrier::kC128: return;
  }
}

void FusedReduction::StartNeutral(std::byte* accumulators, int n) const {
  alignas(8) std::byte element[8] = {};
  Neutral(element);
  Fill(element, accumulator_bytes(), n, accumulators);
}

void FusedReduction::Finish(std::byte* const* outputs, const std::byte* accumulators, int64_t first, int n,
                            std::byte* temporary) const {
  const void* values = accumulators;
  if (round_ != nullptr) {
    round_(temporary, values, nullptr, nullptr, n, 0);
    values = temporary;
  }
  std::byte* out = outputs[output_] + first * width_;
  if (store_ != nullptr) store_(out, values, nullptr, nullptr, n, 0);
  else std::memcpy(out, values, static_cast<size_t>(n) * width_);
}

}  // namespace hlod::engine
