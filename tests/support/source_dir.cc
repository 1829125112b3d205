// The compiled-in paths of the repository, the unpacked cases and the build's native kernels.
#include "tests/support/source_dir.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hlod {

std::filesystem::path SourceDir() { return HLOD_SOURCE_DIR; }

std::filesystem::path CasesDir(std::string_view corpus) {
  return std::filesystem::path(HLOD_CASES) / corpus / "cases";
}

std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string NativeLibrary(const std::string& name) { return HLOD_NATIVE_LIBRARIES "/" + name + ".so"; }

}  // namespace hlod
