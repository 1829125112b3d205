// The time slice that a thread asks of the kernel: how long it may keep a core while others wait for one. It
// changes no thread's share of the processor, only how soon a thread runs after it wakes up: a thread with a
// shorter slice takes the core from one with a longer slice at once, instead of at the next tick of the
// clock (up to 4 ms later).
#pragma once

#include <chrono>

namespace hlod {

// The slice of threads that receive messages and answer them: they work for microseconds between waits.
inline constexpr std::chrono::microseconds kMessageSlice{100};
// The slice of threads that run programs, compile or copy for milliseconds. The kernel's own is about 3 ms.
inline constexpr std::chrono::microseconds kWorkSlice{10'000};

// Sets the slice of this thread, and of the threads that it starts from now on. The kernel keeps it between
// 0.1 and 100 ms. Has no effect before Linux 6.12, or if the thread has a real-time or idle policy.
void SetTimeSlice(std::chrono::microseconds slice);

}  // namespace hlod
