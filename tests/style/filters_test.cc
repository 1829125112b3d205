// Looks for tests that are in a program, but in no filter of a command that ctest runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/shell.h"

namespace hlod {
namespace {

constexpr char kFilter[] = "--gtest_filter=";

// Returns the tests of a program that are in a filter, which may be empty.
std::set<std::string> TestsOf(const std::string& program, const std::string& filter) {
  const Output output = RunShell(program + " --gtest_list_tests '" + kFilter + filter + "'");
  EXPECT_EQ(output.code, 0) << program << ": " << output.text;
  std::set<std::string> tests;
  std::istringstream lines(output.text);
  std::string suite;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find("  #"));
    if (!name.starts_with("  ")) {
      suite = name;
    } else {
      tests.insert(suite + name.substr(2));
    }
  }
  return tests;
}

TEST(Filters, EveryTestIsInACommand) {
  std::map<std::string, std::set<std::string>> run;  // By program.
  std::ifstream commands(HLOD_TEST_COMMANDS);
  for (std::string line; std::getline(commands, line);) {
    std::istringstream words(line);
    std::string program, filter = "*";
    for (std::string word; words >> word;) {
      if (program.empty() && word.ends_with("_test")) program = word;
      if (word.starts_with(kFilter)) filter = word.substr(sizeof(kFilter) - 1);
    }
    // A program that was not built is not looked into.
    if (program.empty() || !std::filesystem::exists(program)) continue;
    run[program].merge(TestsOf(program, filter));
  }
  EXPECT_GT(run.size(), 0U) << HLOD_TEST_COMMANDS << " names no program";
  for (const auto& [program, tests] : run) {
    for (const std::string& test : TestsOf(program, "*")) {
      EXPECT_TRUE(tests.contains(test)) << program << " has " << test << ", which no command of ctest runs";
    }
  }
}

}  // namespace
}  // namespace hlod
