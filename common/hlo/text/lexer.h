// The reader under the parser of HLO text. It cuts no token stream beforehand, because what a run of
// characters is depends on where it stands ("3x3", "b01f_01io->b01f", "1_2_0x0_0", JSON): the parser asks for
// what it expects next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/status.h"

namespace hlod::hlo {

class Lexer {
 public:
  // `text` outlives the lexer.
  explicit Lexer(std::string_view text) : text_(text) {}

  // Bytes from the start of the text; what Error takes.
  size_t position() const { return position_; }
  void Rewind(size_t position) { position_ = position; }
  size_t remaining() const { return text_.size() - position_; }
  std::string_view TextFrom(size_t begin) const { return text_.substr(begin, position_ - begin); }

  // Blanks, line ends and both kinds of comment; every method below does this first.
  void SkipBlanks();
  bool AtEnd();
  // The next character, or '\0' at the end.
  char Peek();
  // Whether `word` comes next; if so it is consumed.
  bool Try(std::string_view word);
  // The same for a whole word: what follows is not a name character.
  bool TryWord(std::string_view word);
  absl::Status Expect(std::string_view word);

  // Letters, digits, '_', '.', '-', ':' with an optional '%' before; never the '-' of "->".
  absl::StatusOr<std::string_view> Name();
  // Whether a name starts here.
  bool AtName();
  // A run of anything but blanks and ",(){}[]=\"": numbers, window sizes, dimension labels, enum words.
  absl::StatusOr<std::string_view> Word();
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<bool> Bool();
  // The bytes of "...", C escapes resolved; or between other quotes.
  absl::StatusOr<std::string> Quoted(char quote = '"');
  // The same where a protobuf string will hold it: it must be UTF-8.
  absl::StatusOr<std::string> QuotedUtf8(char quote = '"');
  // The text of a { ... } with nested braces and quoted strings, braces included. Not interpreted.
  absl::StatusOr<std::string_view> Braces();

  // `status` with "line:column: " of a position before its message.
  absl::Status At(size_t position, const absl::Status& status) const;
  // INVALID_ARGUMENT at a position, or where the reader stands: "3:14: expected ...".
  template <typename... Args>
  absl::Status ErrorAt(size_t position, const absl::FormatSpec<Args...>& format, const Args&... args) const {
    return At(position, InvalidArgument(format, args...));
  }
  // "expected <what>, found <what stands here>" at the next thing that is not a blank.
  absl::Status Expected(std::string_view what);

 private:
  std::string_view text_;
  size_t position_ = 0;
};

// `bytes` with C escapes, in quotes: what Quoted reads back.
std::string QuotedText(std::string_view bytes);

}  // namespace hlod::hlo
