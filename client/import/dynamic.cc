// Operations whose sizes are operands: converted where the sizes are known, as the static operations they
// then are.
#include "client/import/conversion.h"
#include "client/import/scope.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// The numbers of operand `i`; an error when they are not known.
Dims Sizes(Conversion& c, size_t i) {
  if (const Integers* known = c.scope.Known(c.operand(i))) return Dims(known->begin(), known->end());
  c.Fail(Unimplemented(
      "Operand %d states sizes that depend on values; HLO's arrays have sizes that the program states.", i));
  return {};
}

// The sizes of the result: those of its type, when they are known, else those of operand `i`.
Dims ResultSizes(Conversion& c, size_t i) { return IsUnknown(c.stated()) ? Sizes(c, i) : c.stated().dims; }

Values DynamicReshape(Conversion& c) { return {c.b.Reshape(c.operand(0), ResultSizes(c, 1))}; }

Values DynamicBroadcastInDim(Conversion& c) {
  const Dims sizes = ResultSizes(c, 1);
  return {BroadcastInDim(c, c.operand(0), sizes, c.Integers("broadcast_dimensions"))};
}

Values DynamicIota(Conversion& c) {
  const Dims sizes = ResultSizes(c, 0);
  return {c.b.Iota(Shape::Array(c.stated().type, sizes), c.Integer("iota_dimension"))};
}

Values RealDynamicSlice(Conversion& c) {
  return Instruction(c, kSlice, c.Slice(0, 1), hlo::SliceAttributes{Sizes(c, 1), Sizes(c, 2), Sizes(c, 3)});
}

Values DynamicPad(Conversion& c) {
  const Dims low = Sizes(c, 2), high = Sizes(c, 3), interior = Sizes(c, 4);
  if (low.size() != high.size() || low.size() != interior.size()) {
    c.Fail(InvalidArgument("Its operands 2, 3 and 4 have (%d), (%d) and (%d) numbers.", low.size(),
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
