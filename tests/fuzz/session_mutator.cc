// Changes inputs of the target `session` in ways that leave most messages readable: fields of messages, and
// frames that are repeated, left out, exchanged, or taken from the seeds.
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/session_frames.h"

namespace hlod::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  void Change(std::vector<Frame>& frames) {
    if (frames.empty() || OneIn(6)) return Insert(frames, FromSeeds());
    Frame& frame = frames[Below(frames.size())];
    switch (Below(12)) {
      case 0: return Insert(frames, Frame(frame));
      case 1: frames.erase(frames.begin() + (&frame - frames.data())); return;
      case 2: return std::swap(frame, frames[Below(frames.size())]);
      case 3: frame.head = static_cast<uint8_t>(Below(16)); return;
      case 4: return Insert(frames, {static_cast<uint8_t>(Below(16)), std::string(Below(40), 'x')});
      case 5: return ChangeBytes(frame.bytes);
      default: return ChangeFields(frame);
    }
  }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  size_t Below(size_t n) { return random_() % n; }
  void Insert(std::vector<Frame>& frames, Frame frame) {
    frames.insert(frames.begin() + static_cast<ptrdiff_t>(Below(frames.size() + 1)), std::move(frame));
  }
  Frame FromSeeds() {
    const std::vector<Frame>& seed = SessionSeeds()[Below(SessionSeeds().size())];
    return seed[Below(seed.size())];
  }

  void ChangeBytes(std::string& bytes) {
    if (bytes.empty() || OneIn(4)) {
      bytes.insert(Below(bytes.size() + 1), Below(20), static_cast<char>(random_()));
    } else if (OneIn(3)) {
      bytes.resize(Below(bytes.size()));
    } else {
      bytes[Below(bytes.size())] = static_cast<char>(random_());
    }
  }

  void ChangeFields(Frame& frame) {
    v1::ClientMessage message;
    if (!message.ParseFromString(frame.bytes)) return ChangeBytes(frame.bytes);
    ChangeMessage(message);
    frame.bytes = message.SerializePartialAsString();
  }

  // Changes a field of the message, or with more likelihood one of a message in it.
  void ChangeMessage(Message& message) {
    const Reflection& access = *message.GetReflection();
    std::vector<const FieldDescriptor*> set;
    access.ListFields(message, &set);
    std::erase_if(set,
                  [](const FieldDescriptor* f) { return f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE; });
    if (!set.empty() && !OneIn(4)) {
      const FieldDescriptor* inner = set[Below(set.size())];
      Message* const part =
          inner->is_repeated()
              ? access.MutableRepeatedMessage(&message, inner,
                                              static_cast<int>(Below(access.FieldSize(message, inner))))
              : access.MutableMessage(&message, inner);
      return ChangeMessage(*part);
    }
    const int count = message.GetDescriptor()->field_count();
    if (count == 0) return;
    const FieldDescriptor* field = message.GetDescriptor()->field(static_cast<int>(Below(count)));
    if (OneIn(5)) return access.ClearField(&message, field);
    if (!field->is_repeated()) return SetField(message, field);
    const int size = access.FieldSize(message, field);
    if (size > 0 && OneIn(3)) return access.RemoveLast(&message, field);
    if (size > 1 && OneIn(3)) return access.SwapElements(&message, field, 0, static_cast<int>(Below(size)));
    AddElement(message, field);
  }

  int64_t Integer() {
    switch (Below(8)) {
      case 0: return static_cast<int64_t>(random_());
      case 1: return std::numeric_limits<int64_t>::max() - static_cast<int64_t>(Below(2));
      case 2: return -static_cast<int64_t>(Below(3));
      case 3: return int64_t{1} << Below(63);
      default: return static_cast<int64_t>(Below(9));
    }
  }
  std::string Text() { return std::string(Below(24), static_cast<char>(random_())); }

  void SetField(Message& message, const FieldDescriptor* field) {
    const Reflection& access = *message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return access.SetInt32(&message, field, static_cast<int32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_INT64: return access.SetInt64(&message, field, Integer());
      case FieldDescriptor::CPPTYPE_UINT32:
        return access.SetUInt32(&message, field, static_cast<uint32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return access.SetUInt64(&message, field, static_cast<uint64_t>(Integer()));
      case FieldDescriptor::CPPTYPE_ENUM:
        return access.SetEnumValue(&message, field, static_cast<int>(Below(32)));
      case FieldDescriptor::CPPTYPE_BOOL: return access.SetBool(&message, field, OneIn(2));
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string text = access.GetString(message, field);
        text.empty() ? text = Text() : (ChangeBytes(text), text);
        return access.SetString(&message, field, std::move(text));
      }
      case FieldDescriptor::CPPTYPE_MESSAGE: return ChangeMessage(*access.MutableMessage(&message, field));
      default: return;
    }
  }

  void AddElement(Message& message, const FieldDescriptor* field) {
    const Reflection& access = *message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return access.AddInt32(&message, field, static_cast<int32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_INT64: return access.AddInt64(&message, field, Integer());
      case FieldDescriptor::CPPTYPE_UINT32:
        return access.AddUInt32(&message, field, static_cast<uint32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return access.AddUInt64(&message, field, static_cast<uint64_t>(Integer()));
      case FieldDescriptor::CPPTYPE_BOOL: return access.AddBool(&message, field, OneIn(2));
      case FieldDescriptor::CPPTYPE_STRING: return access.AddString(&message, field, Text());
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const int size = access.FieldSize(message, field);
        Message* const added = access.AddMessage(&message, field);
        if (size > 0)
          added->CopyFrom(access.GetRepeatedMessage(message, field, static_cast<int>(Below(size))));
        return ChangeMessage(*added);
      }
      default: return;
    }
  }

  std::minstd_rand random_;
};

}  // namespace
}  // namespace hlod::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned int seed) {
  using namespace hlod::fuzz;
  std::vector<Frame> frames = Split({reinterpret_cast<const char*>(data), size}, 1000);
  Mutator mutator(seed);
  do {
    mutator.Change(frames);
  } while (!mutator.OneIn(3));
  const std::string changed = Joined(frames);
  const size_t kept = std::min(changed.size(), size_max);
  std::memcpy(data, changed.data(), kept);
  return kept;
}
