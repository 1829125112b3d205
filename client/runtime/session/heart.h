// Makes sessions whose programs do not wait check their connections periodically, because a daemon gives up a
// peer that does not answer its pings.
#pragma once

#include <memory>

#include "absl/time/time.h"

namespace hlod::runtime {

class Session;

// Much less than the time after which the daemon gives up a peer that does not answer.
inline constexpr absl::Duration kBeat = absl::Seconds(20);

// Makes the session check its connection every `beat` as long as it lives. One thread of the process does so
// for all sessions, and ends when there are none. If no thread can be started, the daemon may break the
// connection after some minutes of silence; then it is resumed.
void KeepBeating(const std::shared_ptr<Session>& session, absl::Duration beat = kBeat);
// Called when a session ends, so that the thread need not wait for its next beat.
void StopBeating();
// Returns the number of threads that beat.
int BeatingThreads();

}  // namespace hlod::runtime
