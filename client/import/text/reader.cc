// Reads names, strings, symbols and balanced text.
#include "client/import/text/reader.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"

namespace hlod::stablehlo::text {
namespace {

bool IsInWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

}  // namespace

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool Reader::AtWord() {
  const char c = Peek();
  return absl::ascii_isalpha(c) || c == '_';
}

bool Reader::TryKeyword(std::string_view word) {
  SkipBlanks();
  const size_t end = position() + word.size();
  if (text_.substr(position(), word.size()) != word || (end < text_.size() && IsInWord(text_[end])))
    return false;
  Rewind(end);
  return true;
}

std::string_view Reader::MaybeWord() {
  if (!AtWord()) return {};
  const size_t begin = position();
  size_t end = begin;
  while (end < text_.size() && IsInWord(text_[end])) ++end;
  Rewind(end);
  return TextFrom(begin);
}

absl::StatusOr<std::string_view> Reader::BareWord(std::string_view what) {
  const std::string_view word = MaybeWord();
  if (word.empty()) return Expected(what);
  return word;
}

bool Reader::AtNameAfter(char sign) {
  if (Peek() != sign || position() + 1 == text_.size()) return false;
  return IsInWord(text_[position() + 1]);
}

absl::StatusOr<std::string_view> Reader::NameAfter(char sign, std::string_view what) {
  if (Peek() != sign) return Expected(what);
  const size_t begin = position() + 1;
  size_t end = begin;
  while (end < text_.size() && (IsInWord(text_[end]) || (text_[end] == '-' && text_.substr(end, 2) != "->")))
    ++end;
  if (end == begin) return Expected(what);
  Rewind(end);
  return TextFrom(begin);
}

absl::StatusOr<std::string_view> Reader::PlainString() {
  if (Peek() != '"') return Expected("a string");
  const size_t start = position(), end = text_.find('"', start + 1);
  if (end == std::string_view::npos) return ErrorAt(start, "this string has no end");
  Rewind(end + 1);
  return text_.substr(start + 1, end - start - 1);
}

absl::StatusOr<std::string> Reader::String() {
  if (Peek() != '"') return Expected("a string");
  const size_t start = position();
  std::string bytes;
  for (size_t i = start + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '"') {
      Rewind(i + 1);
      return bytes;
    }
    if (text_[i] != '\\') {
      bytes += text_[i];
      continue;
    }
    const char first = i + 1 < text_.size() ? text_[i + 1] : '\0',
               second = i + 2 < text_.size() ? text_[i + 2] : '\0';
    if (first == '"' || first == '\\' || first == 'n' || first == 't') {
      bytes += first == 'n' ? '\n' : first == 't' ? '\t' : first;
      i += 1;
    } else if (HexDigit(first) >= 0 && HexDigit(second) >= 0) {
      bytes += static_cast<char>(16 * HexDigit(first) + HexDigit(second));
      i += 2;
    } else {
      return ErrorAt(i, "expected \\n, \\t, \\\", \\\\ or two hexadecimal digits after this '\\'");
    }
  }
  return ErrorAt(start, "this string has no end");
}

absl::StatusOr<std::string> Reader::SymbolName() {
  std::string name;
  do {
    if (Peek() != '@') return Expected("a symbol (@name)");
    if (!name.empty()) name += "::@";
    if (text_.substr(position() + 1, 1) == "\"") {
      Rewind(position() + 1);
      ASSIGN_OR_RETURN(const std::string quoted, String());
      name += quoted;
    } else {
      ASSIGN_OR_RETURN(const std::string_view word, NameAfter('@', "a symbol (@name)"));
      name += word;
    }
  } while (Try("::"));
  return name;
}

absl::StatusOr<std::string_view> Reader::Balanced(char open) {
  if (Peek() != open) return Expected(std::string{'\'', open, '\''});
  const size_t begin = position();
  std::vector<char> waiting;  // The brackets that must close, the innermost last.
  for (size_t i = begin; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"') {
      Rewind(i);
      RETURN_IF_ERROR(String().status());
      i = position() - 1;
    } else if (c == '-' && text_.substr(i, 2) == "->") {
      ++i;
    } else if (c == '<' || c == '[' || c == '{' || c == '(') {
      waiting.push_back(c == '<' ? '>' : c == '[' ? ']' : c == '{' ? '}' : ')');
    } else if (c == '>' || c == ']' || c == '}' || c == ')') {
      if (c != waiting.back()) return ErrorAt(i, "expected '%c', found '%c'", waiting.back(), c);
      waiting.pop_back();
      if (waiting.empty()) {
        Rewind(i + 1);
        return TextFrom(begin);
      }
    }
  }
  return ErrorAt(begin, "this '%c' is never closed", open);
}

LineAndColumn Reader::Place(size_t position) {
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (size_t end = text_.find('\n'); end != text_.npos; end = text_.find('\n', end + 1))
      line_starts_.push_back(end + 1);
  }
  position = std::min(position, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), position);
  return {.line = static_cast<int>(next - line_starts_.begin()),
          .column = static_cast<int>(position - *std::prev(next)) + 1};
}

}  // namespace hlod::stablehlo::text
