// What a thread that is asked for its stack writes (stacks.cc) and tests/support/limit.cc reads.
#pragma once

#include <signal.h>

namespace hlod {

// Asks a thread for its stack. A real-time signal that nothing else uses.
inline int StackSignal() { return SIGRTMAX - 1; }

// One record a thread, written in one piece.
struct StackRecord {
  static constexpr int kDepthMax = 128;
  long thread = 0;
  long depth = 0;  // The first two are the handler and the frame that called it.
  void* addresses[kDepthMax] = {};
};

}  // namespace hlod
