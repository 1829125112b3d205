// One execute command, from the message to the handles of its results.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "hlod/runtime/executable.h"

namespace hlod::runtime {

// Send() comes first, then Finish(). The arguments, options and devices must outlive it.
class ExecuteCall {
 public:
  ExecuteCall(std::shared_ptr<ExecutableState> executable, absl::Span<const Argument> arguments,
              const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices);

  // Asks for the profile of the run.
  void RequestProfile(bool measure_machine);

  // Makes it a part of a program that runs on several daemons.
  void SetLaunch(v1::Launch launch) { launch_ = std::move(launch); }

  absl::Status Send(const Caller& caller);

  bool sent() const { return sent_ != nullptr; }
  // Asks the daemon to stop what was sent, if anything was.
  void Cancel() const;

  // Returns the handles, and notes what the execute did to its arguments. REQUIRES: Send() succeeded.
  Execution Finish(const Caller& caller) const;

 private:
  // Writes the first participant's execute into the preflight log; the others hold and run the same.
  void RecordExecute(AbstractSession& log, const std::vector<Buffer>& results, const Caller& caller) const;

  // Returns the argument's handle: 0 for a literal, and for a buffer without a handle.
  static uint64_t HandleOf(const Argument& argument);

  void AddOptions(v1::Execute& execute) const;

  // Adds the arguments, and finds the results that will be placeholders.
  void AddArguments(v1::Execute& execute);

  // Gives each result a new handle, or that of the placeholder that it fills.
  void AddResults(Session::Sender& sender, v1::Execute& execute);

  // Asks for the small results that are expected to be read, in the message of the execute.
  void ReadAhead(Session::Sender& sender);

  // Connects the buffer with the pattern of result `i`, which counts its first read, or its end without a
  // read.
  void Watch(size_t i, BufferState& buffer) const;

  std::vector<Buffer> Results() const;

  void NoteDonations() const;

  const std::shared_ptr<ExecutableState> executable_;
  const absl::Span<const Argument> arguments_;
  const ExecuteOptions& options_;
  const bool is_abstract_;
  const std::vector<int>& devices_;
  std::vector<int> donated_;       // Ascending.
  std::vector<uint64_t> handles_;  // The results' handles.
  std::vector<Buffer> filled_;     // The placeholder that each result fills; most are not valid.
  std::vector<int> unknown_;       // Results named in `fill` that do not exist: the daemon refuses them.
  std::vector<bool> abstract_;     // True for each result that will be a placeholder.
  bool profile_ = false, measure_machine_ = false;
  std::optional<v1::Launch> launch_;
  Command sent_;
  std::vector<Command> prefetches_;  // The Download that reads each result ahead; empty if there is none.
};

}  // namespace hlod::runtime
