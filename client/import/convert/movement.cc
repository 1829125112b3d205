// Converts constants, shapes and movements of elements.
#include <algorithm>

#include "client/import/convert/conversion.h"
#include "client/import/program/attribute_text.h"
#include "client/import/program/elements.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// The number of elements from which on a constant with equal elements becomes a broadcast, as in XLA.
constexpr int64_t kSplatMin = 32;

Values Constant(Conversion& c) {
  const Attribute* const attribute = c.Find("value");
  const auto* const literal = attribute == nullptr ? nullptr : std::get_if<hlo::Literal>(&attribute->value);
  const auto* const splat = attribute == nullptr ? nullptr : std::get_if<Splat>(&attribute->value);
  if (literal == nullptr && splat == nullptr)
    return c.Fail(InvalidArgument("It has no attribute value that is an array.")), Values{};
  const Shape& shape = literal != nullptr ? literal->shape() : splat->type;
  if (!hlo::Compatible(shape, c.stated())) {
    c.Fail(InvalidArgument("Its value is %s, but its type is %s.", hlo::ToStringNoLayout(shape),
                           hlo::ToStringNoLayout(c.stated())));
    return {};
  }
  if (splat != nullptr) return {c.b.Broadcast(c.b.Constant(splat->element), shape.dims, {})};
  if (literal->element_count() < kSplatMin || !IsOneValue(*literal)) return {c.b.Constant(*literal)};
  hlo::Literal one(Shape::Scalar(literal->shape().type));
  std::copy_n(literal->bytes().begin(), one.bytes().size(), one.bytes().begin());
  return {c.b.Broadcast(c.b.Constant(std::move(one)), literal->shape().dims, {})};
}

Values Iota(Conversion& c) {
  return Instruction(c, kIota, {}, hlo::DimensionsAttributes{{c.Integer("iota_dimension")}});
}

// Converts to an opcode whose attributes are one list of dimensions.
template <hlo::Opcode opcode>
Values WithDimensions(Conversion& c, std::string_view attribute) {
  return Instruction(c, opcode, c.operands, hlo::DimensionsAttributes{c.Integers(attribute)});
}
Values Transpose(Conversion& c) { return WithDimensions<kTranspose>(c, "permutation"); }
Values Reverse(Conversion& c) { return WithDimensions<kReverse>(c, "dimensions"); }
Values Concatenate(Conversion& c) { return WithDimensions<kConcatenate>(c, "dimension"); }
Values SetDimensionSize(Conversion& c) { return WithDimensions<kSetDimensionSize>(c, "dimension"); }

Values GetDimensionSize(Conversion& c) {
  const int64_t dimension = c.Integer("dimension");
  const Shape& shape = c.shape(0);
  if (dimension < 0 || dimension >= shape.rank() || shape.IsDynamic(dimension)) {
    return WithDimensions<kGetDimensionSize>(c, "dimension");
  }
  return {
      c.b.Constant(hlo::Literal::Scalar(static_cast<int32_t>(shape.dims[static_cast<size_t>(dimension)])))};
}

// Reshapes. Only the stated shape says which dimensions are dynamic.
Values Reshape(Conversion& c) {
  if (IsUnknown(c.stated())) return {c.b.Reshape(c.operand(0), c.stated().dims)};
  Shape stated = c.stated();
  stated.type = c.shape(0).type;
  return {c.b.Add(kReshape, {c.operand(0)}, hlo::NoAttributes{}, {}, &stated)};
}

Values Broadcast(Conversion& c) {
  Dims output = c.Integers("broadcast_sizes"), dimensions;
  for (const int64_t size : c.shape(0).dims) {
    dimensions.push_back(static_cast<int64_t>(output.size()));
    output.push_back(size);
  }
  return {c.b.Broadcast(c.operand(0), output, dimensions)};
}

Values BroadcastInDimRule(Conversion& c) {
  return {BroadcastInDim(c, c.operand(0), c.stated().dims, c.Integers("broadcast_dimensions"))};
}

Values Slice(Conversion& c) {
  const Dims start = c.Integers("start_indices");
  Dims strides = c.Integers("strides", /*required=*/false);
  if (strides.empty()) strides.assign(start.size(), 1);
  return Instruction(c, kSlice, c.operands,
                     hlo::SliceAttributes{start, c.Integers("limit_indices"), strides});
}

Values DynamicSlice(Conversion& c) {
  return Instruction(c, kDynamicSlice, c.operands, hlo::DynamicSliceAttributes{c.Integers("slice_sizes")});
}

