// The system's LAPACK, loaded when it is first needed: programs without such calls need none, nor does the
// client's library.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlod::lapack {

// FAILED_PRECONDITION that says what to install, when there is none.
absl::Status CheckLibrary();

// The address of a routine by its Fortran name ("dgetrf_"), null when the library has none.
void* FindRoutine(const std::string& name);

}  // namespace hlod::lapack
