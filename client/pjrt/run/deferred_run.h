// Runs that start after the call that asked for them.
//
// A run waits for arguments that are given their values later, and one participant's run for those of the
// others. Its results are there at once, as buffers whose values are promised; runs that take them wait in
// turn.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "client/pjrt/run/run.h"
#include "hlod/runtime/caller.h"

namespace hlod::pjrt {

class DeferredRun : public std::enable_shared_from_this<DeferredRun> {
 public:
  // Takes over the arguments that the run consumes.
  DeferredRun(Run run, std::string call_location);

  // Returns results and completions to the caller of the run.
  void Give(abi::LoadedExecutable_Execute_Args& args) const;
  // Appends the participants of a run of the same program, which must not be used any more.
  void Append(DeferredRun& other);
  // Starts the run as soon as all arguments have been given: now, or in the thread that gives the last one.
  void StartWhenGiven() { StartWhenGiven(run_.runtime); }
  // Starts `program` instead, the program of all participants.
  void StartWhenGiven(hlod::Executable program);
  // Fails the run instead of starting it.
  void Fail(const absl::Status& error);

  const Run& run() const { return run_; }
  const Caller& line() const { return line_; }

 private:
  void Start();
  absl::StatusOr<Execution> Send();

  Run run_;
  const Caller line_;
  const std::string call_location_;
  // The results of all participants, one participant after another.
  std::vector<std::shared_ptr<PromisedValue>> results_;
  std::vector<std::shared_ptr<Completion>> ends_;        // One per participant.
  // The arguments that are not given yet, and one more until StartWhenGiven has asked for all.
  std::atomic<size_t> missing_ = 0;
};

}  // namespace hlod::pjrt
