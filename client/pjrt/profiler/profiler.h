// The profiles that frameworks take (jax.profiler): which programs the daemon ran, and when.
//
// While a profile is taken, each execution is noted here with its program, line and end. At the profile's end
// the daemon's account tells when each run really began and how long it took, by the daemon's clock. The two
// lists are in the same order, so the clocks are compared by the pair that came closest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/pjrt/events/completion.h"

namespace hlod::pjrt {

class Client;

// Returns true while a profile is taken. Cheap.
bool IsProfiling();
// Notes an execution that was sent. `location` is its line, "FILE:LINE"; it may be null.
void NoteExecution(Client& client, std::string_view program, const char* location, int device,
                   const std::shared_ptr<Completion>& end);

// One profile. The functions are called from one thread at a time.
class Profiler {
 public:
  Profiler() = default;
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  absl::Status Start();
  // Waits for the executions that were noted.
  absl::Status Stop();
  // Returns TensorFlow's XSpace, serialized; empty before Stop.
  const std::string& bytes() const { return bytes_; }

 private:
  bool running_ = false;
  std::string bytes_;
};

}  // namespace hlod::pjrt
