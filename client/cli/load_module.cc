// Modules from files.
#include "client/cli/load_module.h"

#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "common/base/error.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace hlod::cli {

absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(bytes);
  if (module.ok()) return module;
  ErrorDetails error = ErrorOf(module.status());  // Of text it begins with line and column.
  error.text = absl::StrCat(path, ":", error.text);
  return ToStatus(std::move(error));
}

}  // namespace hlod::cli
