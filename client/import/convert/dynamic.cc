// Converts operations whose sizes are operands to the static operations, when the sizes are known.
#include <algorithm>
#include <optional>

#include "absl/strings/str_join.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Returns the numbers of operand `i`; fails when they are not known.
Dims Sizes(Conversion& c, size_t i) {
  if (const Integers* known = c.scope.Known(c.operand(i))) return Dims(known->begin(), known->end());
  c.Fail(Unimplemented(
      "Operand %d states sizes that are known only when the program runs; HLO's arrays have constant sizes.",
      i));
  return {};
}

// Returns limit - start, when the program shows it: both are known, one is the other plus a known number, or
// both are computed in the same way from such parts. Else nullopt.
std::optional<Integers> KnownDifference(Scope& scope, Op limit, Op start, int levels = 8) {
  const Integers* const last = scope.Known(limit);
  const Integers* const first = scope.Known(start);
  if (last != nullptr && first != nullptr && last->size() == first->size()) {
    Integers difference;
    for (size_t i = 0; i < last->size(); ++i) difference.push_back((*last)[i] - (*first)[i]);
    return difference;
  }
  if (levels == 0) return std::nullopt;
  const hlo::Instruction above = scope.instruction(limit), below = scope.instruction(start);
  const auto operand = [](hlo::Instruction of, size_t i, Op op) { return Op{op.builder, of.operands()[i]}; };
  const auto known = [&](Op op) -> std::optional<Integers> {
    const Integers* const numbers = scope.Known(op);
    return numbers == nullptr ? std::nullopt : std::optional(*numbers);
  };
  if (above.opcode() == kAdd) {
    for (const size_t i : {0, 1}) {
      if (above.operands()[i] == start.id) return known(operand(above, 1 - i, limit));
    }
  }
  if (below.opcode() == kSubtract && below.operands()[0] == limit.id) return known(operand(below, 1, start));
  const bool alike = above.opcode() == below.opcode() && above.operands().size() == below.operands().size() &&
                     hlo::Compatible(above.shape(), below.shape());
  if (!alike) return std::nullopt;
  if (above.opcode() == kReshape || above.opcode() == kConvert)
    return KnownDifference(scope, operand(above, 0, limit), operand(below, 0, start), levels - 1);
  if (above.opcode() != kConcatenate || above.shape().rank() != 1) return std::nullopt;
  Integers all;
  for (size_t i = 0; i < above.operands().size(); ++i) {
    const std::optional<Integers> part =
        KnownDifference(scope, operand(above, i, limit), operand(below, i, start), levels - 1);
    if (!part.has_value()) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

// Returns the sizes of the result: those of operand `i`, or of the stated type, which may be the only one to
// know them.
Dims ResultSizes(Conversion& c, size_t i) {
  const Dims& stated = c.stated().dims;
  if (c.scope.Known(c.operand(i)) == nullptr && !IsUnknown(c.stated())) return stated;
  Dims sizes = Sizes(c, i);
  const auto differ = [](int64_t size, int64_t of_type) {
    return of_type != hlo::kUnboundedSize && size != of_type;
  };
  bool contradict = sizes.size() != stated.size();
  for (size_t d = 0; d < sizes.size() && !contradict; ++d) contradict = differ(sizes[d], stated[d]);
  for (const int64_t size : sizes) contradict = contradict || size < 0;
  if (c.status().ok() && contradict) {
    c.Fail(InvalidArgument("Operand %d states the sizes [%s]; the stated type is %s.", i,
                           absl::StrJoin(sizes, ", "), hlo::ToStringNoLayout(c.stated())));
  }
  return c.status().ok() ? sizes : stated;
}

Values DynamicReshape(Conversion& c) { return {c.b.Reshape(c.operand(0), ResultSizes(c, 1))}; }

Values DynamicBroadcastInDim(Conversion& c) {
  const Dims sizes = ResultSizes(c, 1);
  return {BroadcastInDim(c, c.operand(0), sizes, c.Integers("broadcast_dimensions"))};
}

Values DynamicIota(Conversion& c) {
  const Dims sizes = ResultSizes(c, 0);
  return {c.b.Iota(Shape::Array(c.stated().type, sizes), c.Integer("iota_dimension"))};
}

// Converts a slice between known numbers; or a slice of step 1 and known sizes at a start that is computed.
// StableHLO does not define a slice that leaves the operand; HLO moves its start to where the slice fits.
Values RealDynamicSlice(Conversion& c) {
  const size_t rank = c.shape(0).dims.size();
  if (c.scope.Known(c.operand(1)) != nullptr && c.scope.Known(c.operand(2)) != nullptr)
    return Instruction(c, kSlice, c.Slice(0, 1), hlo::SliceAttributes{Sizes(c, 1), Sizes(c, 2), Sizes(c, 3)});
  const Dims strides = Sizes(c, 3);
  if (!c.status().ok()) return {};
  std::optional<Integers> sizes = KnownDifference(c.scope, c.operand(2), c.operand(1));
  const bool is_stepless = std::ranges::all_of(strides, [](int64_t stride) { return stride == 1; });
  if (!sizes.has_value() && !IsUnknown(c.stated()) && is_stepless)
    sizes = Integers(c.stated().dims.begin(), c.stated().dims.end());
  if (!sizes.has_value() || !is_stepless || sizes->size() != rank ||
      c.shape(1).dims != Dims{c.shape(0).rank()}) {
    c.Fail(
        Unimplemented("Operands 1 and 2 state a slice whose size depends on values; HLO's arrays have sizes "
                      "that the program states."));
    return {};
  }
  std::vector<Op> operands = {c.operand(0)};
  for (int64_t d = 0; d < c.shape(0).rank(); ++d)
    operands.push_back(c.b.Reshape(c.b.Slice(c.operand(1), {d}, {d + 1}), {}));
  return Instruction(c, kDynamicSlice, operands,
                     hlo::DynamicSliceAttributes{Dims(sizes->begin(), sizes->end())});
}

Values DynamicPad(Conversion& c) {
  const Dims low = Sizes(c, 2), high = Sizes(c, 3), interior = Sizes(c, 4);
  if (low.size() != high.size() || low.size() != interior.size()) {
    c.Fail(InvalidArgument(
        "Its operands 2, 3 and 4 have (%d), (%d) and (%d) numbers; expected one per dimension.", low.size(),
        high.size(), interior.size()));
    return {};
  }
  hlo::PadAttributes attributes;
  for (size_t i = 0; i < low.size(); ++i) attributes.dimensions.push_back({low[i], high[i], interior[i]});
  return Instruction(c, kPad, c.Slice(0, 2), attributes);
}

Values DynamicGather(Conversion& c) { return Gathered(c, Sizes(c, 2)); }

Values DynamicConv(Conversion& c) {
  const Dims numbers = Sizes(c, 2);
  Pairs padding;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) padding.emplace_back(numbers[i], numbers[i + 1]);
  return Convolve(c, padding);
}

constexpr Rule kDynamicRules[] = {
    {"stablehlo.dynamic_broadcast_in_dim", DynamicBroadcastInDim, 2},
    {"stablehlo.dynamic_conv", DynamicConv, 3},
    {"stablehlo.dynamic_gather", DynamicGather, 3},
    {"stablehlo.dynamic_iota", DynamicIota, 1},
    {"stablehlo.dynamic_pad", DynamicPad, 5},
    {"stablehlo.dynamic_reshape", DynamicReshape, 2},
    {"stablehlo.real_dynamic_slice", RealDynamicSlice, 4},
};

}  // namespace

absl::Span<const Rule> DynamicRules() { return kDynamicRules; }

}  // namespace hlod::stablehlo
