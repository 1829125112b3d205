// The line of the user's program that runs a program.
#pragma once

#include "hlod/runtime/caller.h"

namespace hlod::pjrt {

// Reads "FILE:LINE", the form in which frameworks state it; null or empty is unknown. The file's name is kept
// for the life of the process.
Caller ReadCallLocation(const char* location);

// The line of the user's program that this thread works for, where the framework does not state it: of transfers and
// compilations. The Python package sets it around JAX's calls.
const Caller& CurrentLine();
void SetCurrentLine(const char* location);

}  // namespace hlod::pjrt
