// Included before every other header in builds with ThreadSanitizer. Protobuf's map fields must be laid out
// as in Debian's library, which was built without it: with the sanitizer's macro they have eight bytes more,
// and the library writes beside them.
#pragma once

// Included while the macro is defined, so that the standard library's reference counts are checked.
#include <memory>

#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
