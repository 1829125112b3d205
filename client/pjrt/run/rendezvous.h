// Brings the participants of a program together whose framework runs each by a call of its own.
//
// PyTorch/XLA's threads (torch_xla.launch) each run their programs on their own device, and write the
// device's number into them. The n-th run on one device belongs to the n-th on each of the others, among the
// programs whose participants work together; the runs' programs become one program (MergePrograms).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/pjrt/run/deferred_run.h"

namespace hlod::pjrt {

// Thread-safe.
class Rendezvous {
 public:
  // Participants may be minutes apart, because one may write a checkpoint: a warning about those that wait
  // comes early, and the error comes as late as that of PyTorch's process groups.
  explicit Rendezvous(absl::Duration warn_after = absl::Seconds(20),
                      absl::Duration fail_after = absl::Minutes(30));
  // REQUIRES: no run waits (Fail).
  ~Rendezvous();

  // Adds the run of one participant of `devices.size()`. The last one starts the run of all.
  void Join(std::shared_ptr<DeferredRun> part, const std::vector<Device*>& devices);
  // Fails all runs that wait.
  void Fail(const absl::Status& error);

 private:
  struct Meeting {
    std::vector<std::shared_ptr<DeferredRun>> parts;  // One per participant; null until it has joined.
    std::vector<Device*> devices;
    size_t present = 0;
    absl::Time since;
    bool warned = false;
  };
  // A meeting that waited too long. Its error is written while the client, which owns the devices, exists.
  struct Late {
    Meeting meeting;
    absl::Status error;
  };
  // Meetings by the devices of their programs.
  using Meetings = std::map<std::vector<Device*>, std::deque<Meeting>>;
  struct State {
    const absl::Duration warn_after, fail_after;
    absl::Mutex mu;
    Meetings meetings ABSL_GUARDED_BY(mu);
    // Merged programs by the digests of the participants' programs, which differ.
    std::map<std::vector<std::string>, absl::StatusOr<hlod::Executable>> merged ABSL_GUARDED_BY(mu);
    bool watched ABSL_GUARDED_BY(mu) = false;
    bool ending ABSL_GUARDED_BY(mu) = false;
  };
  // Starts a thread that looks for meetings that take too long, until there are none.
  static void Watch(const std::shared_ptr<State>& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mu);
  // Warns of late meetings. Removes and returns those that have waited too long.
  static std::vector<Late> TakeLate(State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
  static std::string Describe(const Meeting& meeting);
  // Returns the program that does what the participants' programs do.
  absl::StatusOr<hlod::Executable> Merge(const Meeting& meeting);
  void Start(const Meeting& meeting);
  static void Fail(const Meeting& meeting, const absl::Status& error);

  const std::shared_ptr<State> state_;  // Shared with the thread.
};

}  // namespace hlod::pjrt
