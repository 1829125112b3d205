// Text of others, fit to be shown: names of programs, files and clients come from their owners, and a
// terminal obeys control characters in them.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// The text on one line, with what is not to be printed as it is written in C: control characters (of ASCII
// and of Latin-1, which some terminals obey as well), and the characters that turn the direction of what
// follows, as "\n", "\x1b" and "\u202e"; bytes that are not UTF-8 as "\xff".
std::string Printable(std::string_view text);
// The same, but for line ends and tabs, which stay: of texts that have lines of their own.
std::string PrintableLines(std::string_view text);

}  // namespace hlod
