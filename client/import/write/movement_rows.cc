// Writes constants, shapes and movements of elements.
#include "absl/strings/str_cat.h"
#include "client/import/write/draft.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;

void Constant(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["value"] = {hlo::Literal(instruction.literal())};
}

// Adds the list of dimensions, or its only element, under the operation's name for it.
template <const char* const& kName>
void List(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes[kName] = Numbers(instruction.dimensions());
}
template <const char* const& kName>
void One(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes[kName] = Number(instruction.dimensions()[0]);
}
constexpr const char* kBroadcastDimensions = "broadcast_dimensions";
constexpr const char* kPermutation = "permutation";
constexpr const char* kDimensions = "dimensions";
constexpr const char* kDimension = "dimension";
constexpr const char* kIotaDimension = "iota_dimension";

void Slice(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& slice = instruction.attributes<hlo::SliceAttributes>();
  attributes["start_indices"] = Numbers(slice.start);
  attributes["limit_indices"] = Numbers(slice.limit);
  attributes["strides"] = Numbers(slice.stride);
}

void DynamicSlice(hlo::Instruction instruction, AttributeMap& attributes) {
  attributes["slice_sizes"] = Numbers(instruction.attributes<hlo::DynamicSliceAttributes>().sizes);
}

void Pad(hlo::Instruction instruction, AttributeMap& attributes) {
  hlo::Dims low, high, interior;
  for (const hlo::PadDimension& dimension : instruction.attributes<hlo::PadAttributes>().dimensions) {
    low.push_back(dimension.low);
    high.push_back(dimension.high);
    interior.push_back(dimension.interior);
  }
  attributes["edge_padding_low"] = Numbers(low);
  attributes["edge_padding_high"] = Numbers(high);
  attributes["interior_padding"] = Numbers(interior);
}

void Gather(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& gather = instruction.attributes<hlo::GatherAttributes>();
  attributes["dimension_numbers"] =
      Structure("stablehlo.gather")
          .Field("offset_dims", gather.offset_dims)
          .Field("collapsed_slice_dims", gather.collapsed_slice_dims)
          .Field("operand_batching_dims", gather.operand_batching_dims)
          .Field("start_indices_batching_dims", gather.start_indices_batching_dims)
          .Field("start_index_map", gather.start_index_map)
          .Field("index_vector_dim", absl::StrCat(gather.index_vector_dim))
          .Done();
  attributes["slice_sizes"] = Numbers(gather.slice_sizes);
  attributes["indices_are_sorted"] = Bool(gather.indices_are_sorted);
}

void Scatter(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& scatter = instruction.attributes<hlo::ScatterAttributes>();
  attributes["scatter_dimension_numbers"] =
      Structure("stablehlo.scatter")
          .Field("update_window_dims", scatter.update_window_dims)
          .Field("inserted_window_dims", scatter.inserted_window_dims)
          .Field("input_batching_dims", scatter.input_batching_dims)
          .Field("scatter_indices_batching_dims", scatter.scatter_indices_batching_dims)
          .Field("scatter_dims_to_operand_dims", scatter.scatter_dims_to_operand_dims)
          .Field("index_vector_dim", absl::StrCat(scatter.index_vector_dim))
          .Done();
  attributes["indices_are_sorted"] = Bool(scatter.indices_are_sorted);
  attributes["unique_indices"] = Bool(scatter.unique_indices);
}

constexpr Row kMovementRows[] = {
    {kConstant, "stablehlo.constant", Constant},
    {kIota, "stablehlo.iota", One<kIotaDimension>},
    {kBroadcast, "stablehlo.broadcast_in_dim", List<kBroadcastDimensions>},
    {kReshape, "stablehlo.reshape"},
    {kTranspose, "stablehlo.transpose", List<kPermutation>},
    {kReverse, "stablehlo.reverse", List<kDimensions>},
    {kSlice, "stablehlo.slice", Slice},
    {kDynamicSlice, "stablehlo.dynamic_slice", DynamicSlice},
    {kDynamicUpdateSlice, "stablehlo.dynamic_update_slice"},
    {kPad, "stablehlo.pad", Pad},
    {kConcatenate, "stablehlo.concatenate", One<kDimension>},
    {kGather, "stablehlo.gather", Gather},
    {kScatter, "stablehlo.scatter", Scatter},
    {kGetDimensionSize, "stablehlo.get_dimension_size", One<kDimension>},
    {kSetDimensionSize, "stablehlo.set_dimension_size", One<kDimension>},
};

}  // namespace

absl::Span<const Row> MovementRows() { return kMovementRows; }

}  // namespace hlod::stablehlo::write
