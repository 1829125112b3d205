// The pages of promises and of threats name the tests that hold them: each name is a test's.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/style/sources.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

// Returns the names of all tests, "Suite.Name".
std::set<std::string> TestNames() {
  static const std::regex test(R"(^(?:TYPED_)?TEST(?:_[FP])?\((\w+), *(\w+)\).*)");
  std::set<std::string> names;
  for (const SourceFile& file : Sources()) {
    if (!IsCpp(file) || !file.path.starts_with("tests/")) continue;
    for (const std::string& line : file.lines) {
      if (std::smatch match; std::regex_match(line, match, test)) names.insert(match.str(1) + "." + match.str(2));
    }
  }
  return names;
}

TEST(PagesOfPromises, NameTestsThatExist) {
  static const std::regex name(R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  const std::set<std::string> tests = TestNames();
  size_t named = 0;
  for (const char* const file : {"server/PROMISES.md", "server/THREATS.md"}) {
    const std::string page = ReadAll(SourceDir() / file);
    for (std::sregex_iterator it(page.begin(), page.end(), name); it != std::sregex_iterator(); ++it, ++named)
      EXPECT_EQ(tests.count((*it)[1]), 1u) << file << " names " << (*it)[1] << ", which is no test";
  }
  EXPECT_GE(named, 60u);
}

}  // namespace
}  // namespace hlod
