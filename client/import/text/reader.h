// The lexical part of MLIR text: names with their signs, strings, symbols, and text that is skipped over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/text/lexer.h"

namespace hlod::stablehlo::text {

// The value of a hexadecimal digit; -1: it is not one.
int HexDigit(char c);

struct LineAndColumn {
  int line = 1, column = 1;
};

// As its base, it cuts no token stream: the reader of a part asks for what it expects next.
class Reader : public hlo::Lexer {
 public:
  // `text` outlives the reader.
  explicit Reader(std::string_view text) : Lexer(text), text_(text) {}

  std::string_view text() const { return text_; }
  // The character that stands here, blanks included.
  char Current() const { return position() < text_.size() ? text_[position()] : '\0'; }

  // The next word if it is `word` and not a part of a longer one.
  bool TryKeyword(std::string_view word);
  // What follows is a letter or '_': a word.
  bool AtWord();
  // Letters, digits, '_', '$', '.': names of operations and attributes, keywords. Empty: no word stands here.
  std::string_view MaybeWord();
  // The same, where there must be one; `what` names it in an error.
  absl::StatusOr<std::string_view> BareWord(std::string_view what);
  // Whether NameAfter finds something.
  bool AtNameAfter(char sign);
  // "%0", "#map", "!t", "^bb0" without the sign; `what` names it in an error.
  absl::StatusOr<std::string_view> NameAfter(char sign, std::string_view what);
  // "...", with MLIR's escapes: \n, \t, \", \\ and two hexadecimal digits.
  absl::StatusOr<std::string> String();
  // The characters between quotes that need no escapes: bytes in hexadecimal.
  absl::StatusOr<std::string_view> PlainString();
  // @name, @"any name", @outer::@inner, without the first @.
  absl::StatusOr<std::string> SymbolName();
  // The text from a bracket ('<', '[', '{', '(') to its counterpart, both included.
  absl::StatusOr<std::string_view> Balanced(char open);

  // Lines are looked for once, when the first place is asked for: an operation's comes after those of all that
  // is within it.
  LineAndColumn Place(size_t position);

 private:
  std::string_view text_;
  std::vector<size_t> line_starts_;
};

}  // namespace hlod::stablehlo::text
