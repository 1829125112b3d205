// Converts literals to and from LiteralProto: one row per primitive type names the field that holds its
// elements. Sizes are compared with the data present before anything is allocated.

#include "common/base/errors/status.h"
#include "common/hlo/proto/shape.h"

namespace hlod::hlo {
namespace {

// Types whose elements are stored as raw bytes, in XLA's field of that row; sub-byte types take one byte per
// element.
#define HLOD_BYTE_FIELDS(row)                                                                             \
  row(kS1, s1s) row(kS2, s2s) row(kS4, s4s) row(kS8, s8s) row(kS16, s16s) row(kU1, u1s) row(kU2, u2s)     \
      row(kU4, u4s) row(kU8, u8s) row(kU16, u16s) row(kF16, f16s) row(kBF16, bf16s) row(kF8E5M2, f8e5m2s) \
          row(kF8E4M3, f8e4m3s) row(kF8E4M3FN, f8e4m3fns) row(kF8E4M3B11FNUZ, f8e4m3b11fnuzs)             \
              row(kF8E3M4, f8e3m4s) row(kF8E5M2FNUZ, f8e5m2fnuzs) row(kF8E4M3FNUZ, f8e4m3fnuzs)           \
                  row(kF6E3M2FN, f6e3m2fns) row(kF6E2M3FN, f6e2m3fns) row(kF4E2M1FN, f4e2m1fns)           \
                      row(kF8E8M0FNU, f8e8m0fnus)
// Types whose elements are stored as numbers: (type, field, C++ type of one entry).
#define HLOD_NUMBER_FIELDS(row)                                                                       \
  row(kPred, preds, bool) row(kS32, s32s, int32_t) row(kS64, s64s, int64_t) row(kU32, u32s, uint32_t) \
      row(kU64, u64s, uint64_t) row(kF32, f32s, float) row(kF64, f64s, double) row(kC64, c64s, float) \
          row(kC128, c128s, double)

// Canonicalizes the high bits of types narrower than a byte, as SmallInt and SmallFloat keep them.
void CanonicalizeSubByte(PrimitiveType type, absl::Span<std::byte> bytes) {
  const int bits = Info(type).bits;
  if (bits >= 8 || bits == 0) return;
  const int shift = 8 - bits;
  const bool is_signed = IsSigned(type);
  for (std::byte& byte : bytes) {
    const auto high = static_cast<uint8_t>(static_cast<uint8_t>(byte) << shift);
    byte = static_cast<std::byte>(is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> shift)
                                            : static_cast<uint8_t>(high >> shift));
  }
}

// Reorders elements from the order of `minor_to_major` to row-major order.
Literal ToRowMajor(const Literal& physical, absl::Span<const int64_t> minor_to_major) {
  Literal logical(physical.shape());
  const Dims& dims = physical.shape().dims;
  const Dims strides = RowMajorStrides(dims);
  const size_t width = ByteWidth(physical.shape().type);
  Dims index(dims.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < physical.element_count(); ++i) {
    std::memcpy(logical.bytes().data() + offset * width, physical.bytes().data() + i * width, width);
    for (int64_t d : minor_to_major) {
      offset += strides[d];
      if (++index[d] < dims[d]) break;
      offset -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return logical;
}

// Returns the number of bytes of elements that the proto holds for `type`, or nullopt when literals cannot
// have that type.
std::optional<int64_t> PresentBytes(const xla::LiteralProto& proto, PrimitiveType type) {
  switch (type) {
#define HLOD_ROW(id, field) \
  case id: return static_cast<int64_t>(proto.field().size());
    HLOD_BYTE_FIELDS(HLOD_ROW)
#undef HLOD_ROW
#define HLOD_ROW(id, field, entry) \
  case id: return static_cast<int64_t>(proto.field().size() * sizeof(entry));
    HLOD_NUMBER_FIELDS(HLOD_ROW)
#undef HLOD_ROW
    default: return std::nullopt;
  }
}

void CopyElements(const xla::LiteralProto& proto, Literal* literal) {
  const absl::Span<std::byte> bytes = literal->bytes();
  if (bytes.empty()) return;
  switch (literal->shape().type) {
#define HLOD_ROW(id, field) \
  case id: std::memcpy(bytes.data(), proto.field().data(), bytes.size()); break;
    HLOD_BYTE_FIELDS(HLOD_ROW)
#undef HLOD_ROW
#define HLOD_ROW(id, field, entry) \
  case id: std::memcpy(bytes.data(), proto.field().data(), bytes.size()); break;
    HLOD_NUMBER_FIELDS(HLOD_ROW)
#undef HLOD_ROW
    default: break;
  }
}

absl::StatusOr<Literal> DecodeArray(const xla::LiteralProto& proto, const Shape& shape, int64_t max_bytes) {
  if (!proto.sparse_indices().empty()) return Unimplemented("the literal is sparse");
  if (shape.HasDynamicDimension())
    return Unimplemented("the literal of shape %s has dynamic dimensions", ToString(shape));
  const std::optional<int64_t> declared = ByteSize(shape), present = PresentBytes(proto, shape.type);
  if (!declared || !present) return InvalidArgument("no literal can have the shape %s", ToString(shape));
  if (*declared != *present) {
    return InvalidArgument("the literal of shape %s needs %d bytes of elements and has %d", ToString(shape),
                           *declared, *present);
  }
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape, max_bytes));
  CopyElements(proto, &literal);
  CanonicalizeSubByte(shape.type, literal.bytes());
  if (!shape.layout || shape.layout->IsRowMajor()) return literal;
  return ToRowMajor(literal, shape.layout->minor_to_major);
}

absl::StatusOr<Literal> DecodeNested(const xla::LiteralProto& proto, const Shape& shape, int64_t max_bytes) {
  if (shape.IsToken()) return Literal::Make(shape, max_bytes);
  if (!shape.IsTuple()) return DecodeArray(proto, shape, max_bytes);
  if (static_cast<size_t>(proto.tuple_literals_size()) != shape.tuple.size()) {
    return InvalidArgument("the literal of shape %s has %d elements", ToString(shape),
                           proto.tuple_literals_size());
  }
  std::vector<Literal> elements;
  elements.reserve(shape.tuple.size());
  for (size_t i = 0; i < shape.tuple.size(); ++i) {
    const xla::LiteralProto& element = proto.tuple_literals(i);
    // Each element of a tuple states its own shape; its layout is that of the shape.
    ASSIGN_OR_RETURN(const Shape stated, FromProto(element.shape()));
    if (!Compatible(stated, shape.tuple[i])) {
      return InvalidArgument("element %d of the literal has shape %s instead of %s", i, ToString(stated),
                             ToString(shape.tuple[i]));
    }
    ASSIGN_OR_RETURN(Literal decoded, DecodeNested(element, stated, max_bytes));
    elements.push_back(std::move(decoded));
  }
  return Literal::MakeTuple(std::move(elements));
}

void EncodeElements(const Literal& literal, xla::LiteralProto* proto) {
  const absl::Span<const std::byte> bytes = literal.bytes();
  switch (literal.shape().type) {
#define HLOD_ROW(id, field) \
  case id: proto->set_##field(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())); break;
    HLOD_BYTE_FIELDS(HLOD_ROW)
#undef HLOD_ROW
#define HLOD_ROW(id, field, entry)                                                     \
  case id: {                                                                           \
    const auto* entries = reinterpret_cast<const entry*>(bytes.data());                \
    proto->mutable_##field()->Assign(entries, entries + bytes.size() / sizeof(entry)); \
    break;                                                                             \
  }
    HLOD_NUMBER_FIELDS(HLOD_ROW)
#undef HLOD_ROW
    default: break;
  }
}

// XLA's reader requires a layout on every array of a literal.
Shape WithRowMajorLayout(const Shape& shape) {
  Shape laid_out = shape;
  if (shape.IsArray()) laid_out.layout = Layout::RowMajor(shape.rank());
  for (Shape& element : laid_out.tuple) element = WithRowMajorLayout(element);
  return laid_out;
}

}  // namespace

absl::StatusOr<Literal> FromProto(const xla::LiteralProto& proto, int64_t max_bytes) {
  ASSIGN_OR_RETURN(const Shape shape, FromProto(proto.shape()));
  return DecodeNested(proto, shape, max_bytes);
}

xla::LiteralProto ToProto(const Literal& literal) {
  xla::LiteralProto proto;
  codec::EncodeLiteral(literal, &proto);
  return proto;
}

namespace codec {

void EncodeLiteral(const Literal& literal, xla::LiteralProto* proto) {
  EncodeShape(WithRowMajorLayout(literal.shape()), proto->mutable_shape());
  EncodeElements(literal, proto);
  for (size_t i = 0; i < literal.elements().size(); ++i) {
    const int index = static_cast<int>(i);
    EncodeLiteral(literal.elements()[i], index < proto->tuple_literals_size()
                                             ? proto->mutable_tuple_literals(index)
                                             : proto->add_tuple_literals());
  }
}

}  // namespace codec
}  // namespace hlod::hlo
