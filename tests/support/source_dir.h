// Where the repository is: for tests that read files of it.
#pragma once

#include <filesystem>

namespace hlod {

// The repository's root. One file is compiled with the path, so that all others are the same in every
// checkout and the compiler's cache knows them.
std::filesystem::path SourceDir();

}  // namespace hlod
