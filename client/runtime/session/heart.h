// Sessions whose programs do not wait still look at their connections now and then: a daemon gives up a peer
// that does not answer its questions.
#pragma once

#include <memory>

#include "absl/time/time.h"

namespace hlod::internal {

class Session;

// Well below the time in which the daemon gives up a peer that does not answer.
inline constexpr absl::Duration kBeat = absl::Seconds(20);

// Has the session look at its connection every `beat`, as long as it lives. One thread of the process does so
// for all sessions, and ends when there is none. Where no thread can be started the daemon may, after some
// minutes of silence, break the connection: then it is resumed.
void KeepBeating(const std::shared_ptr<Session>& session, absl::Duration beat = kBeat);
// A session ends: the thread need not wait for its next beat.
void StopBeating();
// Returns the number of threads that beat.
int BeatingThreads();

}  // namespace hlod::internal
