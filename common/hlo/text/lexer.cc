// Reads names, numbers, strings and punctuation of HLO text, and knows its position.
#include "common/hlo/text/lexer.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/escaping.h"
#include "common/hlo/names/unique_names.h"
#include "google/protobuf/stubs/common.h"

namespace hlod::hlo {
namespace {

bool IsInName(char c) { return codec::IsNameCharacter(c) || c == ':'; }

constexpr std::string_view kWordEnds = " \t\r\n,(){}[]=\"";

}  // namespace

void Lexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && text_.substr(position_, 2) == "/*") {
      const size_t end = text_.find("*/", position_ + 2);
      position_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

bool Lexer::AtEnd() {
  SkipBlanks();
  return position_ == text_.size();
}

char Lexer::Peek() { return AtEnd() ? '\0' : text_[position_]; }

bool Lexer::Try(std::string_view word) {
  SkipBlanks();
  if (text_.substr(position_, word.size()) != word) return false;
  position_ += word.size();
  return true;
}

bool Lexer::TryWord(std::string_view word) {
  SkipBlanks();
  const size_t end = position_ + word.size();
  if (text_.substr(position_, word.size()) != word || (end < text_.size() && IsInName(text_[end])))
    return false;
  position_ = end;
  return true;
}

absl::Status Lexer::Expect(std::string_view word) {
  if (Try(word)) return absl::OkStatus();
  return Expected(absl::StrCat("'", ToAbsl(word), "'"));
}

bool Lexer::AtName() {
  const char c = Peek();
  return c == '%' || codec::IsNameCharacter(c);
}

absl::StatusOr<std::string_view> Lexer::Name() {
  SkipBlanks();
  const size_t start = position_;
  if (position_ < text_.size() && text_[position_] == '%') ++position_;
  const size_t begin = position_;
  while (position_ < text_.size() && IsInName(text_[position_]) && text_.substr(position_, 2) != "->")
    ++position_;
  if (position_ == begin) {
    position_ = start;
    return Expected("a name");
  }
  return text_.substr(begin, position_ - begin);
}

absl::StatusOr<std::string_view> Lexer::Word() {
  SkipBlanks();
  const size_t begin = position_;
  position_ = std::min(text_.find_first_of(kWordEnds, position_), text_.size());
  if (position_ == begin) return Expected("a word");
  return text_.substr(begin, position_ - begin);
}

absl::StatusOr<int64_t> Lexer::Integer() {
  SkipBlanks();
  int64_t value;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) return Expected("an integer of at most 64 bits");
  if (error != std::errc()) return Expected("an integer");
  position_ += end - begin;
  return value;
}

absl::StatusOr<bool> Lexer::Bool() {
  if (TryWord("true")) return true;
  if (TryWord("false")) return false;
  return Expected("true or false");
}

absl::StatusOr<std::string> Lexer::Quoted(char quote) {
  SkipBlanks();
  const size_t start = position_;
  if (!Try(std::string_view(&quote, 1))) return Expected("a quoted string");
  const size_t begin = position_;
  while (position_ < text_.size() && text_[position_] != quote) position_ += text_[position_] == '\\' ? 2 : 1;
  if (position_ >= text_.size()) {
    position_ = text_.size();
    return ErrorAt(start, "this string has no end");
  }
  std::string bytes, error;
  if (!absl::CUnescape(ToAbsl(text_.substr(begin, position_ - begin)), &bytes, &error)) {
    return ErrorAt(start, "this string has an invalid escape: %s", error);
  }
  ++position_;
  return bytes;
}

absl::StatusOr<std::string> Lexer::QuotedUtf8(char quote) {
  SkipBlanks();
  const size_t start = position_;
  ASSIGN_OR_RETURN(std::string text, Quoted(quote));
  if (google::protobuf::internal::IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size())))
    return text;
  return ErrorAt(start, "this string is not UTF-8");
}

absl::StatusOr<std::string_view> Lexer::Braces() {
  SkipBlanks();
  const size_t begin = position_;
  if (Peek() != '{') return Expected("'{'");
  int64_t depth = 0;
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '"') {
      for (++position_; position_ < text_.size() && text_[position_] != '"'; ++position_) {
        if (text_[position_] == '\\') ++position_;
      }
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      ++position_;
      return text_.substr(begin, position_ - begin);
    }
  }
  position_ = text_.size();
  return ErrorAt(begin, "this '{' is never closed");
}

absl::Status Lexer::At(size_t position, const absl::Status& status) const {
  if (status.ok()) return status;
  const std::string_view before = text_.substr(0, std::min(position, text_.size()));
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t last = before.rfind('\n');
  const size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return absl::Status(status.code(), absl::StrCat(line, ":", column, ": ", status.message()));
}

absl::Status Lexer::Expected(std::string_view what) {
  SkipBlanks();
  if (position_ >= text_.size()) return ErrorAt(position_, "expected %s, found the end of the text", what);
  // Takes a whole word if there is one, so that the message shows it.
  size_t end = position_;
  while (end < text_.size() && end - position_ < 40 && IsInName(text_[end])) ++end;
  if (end == position_) ++end;
  return ErrorAt(position_, "expected %s, found \"%s\"", what,
                 absl::CHexEscape(ToAbsl(text_.substr(position_, end - position_))));
}

std::string QuotedText(std::string_view bytes) {
  return absl::StrCat("\"", absl::CEscape(ToAbsl(bytes)), "\"");
}

}  // namespace hlod::hlo
