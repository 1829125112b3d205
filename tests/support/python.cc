// Finds a suitable interpreter by running it.
#include "tests/support/python.h"

#include <cstdlib>

namespace hlod {

std::optional<std::string> PythonWith(const std::string& modules) {
  const char* const given = std::getenv("HLOD_TEST_PYTHON");
  const std::string python = given != nullptr ? given : "python3";
  const std::string command = python + " -c 'import " + modules + "' >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) return std::nullopt;
  return python;
}

}  // namespace hlod
