// Accepts as UTF-8 exactly the bytes that protobuf accepts.
#include "common/base/text/utf8.h"

#include "absl/strings/str_format.h"
#include "google/protobuf/stubs/common.h"

namespace hlod {

std::string ValidUtf8(std::string_view text) {
  using google::protobuf::internal::IsStructurallyValidUTF8;
  if (IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size()))) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    size_t length = 1;
    while (length <= text.size() && length <= 4 &&
           !IsStructurallyValidUTF8(text.data(), static_cast<int>(length)))
      ++length;
    if (length <= text.size() && length <= 4) {
      valid += text.substr(0, length);
    } else {
      length = 1;
      absl::StrAppendFormat(&valid, "\\x%02x", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(length);
  }
  return valid;
}

}  // namespace hlod
