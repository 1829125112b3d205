// HTTP as a scraper speaks it, over a loopback socket.
#pragma once

#include <string>

#include "common/rpc/shared_memory.h"

namespace hlod {

// Connects to 127.0.0.1. Aborts the test on failure.
rpc::Descriptor ConnectToLoopback(int port);
// Sends all of `text`.
void SendText(int fd, const std::string& text);
// Returns the bytes that arrive until the peer closes.
std::string ReadToEnd(int fd);
// Returns the body of http://127.0.0.1:`port``path`. Fails the test unless it exists.
std::string HttpGet(int port, const std::string& path);

}  // namespace hlod
