// Finds fields of a serialized message by skipping the others.
#include "common/hlo/proto/serialized.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::codec {
namespace {

constexpr size_t kNameMax = 256;

// Returns the payload of the first length-delimited field `number` of a serialized message; nullopt when it
// is missing or the bytes are not a message. Reads only the top level.
std::optional<std::string_view> Submessage(std::string_view bytes, int number) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  std::optional<std::string_view> found;
  while (const uint32_t tag = input.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) == number &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      uint32_t length;
      if (!input.ReadVarint32(&length)) return std::nullopt;
      const int begin = input.CurrentPosition();
      if (!input.Skip(static_cast<int>(std::min<uint32_t>(length, INT32_MAX)))) return std::nullopt;
      if (!found) found = bytes.substr(begin, length);
    } else if (!WireFormatLite::SkipField(&input, tag)) {
      return std::nullopt;
    }
  }
  return input.ConsumedEntireMessage() ? found : std::nullopt;
}

}  // namespace

std::string_view ModuleBytes(std::string_view bytes) {
  constexpr int kWrapped = xla::HloProto::kHloModuleFieldNumber,
                kComputations = xla::HloModuleProto::kComputationsFieldNumber;
  static_assert(kWrapped == xla::HloSnapshot::kHloFieldNumber);
  std::optional<std::string_view> inner = bytes;
  for (int depth = 0; depth < 2 && (inner = Submessage(*inner, kWrapped)); ++depth) {
    if (Submessage(*inner, kComputations)) return *inner;
  }
  return bytes;
}

std::string ModuleName(std::string_view bytes) {
  if (bytes.size() > INT32_MAX) return "";
  const std::optional<std::string_view> name =
      Submessage(ModuleBytes(bytes), xla::HloModuleProto::kNameFieldNumber);
  const auto printable = [](char c) { return c >= 0x20 && c <= 0x7e; };
  if (!name || !std::all_of(name->begin(), name->end(), printable)) return "";
  return std::string(name->substr(0, kNameMax));
}

}  // namespace hlod::hlo::codec
