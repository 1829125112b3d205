// Loads OpenBLAS if it is installed, otherwise the reference LAPACK. The engine has its own threads, so the
// library is limited to the calling thread.
#include "common/lapack/library.h"

#include <dlfcn.h>

#include "common/base/errors/status.h"

namespace hlod::lapack {
namespace {

struct Library {
  void* handle = nullptr;
  std::string why;  // The reason why the handle is null.
};

const Library& Loaded() {
  static const Library library = [] {
    Library found;
    for (const char* name : {"libopenblas.so.0", "liblapack.so.3"}) {
      found.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (found.handle != nullptr) break;
      found.why += std::string(found.why.empty() ? "" : "; ") + dlerror();
    }
    if (found.handle != nullptr) {
      using SetThreads = void (*)(int);
      if (const auto set = reinterpret_cast<SetThreads>(dlsym(found.handle, "openblas_set_num_threads")))
        set(1);
    }
    return found;
  }();
  return library;
}

}  // namespace

absl::Status CheckLibrary() {
  const Library& library = Loaded();
  if (library.handle != nullptr) return absl::OkStatus();
  return FailedPrecondition(
      "LAPACK is not installed (Debian: libopenblas0-serial or liblapack3), without which linear algebra's "
      "custom calls do not run: %s",
      library.why);
}

void* FindRoutine(const std::string& name) {
  const Library& library = Loaded();
  return library.handle == nullptr ? nullptr : dlsym(library.handle, name.c_str());
}

}  // namespace hlod::lapack
