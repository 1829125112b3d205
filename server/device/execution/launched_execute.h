// An execute as a part of a launch. Private to Executions.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/system/mutex.h"
#include "server/device/execution/executions.h"
#include "server/device/execution/launches.h"

namespace hlod::device {

// Each Prepare makes an attempt: participants that take their devices and wait. Attempts follow one another:
// the next one, and a refusal, wait until the jobs of the last one have left their devices.
class LaunchedExecute final : public LaunchPart, public std::enable_shared_from_this<LaunchedExecute> {
 public:
  LaunchedExecute(const std::shared_ptr<Executions>& executions, const std::shared_ptr<Execution>& execution);

  const LaunchRequest& request() const override { return *request_; }
  void Prepare(Report prepared) override;
  void Release() override;
  void Start(std::shared_ptr<Carrier> carrier, Report done) override;
  bool IsWanted() const override;
  void Cancel(const absl::Status& why) override;
  void Refuse(const absl::Status& why) override;

  // The jobs of the current attempt have ended, with or without a run.
  void OnAttemptOver();

 private:
  // Begins an attempt; `beginning_` is true.
  void Begin(Report prepared, uint64_t releases);
  // Does what had to wait until there was no attempt.
  void GoOn();
  bool HasAttempt() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return beginning_ || (active_ && !attempt_.expired());
  }
  void ReleaseAttempt(Executions::Participants& attempt);
  std::shared_ptr<Executions::Participants> Attempt();

  const std::shared_ptr<const LaunchRequest> request_;
  Devices& devices_;
  const uint64_t session_;
  // The session and its executes may end at any time.
  const std::weak_ptr<Executions> executions_;
  const std::weak_ptr<Execution> execution_;
  Mutex mu_;
  bool beginning_ ABSL_GUARDED_BY(mu_) = false;  // True while a thread makes the attempt.
  bool active_ ABSL_GUARDED_BY(mu_) = false;
  std::weak_ptr<Executions::Participants> attempt_ ABSL_GUARDED_BY(mu_);  // Kept alive by its jobs.
  uint64_t releases_ ABSL_GUARDED_BY(mu_) = 0;
  Report next_ ABSL_GUARDED_BY(mu_);           // The report of a Prepare that waits for the attempt's end.
  absl::Status refused_ ABSL_GUARDED_BY(mu_);  // A refusal that waits for it, too.
};

}  // namespace hlod::device
