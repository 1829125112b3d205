// Waits for the partitioner without the lock of tracing, so that other threads record and close traces.
#pragma once

#include <optional>
#include <utility>

#include "client/runtime/mesh/divided_program.h"
#include "client/tensor/program/program_key.h"

namespace hlod::lazy {

// Thrown when the partitioner has to be asked before a trace can be closed.
struct PartitionWanted {
  partition::Request request;
};

// Throws PartitionWanted if the close of the trace would wait for the partitioner. Other errors are left to
// the close. REQUIRES: TraceLock.
void AskForPartition(Trace& graph, const Outputs& outputs, const Caller& caller);

// Calls `close`, which takes the lock, until it does not throw PartitionWanted. While the partitioner works
// the lock is free. When other threads change what is closed again and again, the last time waits under the
// lock: `close` is called with false, and does not ask.
template <typename F>
void PartitionedBefore(F close) {
  constexpr int kTriesMax = 4;
  std::optional<runtime::PartitionAhead> ahead;
  for (int tries = 0;; ++tries) {
    try {
      return close(tries < kTriesMax);
    } catch (PartitionWanted& wanted) {
      ahead.reset();
      ahead.emplace(std::move(wanted.request));
    }
  }
}

}  // namespace hlod::lazy
