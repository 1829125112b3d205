// The repository's root and the build's native kernels, compiled in.
#include "tests/support/source_dir.h"

namespace hlod {

std::filesystem::path SourceDir() { return HLOD_SOURCE_DIR; }

std::string NativeLibrary(const std::string& name) { return HLOD_NATIVE_LIBRARIES "/" + name + ".so"; }

}  // namespace hlod
