// Suspends a CallerScope while a function of the library calls a function of the user's.
#pragma once

#include "hlod/runtime/caller.h"

namespace hlod {

// Until it is destroyed, this thread's operations are attributed to the lines that call them, as outside of
// every CallerScope.
class CallersOwnLines {
 public:
  CallersOwnLines();
  ~CallersOwnLines();
  CallersOwnLines(const CallersOwnLines&) = delete;
  CallersOwnLines& operator=(const CallersOwnLines&) = delete;

 private:
  const Caller* const scope_;
};

}  // namespace hlod
