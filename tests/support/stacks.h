// The record that a thread writes when its stack is requested (stacks.cc), and that tests/support/limit.cc
// reads.
#pragma once

#include <signal.h>

namespace hlod {

// Returns the signal that asks a thread for its stack: a real-time signal without another use.
inline int StackSignal() { return SIGRTMAX - 1; }

// One record per thread, written in one piece.
struct StackRecord {
  static constexpr int kDepthMax = 128;
  long thread = 0;
  long depth = 0;  // The first two frames are the handler and the frame that called it.
  void* addresses[kDepthMax] = {};
};

}  // namespace hlod
