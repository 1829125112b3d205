// Reads types by their dialects' codes.
#include "client/import/bytecode/types.h"

#include <algorithm>

#include "client/import/bytecode/attributes.h"

namespace hlod::stablehlo::bytecode {
namespace {

using hlo::PrimitiveType;

struct Element {
  std::string_view dialect;
  uint64_t code;
  PrimitiveType type;
};
constexpr Element kElements[] = {
#define HLOD_ELEMENT(dialect, code, type) {dialect, code, PrimitiveType::type},
#define HLOD_FOREIGN(dialect, code, name, word)
#include "client/import/bytecode/types.inc"
#undef HLOD_ELEMENT
#undef HLOD_FOREIGN
};

struct Foreign {
  std::string_view dialect;
  uint64_t code;
  std::string_view name, word;
};
constexpr Foreign kForeign[] = {
#define HLOD_ELEMENT(dialect, code, type)
#define HLOD_FOREIGN(dialect, code, name, word) {dialect, code, name, word},
#include "client/import/bytecode/types.inc"
#undef HLOD_ELEMENT
#undef HLOD_FOREIGN
};

// Return the bytes that a copy of a value's type takes besides the type itself.
int64_t CopyBytes(const std::vector<Type>& types);
int64_t CopyBytes(const Type& type) {
  const bool is_inline = type.dims.size() <= hlo::Dims().capacity();
  const int64_t dimensions =
      is_inline ? 0 : type.rank() * static_cast<int64_t>(sizeof(int64_t) + sizeof(bool));
  return dimensions + CopyBytes(type.tuple);
}
int64_t CopyBytes(const std::vector<Type>& types) {
  int64_t bytes = 0;
  for (const Type& type : types) bytes += static_cast<int64_t>(sizeof(Type)) + CopyBytes(type);
  return bytes;
}

// The input of the readers of types with fields: the source of nested types, and the bytes after the code.
struct TypeFields {
  Source& source;
  Stream& in;
};

TypeEntry ElementEntry(PrimitiveType type) { return {.value = Type::Scalar(type), .is_element = true}; }

// Reads types of values, one after the other.
absl::StatusOr<std::vector<Type>> ReadTypes(TypeFields part) {
  ASSIGN_OR_RETURN(const size_t count, part.in.Count("types"));
  std::vector<Type> types;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Type type, ReadType(part.source, part.in));
    types.push_back(std::move(type));
  }
  return types;
}

// Reads an integer type: width and sign in one number.
absl::StatusOr<TypeEntry> ReadInteger(TypeFields part) {
  enum Sign : uint64_t { kNone, kSigned, kUnsigned };
  const Stream before = part.in;
  ASSIGN_OR_RETURN(const uint64_t value, part.in.Number());
  const uint64_t width = value >> 2, sign = value & 3;
  if (width == 1 && sign == kNone) return ElementEntry(hlo::kPred);
  const std::string name = absl::StrFormat("%c%d", sign == kUnsigned ? 'u' : 's', width);
  const std::optional<PrimitiveType> type = hlo::ParsePrimitiveType(name);
  if (!type || sign > kUnsigned) return before.Refused("HLO does not have integers of %d bits", width);
  return ElementEntry(*type);
}

absl::StatusOr<TypeEntry> ReadFunction(TypeFields part) {
  FunctionType type;
  ASSIGN_OR_RETURN(type.inputs, ReadTypes(part));
  ASSIGN_OR_RETURN(type.results, ReadTypes(part));
  const int64_t bytes = CopyBytes(type.inputs) + CopyBytes(type.results);
  return TypeEntry{.value = std::move(type), .bytes = bytes};
}

absl::StatusOr<TypeEntry> ReadComplex(TypeFields part) {
  const Stream before = part.in;
  ASSIGN_OR_RETURN(const PrimitiveType real, ReadElementType(part.source, part.in));
  if (real != hlo::kF32 && real != hlo::kF64)
    return before.Refused("HLO does not have complex numbers of %s", Name(real));
  return ElementEntry(hlo::ComplexType(real));
}

