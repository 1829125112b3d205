// Makes text from clients safe to show: names of programs, files and clients may contain control characters,
// which a terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace hlod {

// Returns the text on one line, with unprintable characters escaped as in C. Control characters (of ASCII,
// and of Latin-1, which some terminals also obey) and characters that change the direction of the following
// text become "
// ", "\x1b" and "\u202e"; bytes that are not UTF-8 become "\xff".
std::string Printable(std::string_view text);
// Like Printable, but keeps line ends and tabs, for texts of several lines.
std::string PrintableLines(std::string_view text);

}  // namespace hlod