Values Pad(Conversion& c) {
  const Dims low = c.Integers("edge_padding_low"), high = c.Integers("edge_padding_high"),
             interior = c.Integers("interior_padding");
  if (low.size() != high.size() || low.size() != interior.size()) {
    c.Fail(
        InvalidArgument("Its edge_padding_low, edge_padding_high and interior_padding have (%d), (%d) and "
                        "(%d) numbers; expected equal numbers.",
                        low.size(), high.size(), interior.size()));
    return {};
  }
  hlo::PadAttributes attributes;
  for (size_t i = 0; i < low.size(); ++i) attributes.dimensions.push_back({low[i], high[i], interior[i]});
  return Instruction(c, kPad, c.operands, attributes);
}

Values Gather(Conversion& c) { return Gathered(c, c.Integers("slice_sizes")); }

Values GetTupleElement(Conversion& c) {
  return Instruction(c, kGetTupleElement, c.operands, hlo::TupleIndexAttributes{c.Integer("index")});
}

constexpr Rule kMovementRules[] = {
    {"chlo.constant", Constant, 0},
    {"sdy.constant", Constant, 0},
    {"stablehlo.broadcast", Broadcast, 1},
    {"stablehlo.broadcast_in_dim", BroadcastInDimRule, 1},
    {"stablehlo.concatenate", Concatenate},
    {"stablehlo.constant", Constant, 0},
    {"stablehlo.dynamic_slice", DynamicSlice},
    {"stablehlo.dynamic_update_slice", Plain, -1, 1, 0, kDynamicUpdateSlice},
    {"stablehlo.gather", Gather, 2},
    {"stablehlo.get_dimension_size", GetDimensionSize, 1},
    {"stablehlo.get_tuple_element", GetTupleElement, 1},
    {"stablehlo.iota", Iota, 0},
    {"stablehlo.pad", Pad, 2},
    {"stablehlo.reshape", Reshape, 1},
    {"stablehlo.reverse", Reverse, 1},
    {"stablehlo.set_dimension_size", SetDimensionSize, 2},
    {"stablehlo.slice", Slice, 1},
    {"stablehlo.transpose", Transpose, 1},
    {"stablehlo.tuple", Plain, -1, 1, 0, kTuple},
};

}  // namespace

Op BroadcastInDim(Conversion& c, Op operand, absl::Span<const int64_t> output, const Dims& dimensions) {
  const Dims sizes = c.b.shape(operand).dims;
  if (dimensions.size() != sizes.size()) {
    c.Fail(
        InvalidArgument("Its broadcast_dimensions have (%d) numbers, but operand 0 (%s) has (%d) dimensions.",
                        dimensions.size(), hlo::ToStringNoLayout(c.b.shape(operand)), sizes.size()));
    return operand;
  }
  Dims kept, kept_dimensions;
  bool same = sizes.size() == output.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= static_cast<int64_t>(output.size())) {
      c.Fail(InvalidArgument("Its broadcast_dimensions have (%d), but the result has (%d) dimensions.",
                             dimensions[i], output.size()));
      return operand;
    }
    if (std::find(dimensions.begin(), dimensions.begin() + i, dimensions[i]) != dimensions.begin() + i) {
      c.Fail(InvalidArgument(
          "Its broadcast_dimensions have (%d) twice; expected a dimension of the result for each.",
          dimensions[i]));
      return operand;
    }
    const int64_t size = output[static_cast<size_t>(dimensions[i])];
    same = same && dimensions[i] == static_cast<int64_t>(i) && size == sizes[i];
    if (sizes[i] == 1 && size != 1) continue;
    kept.push_back(sizes[i]);
    kept_dimensions.push_back(dimensions[i]);
  }
  if (same) return operand;
  const Op reshaped = kept.size() == sizes.size() ? operand : c.b.Reshape(operand, kept);
  return c.b.Broadcast(reshaped, output, kept_dimensions);
}

Values Gathered(Conversion& c, Dims slice_sizes) {
  hlo::GatherAttributes attributes;
  attributes.offset_dims = c.Integers("offset_dims", false);
  attributes.collapsed_slice_dims = c.Integers("collapsed_slice_dims", false);
  attributes.start_index_map = c.Integers("start_index_map", false);
  attributes.operand_batching_dims = c.Integers("operand_batching_dims", false);
  attributes.start_indices_batching_dims = c.Integers("start_indices_batching_dims", false);
  attributes.index_vector_dim = c.Integer("index_vector_dim", 0);
  attributes.indices_are_sorted = c.Bool("indices_are_sorted");
  attributes.slice_sizes = std::move(slice_sizes);
  return Instruction(c, kGather, c.Slice(0, 2), attributes);
}

absl::Span<const Rule> MovementRules() { return kMovementRules; }

}  // namespace hlod::stablehlo
