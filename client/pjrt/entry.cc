// The errors of a call that does not reach its function.
#include "client/pjrt/entry.h"

namespace hlod::pjrt {

absl::Status TooSmall(std::string_view entry, size_t struct_size, size_t needed) {
  return InvalidArgument("The arguments of %s have struct_size %d; at least %d are needed.", entry,
                         struct_size, needed);
}

}  // namespace hlod::pjrt
