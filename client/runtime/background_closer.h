// Ends streams after their sessions are gone: destructors never wait on the network, so one thread of the
// process does.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "client/runtime/pipe.h"

namespace hlod::internal {

// Sends `rest` (after the write under way, if `writing`) and waits a little for the stream's end, then
// cancels it. Returns at once.
void CloseInBackground(std::shared_ptr<Pipe> pipe, std::deque<std::shared_ptr<const std::string>> rest,
                       bool writing);

}  // namespace hlod::internal
