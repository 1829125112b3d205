// Finds Python, and the package hlod.
#pragma once

#include <string>

namespace hlod::partition {

// Returns the interpreter: $HLOD_PYTHON, else that of $VIRTUAL_ENV, else "python3", which is looked up in
// $PATH.
std::string Interpreter();

// Returns false for HLOD_PARTITION=0.
bool PartitioningIsOn();

// Returns the folder that the package hlod lies in, beside the program or library that this function is
// linked into: as installed, in a wheel, or in the tree that it was built in. Empty when there is none.
std::string PackageFolder();

}  // namespace hlod::partition
