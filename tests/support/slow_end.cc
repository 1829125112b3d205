// A library that a test loads into a daemon (LD_PRELOAD): the process says so when it has run its last
// function, and then does not end by itself.
#include <stdio.h>
#include <unistd.h>

// Called after the destructors of all static objects.
__attribute__((destructor)) static void NeverEnd() {
  fputs("the end is slow\n", stdout);
  fflush(stdout);
  for (;;) pause();
}
