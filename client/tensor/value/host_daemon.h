// The daemon that computes what is large on host tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/program/canonical.h"

namespace hlod::lazy {

// Returns the values of the outputs of a host program, as a private daemon computes them that this process
// keeps for host tensors; nullopt if the evaluator must compute them: the program is small, no daemon can be
// started, or the daemon refuses the program. REQUIRES: TraceLock.
std::optional<std::vector<std::shared_ptr<const Literal>>> ComputeOnDaemon(
    const Trace& graph, const Canonical& program, absl::Span<const Literal* const> arguments);

// Returns about how many microseconds the evaluator takes for a program. Loops whose length is not known
// count as long.
double EvaluatorUs(const hlo::Computation& program);

// Returns the number of programs that the daemon has computed.
int64_t HostDaemonPrograms();

// Returns why there is no daemon for host tensors; empty unless one was wanted.
std::string WhyNoHostDaemon();

}  // namespace hlod::lazy
