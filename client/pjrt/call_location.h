// The line of the user's program that runs a program.
#pragma once

#include <optional>

#include "hlod/runtime/caller.h"

namespace hlod::pjrt {

// Reads "FILE:LINE", the form in which frameworks state it; null or empty is unknown. The file's name is kept
// for the life of the process.
Caller ReadCallLocation(const char* location);

// The line of the user's program for which this thread transfers or compiles: frameworks state the line of an
// execution alone. The Python package sets it around JAX's calls. PyTorch/XLA has too many calls for that, so
// their lines are found when they are needed (FoundLine).
const Caller& CurrentLine();
void SetCurrentLine(const Caller& line);
// Returns true once SetCurrentLine was called: from then on the process's framework states lines, at the
// latest in the call that uses an array.
bool LinesAreStated();

// The functions by which the Python package finds the line of a thread, in a process whose framework does not
// state it.
struct LineFinder {
  void* (*python)();  // Returns null in a thread that does not run Python.
  void (*find)();     // Calls SetCurrentLine. It takes the interpreter's lock.
};
// Makes FoundLine call `finder`; null ends that.
void SetLineFinder(std::optional<LineFinder> finder);
// Returns the current line, or else the line that the finder finds. Entries call it before they take a lock,
// because a thread that holds the interpreter's lock may wait for theirs.
Caller FoundLine();

// The line of the latest compilation of the process: frameworks compile on threads of their own.
void SetCompileLine(const Caller& line);
// Returns the current line, if that is known, else the one of the latest compilation.
Caller CompileLine();

// Makes a line the current one for the life of the object, unless it is unknown.
class LineScope {
 public:
  explicit LineScope(const Caller& line);
  ~LineScope();
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  const Caller before_;
};

}  // namespace hlod::pjrt
