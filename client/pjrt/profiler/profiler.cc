// Notes executions, and writes them as XSpace.
#include "client/pjrt/profiler/profiler.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/pjrt/client.h"
#include "client/pjrt/profiler/xspace.h"
#include "common/base/errors/status.h"
#include "hlod/observe/account.h"

namespace hlod::pjrt {
namespace {

// The executions of one profile that are kept; the daemon tells of as many.
constexpr size_t kExecutionsMax = 1024;

struct NotedExecution {
  std::string program, location;
  int device = 0;
  absl::Time done = absl::InfiniteFuture();
};

struct NotedClient {
  std::shared_ptr<Client> client;
  std::vector<std::shared_ptr<NotedExecution>>
      executions;  // In the order in which they ended; those that have not ended are missing.
};

struct Notes {
  absl::Mutex mu;
  std::map<Client*, NotedClient> clients ABSL_GUARDED_BY(mu);
  int under_way ABSL_GUARDED_BY(mu) = 0;  // The number of noted executions that have not ended.

  static Notes& Get() {
    static auto* const notes = new Notes;  // Never destroyed: executions may end while the process does.
    return *notes;
  }
};

std::atomic<bool> is_profiling = false;

// Converts the times of the daemon's last runs to this process's clock, and adds these runs and the client's
// view of them.
absl::Status AddExecutions(const NotedClient& noted, XSpace& space) {
  ASSIGN_OR_RETURN(const SessionAccount account, GetAccount(noted.client->runtime(), Caller{}));
  const auto& executions = noted.executions;
  const size_t count = std::min({executions.size(), account.samples.size(), kExecutionsMax});
  const RunSample* const samples = account.samples.data() + (account.samples.size() - count);
  const auto* const ended = executions.data() + (executions.size() - count);
  absl::Duration offset = absl::InfiniteDuration();
  for (size_t i = 0; i < count; ++i) {
    const absl::Duration since_epoch = ended[i]->done - absl::UnixEpoch();
    offset = std::min(offset, since_epoch - absl::Microseconds(samples[i].at_us));
  }
  for (size_t i = 0; i < count; ++i) {
    const NotedExecution& execution = *ended[i];
    const absl::Time end = absl::UnixEpoch() + offset + absl::Microseconds(samples[i].at_us);
    const absl::Duration run = absl::Microseconds(samples[i].run_us);
    space.Add(execution.device, XSpace::Line::kRuns, {execution.program, execution.location, end - run, run});
    const absl::Duration queued = absl::Microseconds(samples[i].queue_us);
    if (queued > absl::ZeroDuration())
      space.Add(execution.device, XSpace::Line::kQueue,
                {execution.program, execution.location, end - run - queued, queued});
  }
  return absl::OkStatus();
}

}  // namespace

bool IsProfiling() { return is_profiling.load(std::memory_order_relaxed); }

void NoteExecution(Client& client, std::string_view program, const char* location, int device,
                   const std::shared_ptr<Completion>& end) {
  auto execution = std::make_shared<NotedExecution>();
  execution->program = std::string(program);
  if (location != nullptr) execution->location = location;
  execution->device = device;
  {
    absl::MutexLock lock(&Notes::Get().mu);
    ++Notes::Get().under_way;
    Notes::Get().clients.try_emplace(&client, NotedClient{client.shared_from_this(), {}});
  }
  end->OnReady([execution, &client, held = client.shared_from_this()](const absl::Status&) {
    absl::MutexLock lock(&Notes::Get().mu);
    execution->done = absl::Now();
    --Notes::Get().under_way;
    const auto found = Notes::Get().clients.find(&client);
    if (found != Notes::Get().clients.end()) found->second.executions.push_back(execution);
  });
}

Profiler::~Profiler() {
  if (running_) (void)Stop();
}

absl::Status Profiler::Start() {
  if (is_profiling.exchange(true)) return FailedPrecondition("Another profile is being taken.");
  running_ = true;
  absl::MutexLock lock(&Notes::Get().mu);
  Notes::Get().clients.clear();
  return absl::OkStatus();
}

absl::Status Profiler::Stop() {
  if (!std::exchange(running_, false)) return FailedPrecondition("The profile was not started.");
  is_profiling = false;
  std::map<Client*, NotedClient> clients;
  {
    absl::MutexLock lock(&Notes::Get().mu);
    const auto all_ended = []() ABSL_NO_THREAD_SAFETY_ANALYSIS { return Notes::Get().under_way == 0; };
    Notes::Get().mu.Await(absl::Condition(&all_ended));
    clients.swap(Notes::Get().clients);
  }
  XSpace space;
  absl::Status status;
  for (const auto& [key, noted] : clients) status.Update(AddExecutions(noted, space));
  bytes_ = space.Serialize();
  return status;
}

}  // namespace hlod::pjrt
