// The lexical part of MLIR text: names with their signs, strings, symbols, and skipped text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/text/lexer.h"

namespace hlod::stablehlo::text {

// Returns the value of a hexadecimal digit; -1 for other characters.
int HexDigit(char c);

struct LineAndColumn {
  int line = 1, column = 1;
};

// Like its base class, it does not cut the text into tokens: each reader asks for what it expects next.
class Reader : public hlo::Lexer {
 public:
  // `text` must outlive the reader.
  explicit Reader(std::string_view text) : Lexer(text), text_(text) {}

  std::string_view text() const { return text_; }
  // Returns the current character, blanks included.
  char Current() const { return position() < text_.size() ? text_[position()] : '\0'; }

  // Consumes the next word if it is `word` and not a part of a longer one.
  bool TryKeyword(std::string_view word);
  // Returns true when a letter or '_' follows.
  bool AtWord();
  // Reads letters, digits, '_', '$', '.': names of operations and attributes, keywords. Returns empty when no
  // word follows.
  std::string_view MaybeWord();
  // Reads a word that must follow; `what` names it in an error.
  absl::StatusOr<std::string_view> BareWord(std::string_view what);
  // Returns true when NameAfter would succeed.
  bool AtNameAfter(char sign);
  // Reads "%0", "#map", "!t", "^bb0" and returns it without the sign; `what` names it in an error.
  absl::StatusOr<std::string_view> NameAfter(char sign, std::string_view what);
  // Reads "...", with MLIR's escapes: \n, \t, \", \\ and two hexadecimal digits.
  absl::StatusOr<std::string> String();
  // Reads a string without escapes, such as bytes in hexadecimal, and returns the characters between the
  // quotes.
  absl::StatusOr<std::string_view> PlainString();
  // Reads @name, @"any name", @outer::@inner and returns it without the first @.
  absl::StatusOr<std::string> SymbolName();
  // Returns the text from a bracket ('<', '[', '{', '(') to its counterpart, both included.
  absl::StatusOr<std::string_view> Balanced(char open);

  // Returns the line and column of a position. It indexes lines once, at the first call, because an
  // operation's place is requested after those of all operations within it.
  LineAndColumn Place(size_t position);

 private:
  std::string_view text_;
  std::vector<size_t> line_starts_;
};

}  // namespace hlod::stablehlo::text
