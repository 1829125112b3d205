// Runs commands as a user types them.
#include "tests/support/shell.h"

#include <sys/wait.h>

#include <cstdio>

namespace hlod {

Output RunShell(const std::string& command) {
  Output output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) output.text.append(buffer, n);
  output.code = WEXITSTATUS(pclose(pipe));
  return output;
}

}  // namespace hlod
