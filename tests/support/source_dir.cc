// The repository's root, compiled in.
#include "tests/support/source_dir.h"

namespace hlod {

std::filesystem::path SourceDir() { return HLOD_SOURCE_DIR; }

}  // namespace hlod
