// HTTP as a scraper speaks it, over a socket of the loopback interface.
#pragma once

#include <string>

#include "common/rpc/shared_memory.h"

namespace hlod {

// A connection to 127.0.0.1; aborts the test when there is none.
rpc::Descriptor ConnectToLoopback(int port);
// Sends all of `text`.
void SendText(int fd, const std::string& text);
// What comes until the peer closes.
std::string ReadToEnd(int fd);
// The body of http://127.0.0.1:`port``path`; a test failure unless it is there.
std::string HttpGet(int port, const std::string& path);

}  // namespace hlod
