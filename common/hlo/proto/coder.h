// Reads one alternative of Attributes from HloInstructionProto and writes it back, with the helpers that all
// coders use.
#pragma once

#include <array>

#include "common/base/errors/status.h"
#include "common/hlo/names/spelling.h"
#include "common/hlo/proto/attributes.h"
#include "common/hlo/proto/shape.h"

namespace hlod::hlo::codec {

using Proto = xla::HloInstructionProto;
using In = const AttributesInput&;
using absl::OkStatus;
using absl::Status;

inline Dims Read(const google::protobuf::RepeatedField<int64_t>& field) {
  return Dims(field.begin(), field.end());
}
inline void Write(const Dims& dims, google::protobuf::RepeatedField<int64_t>* field) {
  field->Assign(dims.begin(), dims.end());
}

// Returns the element at `index`, which is appended when missing: fields kept by decoding keep their
// positions.
template <typename T>
T* ElementAt(google::protobuf::RepeatedPtrField<T>* field, size_t index) {
  return index < static_cast<size_t>(field->size()) ? field->Mutable(static_cast<int>(index)) : field->Add();
}

// Enums on the wire are open: a number that this build does not know is an error, because its meaning is
// unknown.
inline Status CheckEnum(bool known, const char* field, int number) {
  if (known) return OkStatus();
  return Unimplemented("%s is %d, which this build does not know", field, number);
}

// kFields are the fields that Decode reads. Decode leaves the members of `out` at their defaults when the
// proto lacks the field.
template <typename T>
struct Coder;

}  // namespace hlod::hlo::codec
