// A function fits on a screen: it has at most kLinesMax lines, from its name to its closing brace. Found
// without a compiler, by the indentation that clang-format writes.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/style/sources.h"

namespace hlod {
namespace {

constexpr size_t kLinesMax = 60;

using Lines = std::vector<std::string>;

// A block in braces, with the statement that begins it.
struct Block {
  size_t first_line;
  size_t indentation;
  std::string head;
};

size_t Indentation(const std::string& line) { return line.find_first_not_of(' '); }

// Returns the code of a line without a comment and spaces at its end.
std::string_view Trimmed(const std::string& line) {
  std::string_view code = std::string_view(line).substr(0, line.find("//"));
  return code.substr(0, code.find_last_not_of(' ') + 1);
}

// Returns true when no statement continues after the line.
bool EndsStatement(const std::string& line) {
  const std::string_view code = Trimmed(line);
  return code.empty() || std::string_view(";{}:").find(code.back()) != std::string_view::npos ||
         code[Indentation(line)] == '#';
}

// Returns the block that a line's brace opens: its statement may begin lines before.
Block OpenedBy(const Lines& lines, size_t last) {
  size_t first = last;
  while (first > 0 && !EndsStatement(lines[first - 1])) --first;
  Block block{.first_line = first, .indentation = Indentation(lines[first])};
  for (size_t i = first; i <= last; ++i) {
    block.head += i == first ? "" : " ";
    block.head += Trimmed(lines[i]).substr(Indentation(lines[i]));
  }
  return block;
}

bool IsFunction(const std::string& head) {
  static const std::regex other(
      R"(^(if|for|while|switch|else|do|try|namespace|struct|class|enum|union|extern|return|case|default|\})\b.*)");
  static const std::regex function(
      R"(.*\)( const| noexcept| override| final| mutable| ABSL_\w+\(.*\)| ->.*| : .*)* ?\{)");
  return !std::regex_match(head, other) && std::regex_match(head, function);
}

// Calls visit(block, number of its lines) for each function, but not for functions inside of functions.
void ForEachFunction(const Lines& lines, const std::function<void(const Block&, size_t)>& visit) {
  std::vector<Block> open;
  size_t open_functions = 0;
  const auto close = [&] {
    open_functions -= IsFunction(open.back().head) ? 1 : 0;
    open.pop_back();
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view code = Trimmed(lines[i]);
    if (code.empty() || code[Indentation(lines[i])] == '#') continue;
    const size_t indentation = Indentation(lines[i]);
    if (code[indentation] == '}') {
      while (!open.empty() && open.back().indentation > indentation) close();
      if (!open.empty() && open.back().indentation == indentation) {
        const Block block = open.back();
        close();
        if (open_functions == 0 && IsFunction(block.head)) visit(block, i + 1 - block.first_line);
      }
    }
    if (code.back() != '{') continue;
    open.push_back(OpenedBy(lines, i));
    open_functions += IsFunction(open.back().head) ? 1 : 0;
  }
}

TEST(Length, TheReaderFindsFunctions) {
  const Lines lines = {"namespace a {",
                       "Class::Class(int a)",
                       "    : a_(a) {",
                       "  for (;;) {",
                       "    Call([&](int b) {",
                       "      ++b;",
                       "    });",
                       "  }",
                       "}",
                       "struct S {",
                       "  const int* f(",
                       "      int b) const {",
                       "    return b;",
                       "  }",
                       "};"};
  std::vector<std::string> found;
  ForEachFunction(lines, [&](const Block& block, size_t count) {
    found.push_back(std::to_string(block.first_line) + " " + std::to_string(count));
  });
  EXPECT_EQ(found, std::vector<std::string>({"1 8", "10 4"}));
}

TEST(Length, FunctionsAreShort) {
  size_t functions = 0;
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file)) continue;
    ForEachFunction(file.lines, [&](const Block& block, size_t count) {
      ++functions;
      EXPECT_LE(count, kLinesMax) << file.path << ":" << block.first_line + 1 << ": " << block.head << " has "
                                  << count << " lines; give a part of it a name of its own";
    });
  }
  EXPECT_GT(functions, 10'000u) << "the reader of functions finds too few";
}

}  // namespace
}  // namespace hlod
