// Counts in one walk over the wire format, guided by the descriptors.
#include "common/hlo/proto/wire_count.h"

#include <algorithm>
#include <map>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "google/protobuf/wire_format_lite.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::codec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The heap sizes of the parts of a parsed message. Repeated fields double as they grow, so an element takes
// up to two slots.
constexpr int64_t kBlockBytes = 16;                 // The allocator's overhead, including rounding up.
constexpr int64_t kPointerBytes = 2 * 8;            // An element of a repeated field.
constexpr int64_t kStringBytes = 32 + kBlockBytes;  // A std::string.
constexpr int64_t kScalarBytes = 2 * 8;
constexpr int64_t kUnknownBytes = 2 * 16;        // A field that the message type does not declare.
constexpr int64_t kMapEntryBytes = 2 * 32 + 64;  // Key, value, node and bucket.
constexpr int kDepthMax = 100;                   // The limit of protobuf.

struct MessageType {
  struct Field {
    const MessageType* message = nullptr;  // The field's message type; null when it is not a message.
    bool is_declared = false, is_text = false;
    int64_t packed_factor = 1;  // The ratio of bytes in memory to bytes on the wire for packed fields.
  };
  std::vector<Field> fields;  // The fields by number, up to the largest.
  int64_t object_bytes = 0;
  bool is_instruction = false;

  Field At(int number) const {
    return static_cast<size_t>(number) < fields.size() ? fields[number] : Field();
  }
};

// All message types that a module can hold.
class MessageTypes {
 public:
  MessageTypes() : module_(Add(xla::HloModuleProto::descriptor())) {}
  const MessageType& module() const { return *module_; }

 private:
  const MessageType* Add(const Descriptor* descriptor) {
    const auto [it, inserted] = types_.try_emplace(descriptor);
    MessageType& type = it->second;
    if (!inserted) return &type;
    type.is_instruction = descriptor == xla::HloInstructionProto::descriptor();
    const google::protobuf::Message* prototype =
        descriptor->options().map_entry()
            ? nullptr
            : google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
    type.object_bytes =
        kBlockBytes + kPointerBytes +
        (prototype == nullptr ? kMapEntryBytes : static_cast<int64_t>(prototype->SpaceUsedLong()));
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* field = descriptor->field(i);
      MessageType::Field& entry = FieldAt(type, field->number());
      entry.is_declared = true;
      entry.is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      entry.packed_factor = PackedFactor(field);
      if (field->message_type() != nullptr) entry.message = Add(field->message_type());
    }
    return &type;
  }
  static MessageType::Field& FieldAt(MessageType& type, int number) {
    if (type.fields.size() <= static_cast<size_t>(number)) type.fields.resize(number + 1);
    return type.fields[number];
  }
  static int64_t PackedFactor(const FieldDescriptor* field) {
    switch (field->type()) {
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FLOAT:
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_FIXED32:
      case FieldDescriptor::TYPE_SFIXED64:
      case FieldDescriptor::TYPE_SFIXED32:
      case FieldDescriptor::TYPE_BOOL: return 2;
      default: return kScalarBytes;
    }
  }

  std::map<const Descriptor*, MessageType> types_;  // A map, because addresses must be stable.
  const MessageType* const module_;
};

class Walk {
 public:
  explicit Walk(std::string_view bytes)
      : input_(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  // Counts one message, up to the input's limit. Returns false when the bytes are not a message.
  bool Message(const MessageType& type, int depth) {
    if (depth > kDepthMax) return false;
    count_.memory_bytes += type.object_bytes;
    count_.instructions += type.is_instruction;
    while (const uint32_t tag = input_.ReadTag()) {
      const MessageType::Field field = type.At(WireFormatLite::GetTagFieldNumber(tag));
      switch (WireFormatLite::GetTagWireType(tag)) {
        case WireFormatLite::WIRETYPE_VARINT:
        case WireFormatLite::WIRETYPE_FIXED32:
        case WireFormatLite::WIRETYPE_FIXED64:
          if (!WireFormatLite::SkipField(&input_, tag)) return false;
          count_.memory_bytes += field.is_declared && field.message == nullptr ? kScalarBytes : kUnknownBytes;
          break;
        case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
          if (!Delimited(field, depth)) return false;
          break;
        default: return false;
      }
    }
    return input_.ConsumedEntireMessage();
  }

  const WireCount& count() const { return count_; }

 private:
  bool Delimited(const MessageType::Field& field, int depth) {
    uint32_t length;
    if (!input_.ReadVarint32(&length) || length > INT32_MAX) return false;
    const int bytes = static_cast<int>(length);
    if (field.message != nullptr) {
      const CodedInputStream::Limit outer = input_.PushLimit(bytes);
      if (input_.BytesUntilLimit() < bytes || !Message(*field.message, depth + 1)) return false;
      input_.PopLimit(outer);
      return true;
    }
    if (field.is_text || !field.is_declared) {
      count_.memory_bytes += kStringBytes + kPointerBytes + (bytes < 16 ? 0 : kBlockBytes + bytes);
      if (!field.is_declared) count_.memory_bytes += kUnknownBytes;
    } else {
      count_.memory_bytes += kBlockBytes + field.packed_factor * bytes;
    }
    return input_.Skip(bytes);
  }

  CodedInputStream input_;
  WireCount count_;
};

}  // namespace

std::optional<WireCount> CountWire(std::string_view module) {
  static const MessageTypes types;
  if (module.size() > INT32_MAX) return std::nullopt;
  Walk walk(module);
  if (!walk.Message(types.module(), 0)) return std::nullopt;
  return walk.count();
}

}  // namespace hlod::hlo::codec
