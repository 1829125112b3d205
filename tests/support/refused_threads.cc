// A library that a test loads into a daemon (LD_PRELOAD), or links: while the file $HLOD_TEST_NO_THREADS
// exists, the process gets no thread. A limit of the system (RLIMIT_NPROC) would not apply to root, and would
// count the user's other processes.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static const char* const file = std::getenv("HLOD_TEST_NO_THREADS");
  if (file != nullptr && access(file, F_OK) == 0) return EAGAIN;
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, run, argument);
}