absl::StatusOr<Type> ReadArray(TypeFields part) {
  const Stream before = part.in;
  ASSIGN_OR_RETURN(const size_t rank, part.in.Count("dimensions"));
  if (rank > static_cast<size_t>(hlo::kMaxRank))
    return before.Error("a tensor has %d dimensions; the limit is %d", rank, hlo::kMaxRank);
  Type type;
  for (size_t i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const int64_t size, part.in.Signed());
    type.dims.push_back(size);
    type.dynamic.push_back(size == hlo::kUnboundedSize);
  }
  if (!type.HasDynamicDimension()) type.dynamic.clear();
  ASSIGN_OR_RETURN(type.type, ReadElementType(part.source, part.in));
  RETURN_IF_ERROR(before.ErrorAt(before.position(), hlo::ValidateShape(type)));
  return type;
}

absl::StatusOr<TypeEntry> ReadTensor(TypeFields part) {
  ASSIGN_OR_RETURN(Type type, ReadArray(part));
  const int64_t bytes = CopyBytes(type);
  return TypeEntry{.value = std::move(type), .bytes = bytes};
}

// Reads a tensor type whose dynamic dimensions may have bounds.
absl::StatusOr<TypeEntry> ReadTensorWithEncoding(TypeFields part) {
  const Stream before = part.in;
  ASSIGN_OR_RETURN(const Attribute encoding, ReadAttribute(part.source, part.in));
  ASSIGN_OR_RETURN(Type type, ReadArray(part));
  const Integers* const bounds = std::get_if<Integers>(&encoding.value);
  if (bounds == nullptr) return before.Refused("a tensor's encoding must be bounds of its dimensions");
  if (bounds->size() != type.dims.size())
    return before.Error("found %d bounds for %d dimensions", bounds->size(), type.rank());
  for (size_t i = 0; i < bounds->size(); ++i) {
    if ((*bounds)[i] == hlo::kUnboundedSize) continue;
    if (!type.IsDynamic(static_cast<int64_t>(i)))
      return before.Error("dimension %d has both a size and a bound", i);
    type.dims[i] = (*bounds)[i];
  }
  RETURN_IF_ERROR(before.ErrorAt(before.position(), hlo::ValidateShape(type)));
  const int64_t bytes = CopyBytes(type);
  return TypeEntry{.value = std::move(type), .bytes = bytes};
}

absl::StatusOr<TypeEntry> ReadToken(TypeFields) { return TypeEntry{.value = Type::Token()}; }

absl::StatusOr<TypeEntry> ReadTuple(TypeFields part) {
  const Stream before = part.in;
  ASSIGN_OR_RETURN(std::vector<Type> elements, ReadTypes(part));
  Type type = Type::Tuple(std::move(elements));
  RETURN_IF_ERROR(before.ErrorAt(before.position(), hlo::ValidateShape(type)));
  const int64_t bytes = CopyBytes(type);
  return TypeEntry{.value = std::move(type), .bytes = bytes};
}

absl::StatusOr<TypeEntry> ReadBuffer(TypeFields part) {
  ASSIGN_OR_RETURN(Type array, ReadArray(part));
  Type type{.type = hlo::kBufferType};
  type.tuple.push_back(std::move(array));
  const int64_t bytes = CopyBytes(type);
  return TypeEntry{.value = std::move(type), .bytes = bytes};
}

// A type with fields.
struct Composed {
  std::string_view dialect;
  uint64_t code;
  absl::StatusOr<TypeEntry> (*read)(TypeFields);
};
constexpr Composed kComposed[] = {
    {"builtin", 0, ReadInteger},
    {"builtin", 2, ReadFunction},
    {"builtin", 9, ReadComplex},
    {"builtin", 13, ReadTensor},
    {"builtin", 14, ReadTensorWithEncoding},
    {"builtin", 15, ReadTuple},
    {"stablehlo", 0, ReadToken},
    {"vhlo", 1, ReadComplex},
    {"vhlo", 8, ReadFunction},
    {"vhlo", 20, ReadTensor},
    {"vhlo", 21, ReadTensorWithEncoding},
    {"vhlo", 22, ReadToken},
    {"vhlo", 23, ReadTuple},
    {"vhlo", 41, ReadBuffer},
    {"vhlo", 42, ReadTuple},
};

