// Truncates text that must stay UTF-8, as strings on the wire must: one broken character makes a whole
// message unreadable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hlod {

// Returns at most the first `bytes_max` bytes of UTF-8 text, without a partial character at the end.
inline std::string_view ClipUtf8(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  // The position is inside a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

// Does the same in place, and marks truncation with "...".
inline void ClipWithDots(std::string& text, size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  text.resize(ClipUtf8(text, bytes_max).size());
  text += "...";
}

// Returns the text with each byte that does not belong to a character written as "\xff". Texts for the wire
// may come from arbitrary bytes.
std::string ValidUtf8(std::string_view text);

}  // namespace hlod
