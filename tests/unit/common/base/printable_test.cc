// Control characters are escaped as in C; all other text stays.
#include "common/base/text/printable.h"

#include <gtest/gtest.h>

namespace hlod {
namespace {

TEST(Printable, TextsAreShownAsTheyAre) {
  for (const char* const text : {"", "step", "Größe \"x\" \\ 100%", "模型", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(Printable(text), text);
}

TEST(Printable, NothingIsLeftThatATerminalObeys) {
  EXPECT_EQ(Printable("\x1b]0;owned\x07 \x1b[2J"), "\\x1b]0;owned\\x07 \\x1b[2J");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("a\x7f"), "a\\u007f");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J")
      << "U+009B begins a sequence as ESC [ does.";
  EXPECT_EQ(Printable("\xe2\x80\xaetxt.exe"), "\\u202etxt.exe") << "Right to left.";
  EXPECT_EQ(Printable("a\xe2\x80\xa8"
                      "b"),
            "a\\u2028b")
      << "A line separator.";
  EXPECT_EQ(Printable("a\x9b"
                      "2J\xff"),
            "a\\x9b2J\\xff")
      << "Not UTF-8.";
}

TEST(Printable, LinesStayWhereATextHasThem) {
  EXPECT_EQ(Printable("one\ntwo\t\r"), "one\\ntwo\\t\\r");
  EXPECT_EQ(PrintableLines("one\n\ttwo\r\x1b"), "one\n\ttwo\\r\\x1b");
}

}  // namespace
}  // namespace hlod
