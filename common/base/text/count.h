// Numbers of things in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hlod {

// Returns "1 value", or "2 values". `plural` is for nouns that do not add an s.
inline std::string CountText(int64_t count, std::string_view noun, std::string_view plural = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) text += noun;
  else if (plural.empty()) (text += noun) += "s";
  else text += plural;
  return text;
}

}  // namespace hlod
