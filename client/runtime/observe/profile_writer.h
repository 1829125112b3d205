// Records profiles ($HLOD_PROFILE, ProfileRecorder): events as they happen, and the accounts of the sessions
// that end during the recording or are open at its end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/connection/process.h"
#include "hlod/observe/events.h"
#include "hlod/observe/profile.h"

namespace hlod::runtime {

class Session;

// Called when a session is opened: recordings keep it, to request its account later. The first call begins
// the recording that $HLOD_PROFILE requests, and fails if its file cannot be written.
absl::Status RecordSession(const std::shared_ptr<Session>& session);
// Called when a session is about to be closed: recordings request its account.
void RecordSessionEnd(const std::shared_ptr<Session>& session);

// Returns the part of `later` that `earlier`, an earlier account of the same session, does not contain.
SessionAccount AccountSince(const SessionAccount& earlier, SessionAccount later);

class ProfileWriter : public Observer {
 public:
  // Records into the file `fd`, or into memory when it is -1.
  explicit ProfileWriter(int fd);
  ~ProfileWriter() override;

  void OnEvent(const Event& event) override;
  void Open(const std::shared_ptr<Session>& session, const SessionAccount* account);
  void End(const std::shared_ptr<Session>& session, const SessionAccount& account);

  // Ends the recording. A second call has no effect.
  absl::Status Finish();
  Profile Take() { return std::move(run_); }

 private:
  void Write(const std::string& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const OwnerProcess owner_;
  const int fd_;
  absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  size_t events_ ABSL_GUARDED_BY(mu_) = 0, accounts_ ABSL_GUARDED_BY(mu_) = 0;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  // The open sessions, with their accounts at the beginning of the recording.
  std::map<std::shared_ptr<Session>, std::optional<SessionAccount>> sessions_ ABSL_GUARDED_BY(mu_);
  Profile run_;  // The recording in memory; guarded by mu_ until it is finished.
  std::optional<Observation> observation_;
};

}  // namespace hlod::runtime