template <typename Row>
const Row* Find(absl::Span<const Row> rows, std::string_view dialect, uint64_t code) {
  const auto found =
      std::ranges::find_if(rows, [&](const Row& row) { return row.dialect == dialect && row.code == code; });
  return found == rows.end() ? nullptr : &*found;
}

absl::StatusOr<TypeEntry> ReadContainedType(Source& source, const Entry& entry) {
  Stream in = entry.bytes;
  if (!entry.is_custom) {
    ASSIGN_OR_RETURN(const std::string_view text, in.NullTerminated("the text of a type"));
    return entry.bytes.Refused("types of the dialect %s as text are not supported: %.60s", entry.dialect,
                               std::string(text));
  }
  ASSIGN_OR_RETURN(const uint64_t code, in.Number());
  if (const Element* row = Find<Element>(kElements, entry.dialect, code)) {
    RETURN_IF_ERROR(in.End("a type"));
    return ElementEntry(row->type);
  }
  if (const Composed* row = Find<Composed>(kComposed, entry.dialect, code)) {
    ASSIGN_OR_RETURN(TypeEntry type, row->read({source, in}));
    RETURN_IF_ERROR(in.End("a type"));
    return type;
  }
  const Foreign* const row = Find<Foreign>(kForeign, entry.dialect, code);
  if (row == nullptr) return entry.bytes.Refused("type %d of the dialect %s is unknown", code, entry.dialect);
  if (row->word.empty()) return entry.bytes.Refused("the type \"%s\" is not supported", row->name);
  return TypeEntry{.value = Word{std::string(row->word)}, .is_element = true};
}

}  // namespace

absl::StatusOr<const TypeEntry*> ReadTypeEntry(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint64_t index, in.Number());
  return FindType(source, before, index);
}

absl::StatusOr<const TypeEntry*> FindType(Source& source, const Stream& at, uint64_t index) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.Check(at));
  RETURN_IF_ERROR(at.CheckIndex(index, source.types.size(), "type"));
  if (!source.types[index]) {
    ASSIGN_OR_RETURN(TypeEntry entry, ReadContainedType(source, source.container.types[index]));
    source.types[index] = std::move(entry);
  }
  return &*source.types[index];
}

absl::StatusOr<Type> CopyType(Source& source, const Stream& at, const TypeEntry& entry) {
  const Type* const type = std::get_if<Type>(&entry.value);
  if (type == nullptr || entry.is_element) return at.Error("expected the type of a value");
  RETURN_IF_ERROR(source.Charge(at, entry.bytes));
  return *type;
}

absl::StatusOr<Type> ReadType(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const TypeEntry* const entry, ReadTypeEntry(source, in));
  return CopyType(source, before, *entry);
}

absl::StatusOr<PrimitiveType> ReadElementType(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const TypeEntry* const entry, ReadTypeEntry(source, in));
  const Type* const type = std::get_if<Type>(&entry->value);
  if (type != nullptr && entry->is_element) return type->type;
  if (const Word* const word = std::get_if<Word>(&entry->value))
    return before.Refused("elements of type %s are not supported", word->text);
  return before.Error("expected an element type");
}

absl::StatusOr<Attribute> AsAttribute(Source& source, const Stream& at, const TypeEntry& entry) {
  RETURN_IF_ERROR(source.Charge(at, entry.bytes));
  return std::visit([](const auto& value) { return Attribute{value}; }, entry.value);
}

}  // namespace hlod::stablehlo::bytecode
