// Cutting text that must stay UTF-8: the wire's strings are, and one broken character spoils a whole message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hlod {

// The first `bytes_max` bytes of UTF-8 text at most, without a part of a character at the end.
inline std::string_view ClipUtf8(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // Inside of a character.
  return text.substr(0, end);
}

// The same in place; what was cut off is shown as "...".
inline void ClipWithDots(std::string& text, size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  text.resize(ClipUtf8(text, bytes_max).size());
  text += "...";
}

// The text with each byte that is not part of a character written as "\\xff": what goes into a message of the
// wire may have come from bytes that mean no text.
std::string ValidUtf8(std::string_view text);

}  // namespace hlod
