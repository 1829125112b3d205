// Writes version 1.0 of the format, and reads 1.0 to 3.0: a magic number, a header that is a Python
// dictionary, and the elements.
#include "common/hlo/elements/npy.h"

#include <bit>
#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod::hlo {
namespace {

static_assert(std::endian::native == std::endian::little, "Elements are written as they lie in memory.");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kHeaderAlignment = 64;

// Returns the dtype for widths 1 to 8 of the kinds that NumPy names.
std::string_view Named(char kind, int bytes) {
  switch (kind) {
    case 'i': return bytes == 1 ? "|i1" : bytes == 2 ? "<i2" : bytes == 4 ? "<i4" : "<i8";
    case 'u': return bytes == 1 ? "|u1" : bytes == 2 ? "<u2" : bytes == 4 ? "<u4" : "<u8";
    case 'f': return bytes == 2 ? "<f2" : bytes == 4 ? "<f4" : "<f8";
    default: return bytes == 8 ? "<c8" : "<c16";
  }
}

// Returns the value of `key` in the header, up to the next character that ends a value.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  const size_t found = header.find(key);
  if (found == std::string_view::npos) return {};
  std::string_view rest = header.substr(found + key.size());
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  rest.remove_prefix(colon + 1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const char close = rest.starts_with('(') ? ')' : rest.starts_with('\'') ? '\'' : ',';
  const size_t end = rest.find(close, close == ',' ? 0 : 1);
  if (end == std::string_view::npos) return rest;
  return close == ',' ? rest.substr(0, end) : rest.substr(1, end - 1);
}

// Returns true when `dtype` stores elements of `type`, under their name or as raw bits.
bool Fits(std::string_view dtype, PrimitiveType type) {
  if (dtype == NpyDtype(type)) return true;
  if (dtype.size() < 3 || (dtype[0] == '>' && ByteWidth(type) > 1)) return false;
  const bool nameless = type == kBF16 || (IsFloat(type) && ByteWidth(type) == 1);
  return nameless && dtype[1] == 'V' && dtype.substr(2) == std::to_string(ByteWidth(type));
}

// Checks that every byte is a value of the type, for types narrower than a byte.
absl::Status CheckRange(std::string_view bytes, PrimitiveType type, std::string_view name) {
  const int bits = type == kPred ? 1 : Info(type).bits;
  if (bits >= 8 || ByteWidth(type) != 1) return absl::OkStatus();
  const bool is_signed = IsSigned(type);
  const int least = is_signed ? -(1 << (bits - 1)) : 0;
  const int most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int value = is_signed ? static_cast<int>(static_cast<int8_t>(bytes[i]))
                                : static_cast<int>(static_cast<uint8_t>(bytes[i]));
    if (value < least || value > most) {
      return InvalidArgument("%s: element %d is %d; %s holds %d to %d.", name, i, value, Name(type), least,
                             most);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void FromColumnMajor(std::string_view from, Literal& to) {
  const size_t width = static_cast<size_t>(ByteWidth(to.shape().type));
  const Dims strides = RowMajorStrides(to.shape().dims);
  Dims index(to.shape().dims.size(), 0);
  for (int64_t i = 0; i < to.element_count(); ++i) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d) linear += index[d] * strides[d];
    std::memcpy(to.bytes().data() + static_cast<size_t>(linear) * width,
                from.data() + static_cast<size_t>(i) * width, width);
    for (size_t d = 0; d < index.size() && ++index[d] == to.shape().dims[d]; ++d) index[d] = 0;
  }
}

std::string_view NpyDtype(PrimitiveType type) {
  const int bytes = ByteWidth(type);
  if (type == kPred) return "|b1";
  if (IsSigned(type)) return Named('i', bytes);
  if (IsComplex(type)) return Named('c', bytes);
  if (IsFloat(type) && bytes > 1 && type != kBF16) return Named('f', bytes);
  return Named('u', bytes);
}

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view bytes, std::string_view name, bool* truncated) {
  const bool begins = bytes.size() < kMagic.size() ? kMagic.starts_with(bytes) : bytes.starts_with(kMagic);
  if (truncated != nullptr) *truncated = begins && bytes.size() < 12;
  if (!begins || bytes.size() < 12) return InvalidArgument("%s is not a .npy file.", name);
  const int version = bytes[6];
  const size_t prefix = version == 1 ? 10 : 12;
  size_t header_size = static_cast<uint8_t>(bytes[8]) + 256u * static_cast<uint8_t>(bytes[9]);
  if (version != 1) {
    header_size += (static_cast<size_t>(static_cast<uint8_t>(bytes[10])) << 16) +
                   (static_cast<size_t>(static_cast<uint8_t>(bytes[11])) << 24);
  }
  const bool known = version >= 1 && version <= 3;
  if (truncated != nullptr) *truncated = known && header_size > bytes.size() - prefix;
  if (!known || header_size > bytes.size() - prefix)
    return InvalidArgument("%s has a broken .npy header.", name);
  const std::string_view text = bytes.substr(prefix, header_size);
  NpyHeader header;
  header.dtype = std::string(ValueOf(text, "'descr'"));
  header.column_major = ValueOf(text, "'fortran_order'").starts_with("True");
  header.bytes = prefix + header_size;
  std::string_view list = ValueOf(text, "'shape'");
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    int64_t size;
    std::string_view number = list.substr(0, comma);
    while (number.starts_with(' ')) number.remove_prefix(1);
    if (!number.empty()) {
      if (!absl::SimpleAtoi(ToAbsl(number), &size) || size < 0)
        return InvalidArgument("%s has a broken shape (%s).", name, number);
      header.dims.push_back(size);
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return header;
}

absl::StatusOr<Literal> ParseNpy(std::string_view bytes, const Shape& shape, std::string_view name) {
  ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes, name));
  const std::string_view payload = bytes.substr(header.bytes);
  if (header.dtype.starts_with('>')) {
    return InvalidArgument("%s has big-endian elements (%s); convert them with astype.", name, header.dtype);
  }
  if (!Fits(header.dtype, shape.type)) {
    return InvalidArgument("%s has elements of dtype %s; %s takes %s.", name, header.dtype,
                           ToStringNoLayout(shape), NpyDtype(shape.type));
  }
  if (header.dims != shape.dims) {
    return InvalidArgument("%s holds %s; %s is to be given.", name,
                           ToStringNoLayout(Shape::Array(shape.type, header.dims)), ToStringNoLayout(shape));
  }
  const std::optional<int64_t> needed = ByteSize(shape);
  if (!needed.has_value() || static_cast<int64_t>(payload.size()) < *needed) {
    return InvalidArgument("%s ends early: %d bytes of elements; %s takes %d.", name, payload.size(),
                           ToStringNoLayout(shape), needed.value_or(-1));
  }
  if (static_cast<int64_t>(payload.size()) > *needed) {
    return InvalidArgument("%s goes on after its %d bytes of elements, for %d bytes.", name, *needed,
                           static_cast<int64_t>(payload.size()) - *needed);
  }
  RETURN_IF_ERROR(CheckRange(payload, shape.type, name));
  Literal literal(shape);
  if (header.column_major) {
    FromColumnMajor(payload, literal);
  } else if (*needed > 0) {
    std::memcpy(literal.bytes().data(), payload.data(), static_cast<size_t>(*needed));
  }
  return literal;
}

absl::StatusOr<Literal> ReadNpy(const std::string& path, const Shape& shape) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseNpy(bytes, shape, path);
}

std::string FormatNpyHeader(std::string_view dtype, const Dims& sizes) {
  std::string dims;
  for (const int64_t size : sizes) dims += std::to_string(size) + ", ";
  if (dims.size() > 2 && sizes.size() > 1) dims.resize(dims.size() - 2);
  if (sizes.size() == 1) dims.resize(dims.size() - 1);  // A tuple with one element, such as (3,).
  std::string header =
      absl::StrFormat("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, dims);
  const size_t prefix = kMagic.size() + 4;
  header.append(kHeaderAlignment - (prefix + header.size() + 1) % kHeaderAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return out + header;
}

std::string FormatNpy(const Literal& literal) {
  std::string out = FormatNpyHeader(NpyDtype(literal.shape().type), literal.shape().dims);
  out.append(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
  return out;
}

absl::Status WriteNpy(const std::string& path, const Literal& literal) {
  return WriteFile(path, FormatNpy(literal));
}

}  // namespace hlod::hlo
