// Abstract sessions: a program runs unchanged, but large arrays are never stored. Uploads and results above
// `real_bytes_max` are placeholders, whose bytes never leave the program; smaller ones are real. Every
// execute is abstract: results that depend on a placeholder are placeholders, the others are computed.
// Donations, compilations and errors are those of a real run, and the daemon counts the memory that a real
// run would have taken (SessionStats::simulated_peak_bytes).
//
// `hloctl check -- PROGRAM` runs a program in this way: it sets HLOD_ABSTRACT, which makes every connection
// of the process abstract.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hlod/runtime/client.h"

namespace hlod {

// The value that a read of a placeholder returns. kNone: the read fails.
enum class StandIn { kNone, kZeros, kOnes, kRandom };

struct AbstractOptions {
  int64_t real_bytes_max = 1 << 20;
  // kNone: reading a placeholder's value is an error of kind placeholder. Printing a tensor is not a read: it
  // shows a placeholder.
  StandIn stand_in = StandIn::kNone;
  // The folder for the session's preflight log (proto/hlod/v1/preflight_log.proto); empty: it is not written.
  std::string log;
  // Ends the process, with exit code 0, when the program reads a value that does not exist, and at the end of
  // step `steps` (0: at no step). A step ends at a Sync() of tensors, or at a StepMark() after an execute.
  bool end_process = false;
  int64_t steps = 0;
};

// Connects to a daemon as Client::Connect does, and makes the session abstract. Fails with kind argument for
// invalid options, and with UNAVAILABLE when the preflight log cannot be written.
absl::StatusOr<Client> ConnectAbstract(const AbstractOptions& abstract, const ConnectOptions& options = {});

// Returns true when the session is abstract.
bool IsAbstract(const Client& client);

}  // namespace hlod
