// Converts shapes, layouts and signatures to and from XLA's protos.
#include <algorithm>

#include "common/base/errors/status.h"
#include "common/hlo/proto/shape.h"

namespace hlod::hlo {
namespace {

Dims ToDims(const google::protobuf::RepeatedField<int64_t>& field) {
  return Dims(field.begin(), field.end());
}

void SetDims(absl::Span<const int64_t> dims, google::protobuf::RepeatedField<int64_t>* field) {
  field->Assign(dims.begin(), dims.end());
}

// Returns the element at `index`, which is appended when missing: fields kept by decoding keep their
// positions.
template <typename T>
T* ElementAt(google::protobuf::RepeatedPtrField<T>* field, int index) {
  return index < field->size() ? field->Mutable(index) : field->Add();
}

absl::StatusOr<Shape> DecodeNested(const xla::ShapeProto& proto, int depth);

// Decodes XLA's number of a primitive type; 0 means that none is stated.
absl::StatusOr<PrimitiveType> DecodeIndexType(int number, std::string_view field) {
  if (number == 0) return kInvalid;
  const std::optional<PrimitiveType> type = PrimitiveTypeFromNumber(number);
  if (!type) return InvalidArgument("layout.%s is %d, which is not a primitive type", field, number);
  return *type;
}

absl::StatusOr<Layout> DecodeLayout(const xla::LayoutProto& proto, int depth) {
  Layout layout;
  for (int level : proto.dim_level_types()) {
    if (level != xla::DIM_DENSE)
      return Unimplemented("the layout is sparse (dim_level_types holds %d)", level);
  }
  layout.minor_to_major = ToDims(proto.minor_to_major());
  layout.tiles.reserve(proto.tiles_size());
  for (const auto& tile : proto.tiles()) layout.tiles.push_back(ToDims(tile.dimensions()));
  layout.element_size_in_bits = proto.element_size_in_bits();
  layout.memory_space = proto.memory_space();
  layout.tail_padding_alignment = std::max<int64_t>(1, proto.tail_padding_alignment_in_elements());
  layout.dynamic_shape_metadata_prefix_bytes = proto.dynamic_shape_metadata_prefix_bytes();
  ASSIGN_OR_RETURN(layout.index_type, DecodeIndexType(proto.index_primitive_type(), "index_primitive_type"));
  ASSIGN_OR_RETURN(layout.pointer_type,
                   DecodeIndexType(proto.pointer_primitive_type(), "pointer_primitive_type"));
  for (const auto& split : proto.split_configs()) {
    layout.split_configs.emplace_back(split.dimension(), ToDims(split.split_indices()));
  }
  if (proto.has_physical_shape() && proto.physical_shape().element_type() != 0) {
    ASSIGN_OR_RETURN(Shape physical, DecodeNested(proto.physical_shape(), depth + 1));
    layout.physical_shape = std::make_shared<const Shape>(std::move(physical));
  }
  return layout;
}

absl::StatusOr<Shape> DecodeNested(const xla::ShapeProto& proto, int depth) {
  if (depth > kMaxTupleDepth) return InvalidArgument("the shape nests deeper than %d levels", kMaxTupleDepth);
  const std::optional<PrimitiveType> type = PrimitiveTypeFromNumber(proto.element_type());
  if (!type)
    return InvalidArgument("shape.element_type is %d, which is not a primitive type", proto.element_type());
  Shape shape;
  shape.type = *type;
  if (!IsArrayType(*type)) {
    if (proto.dimensions_size() != 0) {
      return InvalidArgument("the shape is of type %s and has %d dimensions", Name(*type),
                             proto.dimensions_size());
    }
    if (*type != kTupleType && *type != kBufferType && proto.tuple_shapes_size() != 0) {
      return InvalidArgument("the shape is of type %s and has tuple elements", Name(*type));
    }
    shape.tuple.reserve(proto.tuple_shapes_size());
    for (const auto& element : proto.tuple_shapes()) {
      ASSIGN_OR_RETURN(Shape decoded, DecodeNested(element, depth + 1));
      shape.tuple.push_back(std::move(decoded));
    }
    if (*type == kBufferType && shape.tuple.size() != 1) {
      return InvalidArgument("a buffer's shape holds %d shapes instead of one", shape.tuple.size());
    }
    return shape;
  }
  if (proto.tuple_shapes_size() != 0) return InvalidArgument("an array's shape has tuple elements");
  const int rank = proto.dimensions_size();
  if (rank > kMaxRank) return InvalidArgument("the shape has %d dimensions; the limit is %d", rank, kMaxRank);
  shape.dims = ToDims(proto.dimensions());
  if (proto.is_dynamic_dimension_size() != 0 && proto.is_dynamic_dimension_size() != rank) {
    return InvalidArgument("shape.is_dynamic_dimension has %d entries for %d dimensions",
                           proto.is_dynamic_dimension_size(), rank);
  }
  if (std::any_of(proto.is_dynamic_dimension().begin(), proto.is_dynamic_dimension().end(),
                  [](bool b) { return b; })) {
    shape.dynamic.assign(proto.is_dynamic_dimension().begin(), proto.is_dynamic_dimension().end());
  }
  for (int i = 0; i < rank; ++i) {
    if (shape.dims[i] >= 0 || (shape.dims[i] == kUnboundedSize && shape.IsDynamic(i))) continue;
    return InvalidArgument("dimension %d of the shape has size %d", i, shape.dims[i]);
  }
  if (proto.has_layout()) {
    ASSIGN_OR_RETURN(Layout layout, DecodeLayout(proto.layout(), depth));
    // A scalar has only one order; XLA writes a layout for it into the proto, but not into the text.
    if (rank != 0 || layout != Layout()) shape.layout = std::move(layout);
    // An array with an empty layout (an empty message, or from before layout assignment) has no layout.
    if (rank != 0 && *shape.layout == Layout()) shape.layout.reset();
  }
  return shape;
}

void EncodeLayout(const Layout& layout, xla::LayoutProto* proto) {
  SetDims(layout.minor_to_major, proto->mutable_minor_to_major());
  for (size_t i = 0; i < layout.tiles.size(); ++i) {
    SetDims(layout.tiles[i], ElementAt(proto->mutable_tiles(), i)->mutable_dimensions());
  }
  proto->set_element_size_in_bits(layout.element_size_in_bits);
  proto->set_memory_space(layout.memory_space);
  proto->set_tail_padding_alignment_in_elements(layout.tail_padding_alignment);
  proto->set_dynamic_shape_metadata_prefix_bytes(layout.dynamic_shape_metadata_prefix_bytes);
  proto->set_index_primitive_type(static_cast<xla::PrimitiveType>(layout.index_type));
  proto->set_pointer_primitive_type(static_cast<xla::PrimitiveType>(layout.pointer_type));
  for (size_t i = 0; i < layout.split_configs.size(); ++i) {
    auto* split = ElementAt(proto->mutable_split_configs(), i);
    split->set_dimension(layout.split_configs[i].first);
    SetDims(layout.split_configs[i].second, split->mutable_split_indices());
  }
  if (layout.physical_shape) codec::EncodeShape(*layout.physical_shape, proto->mutable_physical_shape());
}

}  // namespace

absl::StatusOr<Shape> FromProto(const xla::ShapeProto& proto) {
  ASSIGN_OR_RETURN(Shape shape, DecodeNested(proto, 0));
  RETURN_IF_ERROR(ValidateShape(shape));
  return shape;
}

xla::ShapeProto ToProto(const Shape& shape) {
  xla::ShapeProto proto;
  codec::EncodeShape(shape, &proto);
  return proto;
}

namespace codec {

void EncodeShape(const Shape& shape, xla::ShapeProto* proto) {
  proto->set_element_type(static_cast<xla::PrimitiveType>(shape.type));
  SetDims(shape.dims, proto->mutable_dimensions());
  proto->clear_is_dynamic_dimension();
  for (int64_t i = 0; i < shape.rank(); ++i) proto->add_is_dynamic_dimension(shape.IsDynamic(i));
  for (size_t i = 0; i < shape.tuple.size(); ++i)
    EncodeShape(shape.tuple[i], ElementAt(proto->mutable_tuple_shapes(), i));
  if (shape.layout) {
    EncodeLayout(*shape.layout, proto->mutable_layout());
  } else if (shape.IsScalar()) {
    EncodeLayout(Layout(), proto->mutable_layout());  // XLA writes scalars in this way.
  }
}

void EncodeProgramShape(const ProgramShape& shape, xla::ProgramShapeProto* proto) {
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    EncodeShape(shape.parameters[i], ElementAt(proto->mutable_parameters(), i));
  }
  if (shape.result.type != kInvalid) EncodeShape(shape.result, proto->mutable_result());
  proto->mutable_parameter_names()->Assign(shape.parameter_names.begin(), shape.parameter_names.end());
}

absl::StatusOr<ProgramShape> DecodeProgramShape(const xla::ProgramShapeProto& proto) {
  ProgramShape shape;
  for (int i = 0; i < proto.parameters_size(); ++i) {
    absl::StatusOr<Shape> parameter = FromProto(proto.parameters(i));
    if (!parameter.ok()) {
      return InvalidArgument("parameter %d of the program shape: %s", i,
                             FromAbsl(parameter.status().message()));
    }
    shape.parameters.push_back(*std::move(parameter));
  }
  if (proto.has_result()) {
    absl::StatusOr<Shape> result = FromProto(proto.result());
    if (!result.ok())
      return InvalidArgument("result of the program shape: %s", FromAbsl(result.status().message()));
    shape.result = *std::move(result);
  }
  if (proto.parameter_names_size() == proto.parameters_size()) {
    shape.parameter_names.assign(proto.parameter_names().begin(), proto.parameter_names().end());
  }
  return shape;
}

}  // namespace codec
}  // namespace hlod::hlo
