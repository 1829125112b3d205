// The residue of a message: its fields that the IR does not model.
#pragma once

#include <bitset>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace hlod::hlo::codec {

// The numbers of a message's fields that the IR models.
using FieldSet = std::bitset<128>;

// Copies into `to` the fields of `from` outside `modelled`, and the unknown fields at any depth inside
// modelled ones, except the `dropped` fields. An empty sub-message is not copied, unless it is an element of
// a list.
void CopyResidue(const google::protobuf::Message& from, const FieldSet& modelled, const FieldSet& dropped,
                 google::protobuf::Message* to);
// Returns the set of these field numbers.
FieldSet FieldsOf(absl::Span<const int> numbers);
// Returns the path of an unknown field at any depth ("window.dimensions.77"), or nullopt when there are none.
std::optional<std::string> FirstUnknownField(const google::protobuf::Message& message);
// Returns bytes that are identical for equal messages in this build, including maps.
std::string SerializeDeterministic(const google::protobuf::Message& message);

}  // namespace hlod::hlo::codec
