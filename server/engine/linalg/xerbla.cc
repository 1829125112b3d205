// What LAPACK and the BLAS call when an argument is wrong. The reference library's own ends the process: the
// daemon puts this one in its place, and routines return to their caller, which has their info.
#include <cstddef>
#include <cstdint>

extern "C" [[gnu::visibility("default")]] void xerbla_(const char* routine, const int32_t* argument,
                                                       size_t length);

void xerbla_(const char*, const int32_t*, size_t) {}
