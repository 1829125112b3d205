// Maps NumPy's types and headers to a tensor's.
#include "client/nn/npy.h"

#include <algorithm>
#include <iterator>

#include "common/base/errors/status.h"

namespace hlod::nn {
namespace {

// The types that have a name in the format. NumPy has none for bf16: JAX and others save their extension
// types as two bytes of anything, and nothing else is saved so.
constexpr PrimitiveType kNpyTypes[] = {kPred, kS8,  kS16, kS32, kS64, kU8,  kU16,
                                       kU32,  kU64, kF16, kF32, kF64, kC64, kC128};
constexpr std::string_view kBf16Dtype = "|V2";

PrimitiveType TypeOf(std::string_view dtype) {
  if (dtype == kBf16Dtype) return kBF16;
  for (const PrimitiveType type : kNpyTypes) {
    if (hlo::NpyDtype(type) == dtype) return type;
  }
  return kInvalid;
}

}  // namespace

std::string_view NpyDtypeOf(PrimitiveType type) {
  if (type == kBF16) return kBf16Dtype;
  return std::find(std::begin(kNpyTypes), std::end(kNpyTypes), type) == std::end(kNpyTypes)
             ? ""
             : hlo::NpyDtype(type);
}

absl::StatusOr<NpyArray> ParseNpyArray(std::string_view bytes, uint64_t size, std::string_view name,
                                       bool* truncated) {
  absl::StatusOr<hlo::NpyHeader> header = hlo::ParseNpyHeader(bytes, name, truncated);
  if (!header.ok()) return header.status();
  const PrimitiveType type = TypeOf(header->dtype);
  if (type == kInvalid)
    return InvalidArgument("the dtype (%s) of %s is not one of a tensor", header->dtype, name);
  const Shape shape = Shape::Array(type, header->dims);
  if (const absl::Status valid = hlo::ValidateShape(shape); !valid.ok())
    return InvalidArgument("%s: %s", name, FromAbsl(valid.message()));
  const int64_t elements = hlo::ByteSize(shape).value_or(-1);
  if (elements < 0 || static_cast<uint64_t>(elements) != size - header->bytes) {
    return InvalidArgument("%s has %d bytes of elements, and %s takes %d", name, size - header->bytes,
                           hlo::ToStringNoLayout(shape), elements);
  }
  return NpyArray{shape, *std::move(header)};
}

}  // namespace hlod::nn
