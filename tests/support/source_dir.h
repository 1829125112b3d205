// Where the repository is, for tests that read files of it, and what is built for tests to load.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hlod {

// The repository's root. One file is compiled with the path, so that all others are the same in every
// checkout and the compiler's cache knows them.
std::filesystem::path SourceDir();

// The folder of a corpus of conformance cases ("jax", "stablehlo", ...), unpacked when the build was
// configured: one folder per case.
std::filesystem::path CasesDir(std::string_view corpus);

// The bytes of a file, which a test needs: one that cannot be read throws.
std::string BytesOf(const std::filesystem::path& path);

// The path of a shared object with native kernels (tests/support/native).
std::string NativeLibrary(const std::string& name);

}  // namespace hlod
