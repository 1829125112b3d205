// The lexer of HLO text. It does not split the text into tokens beforehand, because the meaning of characters
// depends on the context ("3x3", "b01f_01io->b01f", "1_2_0x0_0", JSON): the parser asks for the token that it
// expects next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"

namespace hlod::hlo {

class Lexer {
 public:
  // `text` must outlive the lexer.
  explicit Lexer(std::string_view text) : text_(text) {}

  // The position in bytes from the start of the text, which ErrorAt accepts.
  size_t position() const { return position_; }
  void Rewind(size_t position) { position_ = position; }
  size_t remaining() const { return text_.size() - position_; }
  std::string_view TextFrom(size_t begin) const { return text_.substr(begin, position_ - begin); }

  // Skips blanks, line ends and both kinds of comment. Every method below does this first.
  void SkipBlanks();
  bool AtEnd();
  // Returns the next character, or '\0' at the end.
  char Peek();
  // Returns true, and consumes `word`, if it comes next.
  bool Try(std::string_view word);
  // Does the same for a whole word, which must not be followed by a name character.
  bool TryWord(std::string_view word);
  absl::Status Expect(std::string_view word);

  // Reads letters, digits, '_', '.', '-', ':' with an optional '%' before; never the '-' of "->".
  absl::StatusOr<std::string_view> Name();
  // Returns true when a name starts here.
  bool AtName();
  // Reads a run of anything but blanks and ",(){}[]=\"": numbers, window sizes, dimension labels, enum words.
  absl::StatusOr<std::string_view> Word();
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<bool> Bool();
  // Returns the bytes between two quotes, with C escapes resolved.
  absl::StatusOr<std::string> Quoted(char quote = '"');
  // Does the same for a string that a protobuf string will hold, so it must be UTF-8.
  absl::StatusOr<std::string> QuotedUtf8(char quote = '"');
  // Returns the text of a { ... } with nested braces and quoted strings, including the braces, without
  // interpreting it.
  absl::StatusOr<std::string_view> Braces();

  // Returns `status` with "line:column: " of a position before its message.
  absl::Status At(size_t position, const absl::Status& status) const;
  // Returns INVALID_ARGUMENT at a position, or at the current one: "3:14: expected ...".
  template <typename... Args>
  absl::Status ErrorAt(size_t position, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return At(position, InvalidArgument(format, args...));
  }
  // Returns "expected <what>, found <text here>" at the next character that is not a blank.
  absl::Status Expected(std::string_view what);

 private:
  std::string_view text_;
  size_t position_ = 0;
};

// Returns `bytes` in quotes with C escapes, as Quoted reads them.
std::string QuotedText(std::string_view bytes);

}  // namespace hlod::hlo
