// Protobuf's encoding, for messages of which a few fields are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hlod::pjrt {

inline void AppendVarint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}
// Appends a field of bytes, or of a message.
inline void AppendBytesField(std::string& bytes, int number, std::string_view value) {
  AppendVarint(bytes, static_cast<uint64_t>(number) << 3 | 2);
  AppendVarint(bytes, value.size());
  bytes.append(value);
}
inline void AppendNumberField(std::string& bytes, int number, int64_t value) {
  AppendVarint(bytes, static_cast<uint64_t>(number) << 3);
  AppendVarint(bytes, static_cast<uint64_t>(value));
}

}  // namespace hlod::pjrt
