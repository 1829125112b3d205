// Iterates over the characters of a text; most texts contain none that must be escaped.
#include "common/base/text/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "common/base/text/utf8.h"

namespace hlod {
namespace {

struct Range {
  uint32_t first, last;
};
// Unicode's control characters, and the invisible characters that reorder or separate lines.
constexpr Range kEscaped[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200b, 0x200f},
                              {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};

bool IsEscaped(uint32_t character) {
  return std::any_of(std::begin(kEscaped), std::end(kEscaped), [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

// The first character of valid UTF-8, and its length in bytes.
struct Character {
  uint32_t code;
  size_t bytes;
};
Character First(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code = bytes == 1 ? lead : lead & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(i) & 0x3f);
  return {code, bytes};
}

std::string Escaped(uint32_t character) {
  switch (character) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    // DEL is written \u007f instead of \x7f: JSON texts may contain it unescaped, and JSON has no \x.
    default:
      return character < 0x20 ? absl::StrFormat("\\x%02x", character) : absl::StrFormat("\\u%04x", character);
  }
}

std::string Escape(std::string_view text, bool keep_lines) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  const std::string valid = ValidUtf8(text);
  std::string shown;
  shown.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const Character character = First(rest);
    const bool kept = keep_lines && (character.code == '\n' || character.code == '\t');
    if (kept || !IsEscaped(character.code)) shown += rest.substr(0, character.bytes);
    else shown += Escaped(character.code);
    rest.remove_prefix(character.bytes);
  }
  return shown;
}

}  // namespace

std::string Printable(std::string_view text) { return Escape(text, /*keep_lines=*/false); }
std::string PrintableLines(std::string_view text) { return Escape(text, /*keep_lines=*/true); }

}  // namespace hlod
