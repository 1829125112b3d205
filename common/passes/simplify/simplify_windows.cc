// Simplifies windows. The gradient of pooling without overlaps adds up, at each place, one element among
// holes:
//
//   reduce-window(pad(x, 0, low=1, high=1, interior=1), 0, size=2), add      of x = f32[28]
//
// is each element twice: a broadcast, f32[28,2], and a reshape, f32[56]. At the edges there may be places at
// which a window has no element, or elements that no window has: the result is padded by zeros or cut.
#include <cmath>
#include <cstdlib>

#include "common/passes/simplify/simplify.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool AddsNumbers(const ComputationCopy& copy, Instruction window) {
  const Computation& reducer = copy.module().computation(window.called()[0]);
  const Instruction root = reducer.root();
  return window.operand_count() == 2 && window.shape().IsArray() && window.shape().type != kPred &&
         reducer.size() == 3 && root.opcode() == kAdd && root.operands()[0] != root.operands()[1];
}

bool IsPositiveZero(Instruction instruction) {
  const std::optional<double> value = SplatValue(instruction);
  return value.has_value() && *value == 0 && !std::signbit(*value);
}

// Sets the padding that gives the result, along one dimension, from each of n elements `spacing` times.
// Returns false if some window has several elements, or dimensions are dilated otherwise.
bool EdgesOf(const WindowDimension& window, const PadDimension& pad, int64_t n, int64_t out,
             PadDimension* edges) {
  // Far below the numbers at which sums overflow.
  constexpr int64_t kPlaceMax = int64_t{1} << 40, kSpacingMax = 64;
  const int64_t spacing = pad.interior + 1;
  if (window.size != spacing || window.stride != 1 || window.window_dilation != 1 ||
      window.base_dilation != 1)
    return false;
  if (spacing > kSpacingMax || pad.low < 0 || pad.high < 0) return false;
  for (const int64_t place : {pad.low, std::abs(window.padding_low), n, out}) {
    if (place > kPlaceMax) return false;
  }
  edges->low = pad.low - spacing + 1 + window.padding_low;
  edges->high = out - n * spacing - edges->low;
  return true;
}

}  // namespace

NodeId SimplifyWindows(ComputationCopy& copy, Instruction instruction) {
  if (instruction.opcode() != kReduceWindow || !AddsNumbers(copy, instruction)) return kUnchanged;
  const Instruction holes = copy.operand(instruction, 0);
  if (holes.opcode() != kPad || !IsPositiveZero(copy.to()[holes.operands()[1]]) ||
      !IsPositiveZero(copy.operand(instruction, 1)))
    return kUnchanged;
  const NodeId source = holes.operands()[0];
  const NodeId zero = holes.operands()[1];
  const Shape from = copy.to()[source].shape(), to = instruction.shape();
  const auto& window = instruction.attributes<WindowAttributes>().window;
  const auto& padding = holes.attributes<PadAttributes>().dimensions;
  Dims repeated, spread, whole;
  PadAttributes edges;
  bool repeats = false, is_padded = false;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const int64_t spacing = padding[d].interior + 1;
    PadDimension edge;
    if (!EdgesOf(window[d], padding[d], from.dims[d], to.dims[d], &edge)) return kUnchanged;
    edges.dimensions.push_back(edge);
    spread.push_back(static_cast<int64_t>(repeated.size()));
    repeated.push_back(from.dims[d]);
    if (spacing > 1) repeated.push_back(spacing);
    whole.push_back(from.dims[d] * spacing);
    repeats = repeats || spacing > 1;
    is_padded = is_padded || edge.low != 0 || edge.high != 0;
  }
  if (!repeats || repeated.size() > kMaxRank) return kUnchanged;
  // Results that are a small part of what is repeated are computed faster by themselves.
  const int64_t made = ElementCount(Shape::Array(from.type, whole)).value_or(INT64_MAX);
  if (made / 2 > ElementCount(to).value_or(0)) return kUnchanged;
  const auto shape_of = [&](const Dims& dims) { return copy.tables().Intern(Shape::Array(from.type, dims)); };
  // Adding zeros to -0 gives 0.
  const NodeId zeros =
      copy.Replace(instruction, kBroadcast, shape_of(from.dims), DimensionsAttributes{}, {zero});
  const NodeId sums = copy.Replace(instruction, kAdd, shape_of(from.dims), NoAttributes{}, {source, zeros});
  const NodeId broadcast =
      copy.Replace(instruction, kBroadcast, shape_of(repeated), DimensionsAttributes{spread}, {sums});
  const NodeId result =
      copy.Replace(instruction, kReshape, shape_of(whole), DimensionsAttributes{}, {broadcast});
  if (!is_padded) return result;
  return copy.Replace(instruction, kPad, instruction.shape_id(), edges, {result, zero});
}

}  // namespace hlod::passes
