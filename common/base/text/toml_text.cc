// Reads TOML files.
#include "common/base/text/toml_text.h"

#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod {

absl::StatusOr<std::string> ReadTomlText(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.size() <= kTomlBytesMax) return text;
  return ResourceExhausted("%s has %d bytes; a TOML file has at most %d", path, text.size(), kTomlBytesMax);
}

}  // namespace hlod
