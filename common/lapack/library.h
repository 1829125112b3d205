// The system's LAPACK, loaded at its first use, so that programs without such calls, and the client's
// library, do not need it.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlod::lapack {

// Returns FAILED_PRECONDITION, with the package to install, when LAPACK is missing.
absl::Status CheckLibrary();

// Returns the address of a routine by its Fortran name ("dgetrf_"), or null if the library does not have it.
void* FindRoutine(const std::string& name);

}  // namespace hlod::lapack
