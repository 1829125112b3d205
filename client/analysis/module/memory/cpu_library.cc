// One rule per kind of instruction, by types, sizes and the order of dimensions.
#include "client/analysis/module/memory/cpu_library.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace hlod::analysis {
namespace {

using hlo::Instruction;
using hlo::Shape;

// Anything smaller is not worth a call of the library.
constexpr int64_t kElementsMin = 4096;
constexpr int64_t kProductMin = 8;

bool HasMany(const Shape& shape) { return hlo::ElementCount(shape).value_or(0) >= kElementsMin; }

bool IsLarge(Instruction i) {
  if (HasMany(i.shape())) return true;
  for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
    if (HasMany(i.operand(operand).shape())) return true;
  }
  return false;
}

bool IsComputedType(hlo::PrimitiveType type) {
  return type == hlo::kF64 || type == hlo::kF32 || type == hlo::kBF16 || type == hlo::kS8 || type == hlo::kU8;
}

bool IsElementwiseOfLibrary(Instruction i) {
  switch (i.opcode()) {
    case hlo::kAbs:
    case hlo::kAdd:
    case hlo::kCeil:
    case hlo::kConvert:
    case hlo::kDivide:
    case hlo::kExponential:
    case hlo::kFloor:
    case hlo::kMaximum:
    case hlo::kMinimum:
    case hlo::kMultiply:
    case hlo::kNegate:
    case hlo::kSubtract: break;
    default: return false;
  }
  for (uint32_t operand = 0; operand < i.operand_count(); ++operand) {
    if (!IsComputedType(i.operand(operand).shape().type)) return false;
  }
  return IsComputedType(i.shape().type) && IsLarge(i);
}

int64_t SizeOf(const Shape& shape, const hlo::Dims& dims) {
  int64_t size = 1;
  for (const int64_t dim : dims) size *= shape.dims[static_cast<size_t>(dim)];
  return size;
}

bool EndsWith(const Shape& shape, const hlo::Dims& dims) {
  return !dims.empty() && dims.back() == shape.rank() - 1;
}

// The library reads the left operand's rows, and the right one's rows or columns.
bool IsDotOfLibrary(Instruction dot) {
  const auto& attributes = dot.attributes<hlo::DotAttributes>();
  const Shape &left = dot.operand(0).shape(), &right = dot.operand(1).shape();
  const auto types = std::tuple(left.type, right.type, dot.shape().type);
  const bool floats = types == std::tuple(hlo::kF64, hlo::kF64, hlo::kF64) ||
                      types == std::tuple(hlo::kF32, hlo::kF32, hlo::kF32);
  const bool narrow = types == std::tuple(hlo::kBF16, hlo::kBF16, hlo::kF32) ||
                      types == std::tuple(hlo::kS8, hlo::kS8, hlo::kS32) ||
                      types == std::tuple(hlo::kU8, hlo::kS8, hlo::kS32);
  if (!floats && !narrow) return false;
  const int64_t batch = SizeOf(left, attributes.lhs_batch), k = SizeOf(left, attributes.lhs_contracting);
  if (batch == 0 || k == 0) return false;
  const int64_t m = hlo::ElementCount(left).value_or(0) / batch / k,
                n = hlo::ElementCount(right).value_or(0) / batch / k;
  return m > 1 && n > 1 && std::max({m, k, n}) >= kProductMin && EndsWith(left, attributes.lhs_contracting);
}

bool IsReductionOfLibrary(const hlo::Module& module, Instruction reduce) {
  if (reduce.operand_count() != 2 || reduce.attributes<hlo::DimensionsAttributes>().dimensions.empty())
    return false;
  const hlo::PrimitiveType from = reduce.operand(0).shape().type, to = reduce.shape().type;
  const hlo::Computation& combiner = module.computation(reduce.called()[0]);
  if (combiner.size() != 3) return false;
  switch (combiner.root().opcode()) {
    case hlo::kAdd:
      return (to == hlo::kF64 && from == hlo::kF64) ||
             (to == hlo::kF32 && (from == hlo::kF32 || from == hlo::kF16 || from == hlo::kBF16)) ||
             (to == hlo::kS32 && (from == hlo::kS8 || from == hlo::kU8));
    case hlo::kMaximum:
    case hlo::kMinimum: return from == to && (IsComputedType(to) || to == hlo::kF16);
    default: return false;
  }
}

// Broadcasts may insert dimensions, and not transpose.
bool KeepsOrder(Instruction broadcast) {
  const hlo::Dims& dims = broadcast.attributes<hlo::DimensionsAttributes>().dimensions;
  return std::adjacent_find(dims.begin(), dims.end(), std::greater_equal<>()) == dims.end();
}

}  // namespace

bool StartsLibraryKernel(const hlo::Module& module, Instruction i) {
  switch (i.opcode()) {
    case hlo::kDot: return IsDotOfLibrary(i);
    case hlo::kReduce: return IsLarge(i) && IsReductionOfLibrary(module, i);
    default: return false;
  }
}

bool IsOfCpuLibrary(const hlo::Module& module, Instruction i) {
  switch (i.opcode()) {
    case hlo::kReshape:
    case hlo::kBitcast: return IsComputedType(i.shape().type);
    case hlo::kBroadcast: return IsComputedType(i.shape().type) && KeepsOrder(i);
    default: return StartsLibraryKernel(module, i) || IsElementwiseOfLibrary(i);
  }
}

}  // namespace hlod::analysis
