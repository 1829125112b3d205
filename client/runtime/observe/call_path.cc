// Return addresses of the calls, hashed.
#include "client/runtime/observe/call_path.h"

#include <execinfo.h>

#include <array>
#include <cstddef>

namespace hlod::runtime {

uint64_t CallPath() {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  uint64_t path = 0;
  for (int i = 0; i < count; ++i) {
    path = (path ^ reinterpret_cast<uintptr_t>(frames[static_cast<size_t>(i)])) * 0x9e3779b97f4a7c15u;
    path ^= path >> 29;
  }
  return path;
}

}  // namespace hlod::runtime
