// Paths of the repository, for tests that read its files, and of files built for tests to load.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hlod {

// Returns the repository's root. One file is compiled with the path, so that all others are the same in every
// checkout and hit the compiler's cache.
std::filesystem::path SourceDir();

// Returns the folder of a corpus of conformance cases ("jax", "stablehlo", ...), unpacked when the build was
// configured: one folder per case.
std::filesystem::path CasesDir(std::string_view corpus);

// Returns the bytes of a file. Throws when it cannot be read.
std::string BytesOf(const std::filesystem::path& path);

// Returns the path of a shared object with native kernels (tests/support/native).
std::string NativeLibrary(const std::string& name);

}  // namespace hlod
