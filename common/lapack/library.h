// The system's LAPACK, loaded at the first use: neither programs without such calls nor the client's library
// need it.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlod::lapack {

// Returns FAILED_PRECONDITION, with the package to install, when LAPACK is missing.
absl::Status CheckLibrary();

// Returns the address of a routine by its Fortran name ("dgetrf_"), or null when the library does not have
// it.
void* FindRoutine(const std::string& name);

}  // namespace hlod::lapack
