// Comes before every other header in builds with ThreadSanitizer: protobuf's map fields are laid out as in the
// library that Debian built, which was built without it. With the macro they have eight bytes more, and the
// library writes beside them.
#pragma once

#include <memory>  // Sees the macro: the standard library's reference counts are to be checked.

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
