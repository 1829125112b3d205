// The line of the program that calls into hlod. Every public function that sends something takes one as its
// last parameter, whose default is the caller's own line: errors and the ledger name it.
#pragma once

namespace hlod {

struct Caller {
  const char* file = "";  // Must live as long as the call.
  int line = 0;
  const char* function = "";

  // Where the (outermost) call stands.
  static constexpr Caller Here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                               const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
};

}  // namespace hlod
