// Collects the fields that the IR does not model by protobuf reflection, so that no field, known or unknown,
// can be forgotten.
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/hlo/proto/residue.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/field_mask_util.h"

namespace hlod::hlo::codec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<const FieldDescriptor*> SetFields(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map();
}

// Calls f(sub-message, index) for the messages in `field` until a call returns true; index is -1 for a
// singular field.
template <typename F>
bool AnyMessage(const Message& message, const FieldDescriptor* field, F&& f) {
  const auto* reflection = message.GetReflection();
  if (!field->is_repeated()) return f(reflection->GetMessage(message, field));
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    if (f(reflection->GetRepeatedMessage(message, field, i))) return true;
  }
  return false;
}

bool HasUnknownField(const Message& message) {
  if (!message.GetReflection()->GetUnknownFields(message).empty()) return true;
  for (const FieldDescriptor* field : SetFields(message)) {
    if (IsMessage(field) && AnyMessage(message, field, HasUnknownField)) return true;
  }
  return false;
}

bool HasContent(const Message& message) { return message.ByteSizeLong() != 0; }

// Clears every known field that contains no unknown field. Elements of a repeated field keep their positions
// as long as one of them is kept.
void KeepUnknownFields(Message* message) {
  const auto* reflection = message->GetReflection();
  for (const FieldDescriptor* field : SetFields(*message)) {
    if (IsMessage(field)) {
      if (!field->is_repeated()) KeepUnknownFields(reflection->MutableMessage(message, field));
      for (int i = 0; field->is_repeated() && i < reflection->FieldSize(*message, field); ++i) {
        KeepUnknownFields(reflection->MutableRepeatedMessage(message, field, i));
      }
      if (AnyMessage(*message, field, HasContent)) continue;
    }
    reflection->ClearField(message, field);
  }
}

bool Contains(const FieldSet& set, int number) {
  return number < static_cast<int>(set.size()) && set[number];
}

}  // namespace

FieldSet FieldsOf(absl::Span<const int> numbers) {
  FieldSet set;
  for (int number : numbers) set.set(number);
  return set;
}

void CopyResidue(const Message& from, const FieldSet& modelled, const FieldSet& dropped, Message* to) {
  google::protobuf::FieldMask kept, partly_kept;  // Partly kept: modelled fields that contain unknown fields.
  for (const FieldDescriptor* field : SetFields(from)) {
    const int number = field->number();
    if (Contains(dropped, number)) continue;
    if (Contains(modelled, number)) {
      if (IsMessage(field) && AnyMessage(from, field, HasUnknownField)) partly_kept.add_paths(field->name());
    } else if (!IsMessage(field) || field->is_repeated() || AnyMessage(from, field, HasContent)) {
      kept.add_paths(field->name());
    }
  }
  using google::protobuf::util::FieldMaskUtil;
  if (partly_kept.paths_size() != 0) {
    FieldMaskUtil::MergeMessageTo(from, partly_kept, FieldMaskUtil::MergeOptions(), to);
    KeepUnknownFields(to);
  }
  if (kept.paths_size() != 0) FieldMaskUtil::MergeMessageTo(from, kept, FieldMaskUtil::MergeOptions(), to);
  to->GetReflection()->MutableUnknownFields(to)->MergeFrom(from.GetReflection()->GetUnknownFields(from));
}

std::optional<std::string> FirstUnknownField(const Message& message) {
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (!unknown.empty()) return absl::StrCat(unknown.field(0).number());
  for (const FieldDescriptor* field : SetFields(message)) {
    if (!IsMessage(field)) continue;
    std::optional<std::string> path;
    AnyMessage(message, field,
               [&](const Message& sub) { return (path = FirstUnknownField(sub)).has_value(); });
    if (path) return absl::StrCat(field->name(), ".", *path);
  }
  return std::nullopt;
}

std::string SerializeDeterministic(const Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&coded);
  }
  return bytes;
}

}  // namespace hlod::hlo::codec
