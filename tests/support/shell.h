// Commands as a user types them.
#pragma once

#include <string>

namespace hlod {

struct Output {
  int code = -1;     // The exit code.
  std::string text;  // The output on stdout.
};

// Runs a shell command to its end. A command that ends with 2>&1 has its errors in the text, too.
Output RunShell(const std::string& command);

}  // namespace hlod
