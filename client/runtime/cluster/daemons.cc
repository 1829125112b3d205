// The sessions of one client with several daemons.
#include "client/runtime/cluster/daemons.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

// The time for which a daemon that could not be reached is not called again.
constexpr absl::Duration kPause = absl::Seconds(1);

}  // namespace

Daemons::Daemons(const DaemonFacts& connected, const SessionOptions& options, Reach reach)
    : reach_(std::move(reach)),
      options_(std::make_unique<SessionOptions>(options)),
      cluster_(connected.cluster.name()),
      silence_(absl::Microseconds(static_cast<int64_t>(connected.cluster.peer_silence_us()))),
      group_(connected.cluster.group()),
      devices_(connected.devices) {
  daemons_.push_back({.rank = connected.cluster.rank(),
                      .name = connected.name,
                      .address = "",
                      .pass = "",
                      .first_device = 0,
                      .devices = static_cast<int>(devices_.size())});
  for (const v1::ClusterDaemon& row : connected.cluster.daemons()) {
    daemons_.push_back({.rank = row.rank(),
                        .name = row.name(),
                        .address = row.address(),
                        .pass = row.pass(),
                        .first_device = static_cast<int>(devices_.size()),
                        .devices = static_cast<int>(row.devices())});
    for (uint32_t i = 0; i < row.devices(); ++i)
      devices_.push_back({static_cast<int>(devices_.size()), "cpu", row.memory_bytes()});
  }
}

Daemons::~Daemons() = default;

size_t Daemons::IndexOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  size_t i = 0;  // The ranges of devices do not change.
  while (i + 1 < daemons_.size() && device >= daemons_[i + 1].first_device) ++i;
  return i;
}

uint32_t Daemons::RankOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return daemons_[IndexOf(device)].rank;
}

int Daemons::OrdinalOf(int device) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return device - daemons_[IndexOf(device)].first_device;
}

absl::StatusOr<std::shared_ptr<Session>> Daemons::Owner(int device) {
  const size_t index = IndexOf(device);
  // Held until after the lock is released: the destructor of the last session calls Release().
  const std::shared_ptr<Session> home = home_.lock();
  if (home == nullptr) return SessionIsClosed();
  if (index == 0) return home;
  absl::MutexLock lock(&mu_);
  Daemon& daemon = daemons_[index];
  if (daemon.session != nullptr && daemon.session->status().ok()) return daemon.session;
  if (absl::Now() - daemon.failed < kPause) return daemon.failure;
  absl::StatusOr<std::shared_ptr<Session>> opened = Open(daemon, *home);
  if (opened.ok()) return daemon.session = *std::move(opened);
  daemon.failed = absl::Now();
  daemon.failure =
      MakeError(ErrorKind::kLostDaemon,
                absl::StrFormat("Device %d is on daemon %s (rank %d), which cannot be used: %s", device,
                                daemon.name, daemon.rank, FromAbsl(opened.status().message())));
  return daemon.failure;
}

absl::StatusOr<std::shared_ptr<Session>> Daemons::Open(const Daemon& daemon, const Session& home) {
  ASSIGN_OR_RETURN(std::unique_ptr<Connector> connector, reach_(daemon.address));
  SessionOptions options = *options_;
  options.daemons = shared_from_this();
  options.first_device = daemon.first_device;
  options.pass = daemon.pass;
  options.daemon = absl::StrFormat("%s (rank %d)", daemon.name, daemon.rank);
  options.patience = silence_;
  options.question = silence_ / 4;
  options.silence = silence_ - options.question;
  ASSIGN_OR_RETURN(std::shared_ptr<Session> session, Session::Open(std::move(connector), options));
  const v1::ClusterInfo& there = session->daemon().cluster;
  if (there.name() != cluster_ || there.rank() != daemon.rank || session->place().devices != daemon.devices ||
      there.group() != group_) {
    return FailedPrecondition(
        "the daemon at %s is rank %d of cluster \"%s\" and has %d devices; expected were rank %d of \"%s\" "
        "and %d devices. Connect again.",
        daemon.address, there.rank(), there.name(), session->place().devices, daemon.rank, cluster_,
        daemon.devices);
  }
  if (home.step != 0) RETURN_IF_ERROR(MarkStep(*session, home.step, {}));
  return session;
}

std::vector<std::shared_ptr<Session>> Daemons::Opened() const {
  std::vector<std::shared_ptr<Session>> opened;
  absl::MutexLock lock(&mu_);
  for (const Daemon& daemon : daemons_) {
    if (daemon.session != nullptr && daemon.session->status().ok()) opened.push_back(daemon.session);
  }
  return opened;
}

void Daemons::Release() {
  std::vector<std::shared_ptr<Session>> released;  // Destroyed without the lock.
  absl::MutexLock lock(&mu_);
  for (Daemon& daemon : daemons_) released.push_back(std::move(daemon.session));
}

}  // namespace hlod::runtime
