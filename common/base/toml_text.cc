// Reading TOML files.
#include "common/base/toml_text.h"

#include "common/base/file.h"
#include "common/base/status.h"

namespace hlod {

absl::StatusOr<std::string> ReadTomlText(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.size() <= kTomlBytesMax) return text;
  return ResourceExhausted("%s has %d bytes; a TOML file has at most %d", path, text.size(), kTomlBytesMax);
}

}  // namespace hlod
