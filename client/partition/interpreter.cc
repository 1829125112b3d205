// Looks at the environment, and upwards from this program's or library's own file.
#include "client/partition/interpreter.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/base/system/switch.h"

namespace hlod::partition {

std::string Interpreter() {
  const char* const named = std::getenv("HLOD_PYTHON");
  if (named != nullptr && *named != '\0') return named;
  const char* const environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr && *environment != '\0') {
    const std::string python = std::string(environment) + "/bin/python3";
    if (access(python.c_str(), X_OK) == 0) return python;
  }
  return "python3";
}

bool PartitioningIsOn() { return ReadSwitch("HLOD_PARTITION", true).value_or(true); }

std::string PackageFolder() {
  Dl_info self = {};
  std::error_code error;
  std::filesystem::path file;
  if (dladdr(reinterpret_cast<const void*>(&PackageFolder), &self) != 0 && self.dli_fname != nullptr)
    file = std::filesystem::canonical(self.dli_fname, error);
  // A program's own name may be relative to a folder that it has left.
  if (file.empty() || error) file = std::filesystem::canonical("/proc/self/exe", error);
  for (std::filesystem::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (const char* place : {"share/hlod/python", "client/python", ""}) {
      const std::filesystem::path candidate = folder / place;
      if (std::filesystem::exists(candidate / "hlod" / "partition.py", error)) return candidate.string();
    }
  }
  return "";
}

}  // namespace hlod::partition
