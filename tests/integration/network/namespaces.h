// Network namespaces of one process. They have no names: they are gone when the process and its children
// have ended, however that happened.
#pragma once

#include <string>
#include <string_view>

#include "common/rpc/shared_memory.h"

namespace hlod::network {

// Moves the calling thread, and so all threads that it starts, into a new network namespace. Returns "" or
// the reason why this process may not make namespaces or devices in them. REQUIRES: called by the only thread
// of the process.
std::string EnterOwnNamespace();

class Namespace {
 public:
  // Makes a namespace beside that of this process. Aborts the test when it cannot.
  Namespace();
  // The path by which other processes can open it while this one lives.
  std::string path() const;
  int fd() const { return fd_.get(); }

 private:
  rpc::Descriptor fd_;
};

// A network device whose packets this program reads and writes.
class TunDevice {
 public:
  // Makes a device in a namespace (null: that of this process), with an address of a network of 256. Aborts
  // the test when it cannot.
  TunDevice(const Namespace* where, const std::string& name, const std::string& address);
  int fd() const { return tun_.get(); }
  // Plugs the cable in, or pulls it. The system's routes come back with it.
  void SetUp(bool up);

 private:
  const std::string name_;
  rpc::Descriptor tun_, control_;
};

// Runs `words` (a program and its arguments) in the namespace at `path`; does not return. For a program that
// is its own helper.
[[noreturn]] void RunInNamespace(const char* path, char** words);

}  // namespace hlod::network
