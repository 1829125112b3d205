// Copies fields from the wire, and opens only the messages that lead to metadata.
#include "common/hlo/proto/without_metadata.h"

#include <cstdint>

#include "common/hlo/proto/serialized.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::codec {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// A level of messages on the path from a module to the metadata of its instructions.
struct Level {
  int opened;      // The field that holds messages of the next level; 0 for none.
  int dropped[2];  // Fields to remove; 0 for none.
};
constexpr Level kLevels[] = {
    {xla::HloModuleProto::kComputationsFieldNumber,
     {xla::HloModuleProto::kNameFieldNumber, xla::HloModuleProto::kStackFrameIndexFieldNumber}},
    {xla::HloComputationProto::kInstructionsFieldNumber, {0, 0}},
    {0, {xla::HloInstructionProto::kMetadataFieldNumber, 0}},
};

void AppendVarint(uint32_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Appends the message without the fields that its level and the levels below drop. Returns false when the
// bytes are not a message.
bool Copy(std::string_view bytes, int level, std::string& out, std::string* name) {
  const Level& at = kLevels[level];
  CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  size_t begin = 0;
  while (const uint32_t tag = input.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const bool delimited = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    std::string_view payload;
    if (delimited) {
      uint32_t length;
      if (!input.ReadVarint32(&length)) return false;
      const auto from = static_cast<size_t>(input.CurrentPosition());
      if (length > bytes.size() - from || !input.Skip(static_cast<int>(length))) return false;
      payload = bytes.substr(from, length);
    } else if (!WireFormatLite::SkipField(&input, tag)) {
      return false;
    }
    const auto end = static_cast<size_t>(input.CurrentPosition());
    if (delimited && number == at.opened) {
      std::string inner;
      inner.reserve(payload.size());
      if (!Copy(payload, level + 1, inner, nullptr)) return false;
      AppendVarint(tag, out);
      AppendVarint(static_cast<uint32_t>(inner.size()), out);
      out += inner;
    } else if (!delimited || (number != at.dropped[0] && number != at.dropped[1])) {
      out += bytes.substr(begin, end - begin);
    } else if (name != nullptr && number == xla::HloModuleProto::kNameFieldNumber) {
      *name = std::string(payload);
    }
    begin = end;
  }
  return input.ConsumedEntireMessage();
}

}  // namespace

std::optional<WithoutMetadata> StripMetadata(std::string_view bytes) {
  if (bytes.size() > INT32_MAX) return std::nullopt;
  WithoutMetadata result;
  const std::string_view module = ModuleBytes(bytes);
  result.module.reserve(module.size());
  if (!Copy(module, 0, result.module, &result.name)) return std::nullopt;
  return result;
}

}  // namespace hlod::hlo::codec
