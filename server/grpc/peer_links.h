// The links of this daemon with the other daemons of its cluster: it carries the messages of the group
// machine over gRPC, gives it the time, and answers questions about the cluster.
#pragma once

#include <grpcpp/completion_queue.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/system/mutex.h"
#include "common/rpc/endpoint.h"
#include "proto/hlod/v1/admin.pb.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/devices.h"
#include "server/fabric/group.h"
#include "server/grpc/call.h"
#include "server/grpc/launches/launch_parts.h"
#include "server/grpc/launches/offer_shares.h"
#include "server/grpc/launches/peer_channel.h"
#include "server/grpc/launches/session_pass.h"

namespace hlod::grpc_server {

struct ClusterOptions {
  std::string name;              // --cluster
  std::string join;              // The coordinator's address; empty: this daemon coordinates.
  std::optional<uint32_t> rank;  // nullopt: the coordinator chooses.
  uint32_t size = 0;             // 0: not stated.
  absl::Duration peer_silence = absl::Seconds(10);
  std::string daemon;   // This daemon's name.
  std::string address;  // The one at which others reach it; empty: where it listens for TCP.
  // Called once, when the coordinator refuses this daemon for a reason that will not go away. On the links'
  // thread.
  std::function<void(const absl::Status&)> on_refused = [](const absl::Status&) {};
};

class OutgoingLink;
// The reports of the queue about a link that this daemon makes.
enum class LinkEvent { kStarted, kRead, kWritten, kFinished };

// Thread-safe.
class PeerLinks : public fabric::Wire, public fabric::Work, public MachineUser {
 public:
  // `address` is where other daemons reach this one. Sets the launches of the devices.
  PeerLinks(ClusterOptions options, PeerCredentials credentials, std::string version, std::string address,
            uint64_t incarnation, device::Devices& devices);
  ~PeerLinks() override;

  // Begins to join and to watch.
  void Start();
  // Ends all links. Calls of other daemons end then, too.
  void Stop();

  // A link that another daemon makes to this one (peer_handler.cc). Messages of a link come one at a time.
  fabric::LinkId AddIncoming(std::shared_ptr<Call> call);
  // An error must end the call.
  absl::Status OnIncoming(fabric::LinkId link, const v1::PeerMessage& message);
  void OnIncomingEnded(fabric::LinkId link);

  const std::string& cluster() const { return options_.name; }
  Carriers& carriers() { return parts_->carriers(); }
  // Returns the client of a new session, by the pass of another member or, without one, a new client of this
  // user. Fails with kind auth if no member has given the pass.
  absl::StatusOr<device::LaunchClient> AdmitClient(const std::string& pass, const std::string& user);
  // Adds the cluster, with passes for the others, to the Welcome of a client, unless this daemon is not a
  // member now.
  void AddCluster(v1::Welcome& welcome, const device::LaunchClient& client);
  v1::Cluster Describe();
  absl::StatusOr<v1::TriedLaunches> TryLaunches(uint32_t count);

 private:
  // Returns true when the daemons of the cluster are of one user on one machine, with abstract addresses.
  bool is_abstract() const { return address_.starts_with("unix:"); }
  // fabric::Wire. Called with the lock.
  void Send(fabric::LinkId link, const v1::PeerMessage& message) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void End(fabric::LinkId link, const absl::Status& why) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Connect(uint32_t rank, const std::string& address) override ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // fabric::Work. Launches without work (TryLaunches) are ready and done at once; `parts_` has the others.
  void Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Release(const v1::LaunchId& launch, const absl::Status& why) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  bool IsWanted(const v1::LaunchId& launch) override { return parts_->IsWanted(launch); }
  void Start(const v1::LaunchId& launch) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Cancel(const v1::LaunchId& launch, const absl::Status& why) override { parts_->Cancel(launch, why); }
  void OnOver(uint64_t number, bool started,
              const absl::Status& status) override ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void OnOfferRefused(uint64_t group, uint64_t sequence, const v1::LaunchId& launch,
                      const absl::Status& why) override {
    parts_->OnOfferRefused(group, sequence, launch, why);
  }
  absl::Status Charge(const fabric::Payer& payer, int64_t bytes) override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return shares_.Charge(payer, bytes);
  }
  void Discharge(const fabric::Payer& payer, int64_t bytes) override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    shares_.Discharge(payer, bytes);
  }
  // MachineUser.
  void Use(absl::FunctionRef<void(fabric::Group&, int64_t now_us)> f) override;

  void Run();
  void OnEvent(OutgoingLink& link, LinkEvent event, bool ok) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnRead(OutgoingLink& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnFinished(OutgoingLink& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Reports what the group machine has brought about.
  void Settle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LogChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Logs, once per call, which daemons are called and have not been reached: while a name server does not
  // answer, gRPC reports nothing for minutes.
  void LogSlowCalls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Keeps, and logs once, why there is no link with the coordinator.
  void SetProblem(const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static int64_t Now();

  const ClusterOptions options_;
  const std::string address_;
  const PeerCredentials credentials_;
  const PassKey pass_key_;
  device::SideMemory& side_memory_;
  grpc::CompletionQueue queue_;  // Drives the links that this daemon makes.
  Mutex mu_;
  CondVar over_changed_;
  fabric::LinkId last_link_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<fabric::LinkId, std::shared_ptr<Call>> incoming_ ABSL_GUARDED_BY(mu_);
  std::map<fabric::LinkId, OutgoingLink*> outgoing_
      ABSL_GUARDED_BY(mu_);  // The links that the machine knows.
  std::map<OutgoingLink*, std::unique_ptr<OutgoingLink>> links_ ABSL_GUARDED_BY(mu_);
  std::vector<uint32_t> unconnected_ ABSL_GUARDED_BY(mu_);  // Ranks whose addresses cannot be called.
  // Parts without work. Settle reports them as prepared, and as done.
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> trials_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<v1::LaunchId, uint64_t>> prepared_ ABSL_GUARDED_BY(mu_);
  std::deque<v1::LaunchId> started_ ABSL_GUARDED_BY(mu_);
  OfferShares shares_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, absl::Status> over_ ABSL_GUARDED_BY(mu_);
  bool trying_ ABSL_GUARDED_BY(mu_) = false;
  // The changes of the list (Membership::changes) and the members that the log has named.
  std::optional<uint64_t> logged_changes_ ABSL_GUARDED_BY(mu_);
  std::map<uint32_t, v1::Member> logged_ ABSL_GUARDED_BY(mu_);
  std::string problem_ ABSL_GUARDED_BY(mu_);  // The reason why the coordinator's link was not made.
  bool refused_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
  const std::shared_ptr<LaunchParts> parts_;
  fabric::Group group_ ABSL_GUARDED_BY(mu_);
};

// Returns the handler of Peer/Link. `trusted` is true when the connection itself shows that the caller may
// act as a daemon: then no certificate is needed. `use` is called when the caller is accepted.
std::unique_ptr<CallHandler> MakePeerHandler(PeerLinks& links, Call& call, bool trusted,
                                             std::function<void()> use);  // Defined in peer_handler.cc.
// Returns the handler of Carrier/Carry, for the same callers.
std::unique_ptr<CallHandler> MakeCarryHandler(PeerLinks& links, Call& call, bool trusted,
                                              std::function<void()> use);  // Defined in carry_handler.cc.

}  // namespace hlod::grpc_server
