// Abstract sessions: a program runs unchanged, and nothing large exists anywhere. Uploads and results above
// `real_bytes_max` are placeholders, whose bytes never leave the program; smaller ones are real. Every
// execute is abstract: what depends on a placeholder is one, the rest is computed. Donations, compilations
// and errors are those of a real run, and the daemon counts in SessionStats what memory it would have taken
// (simulated_peak_bytes).
//
// `hloctl check -- PROGRAM` runs a program so: it sets HLOD_ABSTRACT, and then every connection of the
// process is abstract.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hlod/runtime/client.h"

namespace hlod {

// The value that a read of a placeholder returns.
enum class StandIn { kNone, kZeros, kOnes, kRandom };

struct AbstractOptions {
  int64_t real_bytes_max = 1 << 20;
  // kNone: asking for a value that does not exist is an error of kind placeholder. Printing a tensor is not
  // asking: it shows a placeholder.
  StandIn stand_in = StandIn::kNone;
  // The folder for the session's preflight log (proto/hlod/v1/preflight_log.proto); empty: it is not written.
  std::string log;
  // End the process, with exit code 0, when the program asks for a value that does not exist, and at the end
  // of step `steps` (0: at no step). A step ends at a Sync() of tensors, or a StepMark() after an execute.
  bool end_process = false;
  int64_t steps = 0;
};

// Connects to a daemon as Client::Connect does, and makes the session abstract. Fails with kind argument for
// invalid options, and with UNAVAILABLE when the record cannot be written.
absl::StatusOr<Client> ConnectAbstract(const AbstractOptions& abstract, const ConnectOptions& options = {});

// Returns true when the session is abstract.
bool IsAbstract(const Client& client);

}  // namespace hlod
