// The account of what a message says and the IR has no place for.
#pragma once

#include <bitset>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace hlod::hlo::codec {

// Field numbers of one message that the IR has a place for.
using FieldSet = std::bitset<128>;

// Copies into `to` what `from` says outside the `modelled` fields, and the unknown fields at any depth inside
// those; nothing of the `dropped` ones. An empty sub-message says nothing, unless it is one of a list.
void CopyResidue(const google::protobuf::Message& from, const FieldSet& modelled, const FieldSet& dropped,
                 google::protobuf::Message* to);
// The set of these field numbers.
FieldSet FieldsOf(absl::Span<const int> numbers);
// The path of some unknown field at any depth ("window.dimensions.77"), or nothing.
std::optional<std::string> FirstUnknownField(const google::protobuf::Message& message);
// Bytes that are the same for equal messages in this build, maps included.
std::string SerializeDeterministic(const google::protobuf::Message& message);

}  // namespace hlod::hlo::codec
