// Recording runs: events as they come, and the accounts of the sessions that end meanwhile or are open at the
// end.
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
#include "client/runtime/process.h"
#include "hlod/events.h"
#include "hlod/run.h"

namespace hlod::internal {

class Session;

// A session was opened: recordings keep it, so that its account can be asked for. The first call begins the
// recording that $HLOD_RUN asks for; an error when that file cannot be written.
absl::Status RecordSession(const std::shared_ptr<Session>& session);
// A session is about to be closed: recordings take its account.
void RecordSessionEnd(const std::shared_ptr<Session>& session);

// What `later` has beyond `earlier`, accounts of one session.
SessionAccount AccountSince(const SessionAccount& earlier, SessionAccount later);

class RunRecorder : public Observer {
 public:
  // Into the file that `fd` is, or, when it is -1, in memory.
  explicit RunRecorder(int fd);
  ~RunRecorder() override;

  void OnEvent(const Event& event) override;
  void Open(const std::shared_ptr<Session>& session, const SessionAccount* account);
  void End(const std::shared_ptr<Session>& session, const SessionAccount& account);

  // Ends the recording. The second time it does nothing.
  absl::Status Finish();
  RunLog Take() { return std::move(run_); }

 private:
  void Write(const std::string& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const OwnerProcess owner_;
  const int fd_;
  absl::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  size_t events_ ABSL_GUARDED_BY(mu_) = 0, accounts_ ABSL_GUARDED_BY(mu_) = 0;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  // The open ones, and what their accounts had when the recording began.
  std::map<std::shared_ptr<Session>, std::optional<SessionAccount>> sessions_ ABSL_GUARDED_BY(mu_);
  RunLog run_;  // In memory, under mu_ until it is finished.
  std::optional<Observation> observation_;
};

}  // namespace hlod::internal
