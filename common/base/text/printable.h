// Makes foreign text safe to show: names of programs, files and clients come from their owners, and a
// terminal obeys control characters in them.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// Returns the text on one line, with unprintable characters escaped as in C: control characters (of ASCII,
// and of Latin-1, which some terminals obey as well) and characters that change the direction of the
// following text become "\n", "\x1b" and "\u202e"; bytes that are not UTF-8 become "\xff".
std::string Printable(std::string_view text);
// As Printable, but keeps line ends and tabs: for texts of several lines.
std::string PrintableLines(std::string_view text);

}  // namespace hlod
