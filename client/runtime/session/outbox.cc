// Serializes commands and packs their bytes into messages.
#include "client/runtime/session/outbox.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <utility>

namespace hlod::runtime {
namespace {

// The size up to which commands are gathered. A larger message costs the same per byte, and its first command
// waits longer.
constexpr size_t kMessageBytes = 64 << 10;

}  // namespace

std::shared_ptr<const std::string> Outbox::Encode(const v1::Command& command) const {
  using google::protobuf::internal::WireFormatLite;
  using google::protobuf::io::CodedOutputStream;
  const int field = commands_per_message_max_ > 0 ? v1::ClientMessage::kCommandsFieldNumber
                                                  : v1::ClientMessage::kCommandFieldNumber;
  const uint32_t tag = WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  const uint32_t size = static_cast<uint32_t>(command.ByteSizeLong());
  auto bytes = std::make_shared<std::string>();
  bytes->resize(CodedOutputStream::VarintSize32(tag) + CodedOutputStream::VarintSize32(size) + size);
  uint8_t* to = reinterpret_cast<uint8_t*>(bytes->data());
  to = CodedOutputStream::WriteVarint32ToArray(tag, to);
  to = CodedOutputStream::WriteVarint32ToArray(size, to);
  command.SerializeWithCachedSizesToArray(to);
  return bytes;
}

MessageParts Outbox::Next(v1::ClientMessage header) {
  const auto pop = [this] {
    Item item = std::move(items_.front());
    items_.pop_front();
    if (item.command != nullptr) command_bytes_ -= item.command->size();
    return item;
  };
  MessageParts parts;
  if (items_.front().command == nullptr) {
    if (const uint64_t command = pop().cancel; command != 0) header.mutable_cancel()->set_command(command);
    parts.push_back(std::make_shared<const std::string>(header.SerializeAsString()));
    return parts;
  }
  if (std::string bytes = header.SerializeAsString(); !bytes.empty()) {
    parts.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  const int64_t max = std::max<int64_t>(1, commands_per_message_max_);
  size_t bytes = 0;
  for (int64_t commands = 0; commands < max && !items_.empty(); ++commands) {
    const Item& next = items_.front();
    if (next.command == nullptr || (commands > 0 && bytes + next.command->size() > kMessageBytes)) break;
    bytes += next.command->size();
    parts.push_back(pop().command);
  }
  return parts;
}

}  // namespace hlod::runtime
