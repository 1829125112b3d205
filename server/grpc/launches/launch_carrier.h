// The bytes that the parts of launches exchange: calls of Carrier.Carry, one per message.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/system/carrier.h"
#include "common/base/system/mutex.h"
#include "proto/hlod/v1/carry.pb.h"
#include "server/device/memory/side_memory.h"
#include "server/grpc/call.h"
#include "server/grpc/launches/carry_frame.h"
#include "server/grpc/launches/peer_channel.h"

namespace hlod::grpc_server {

class Carriers;
class OutgoingCarry;

// Another daemon of a launch.
struct CarryPeer {
  std::string name, address;  // "n3 (rank 2)", "n3:9517"
  std::string member;         // "n3", the name in its certificate.
  size_t participants = 0;    // It sends one message at a time for each.
};

// The exchanges of one launch on this daemon.
class LaunchCarrier final : public Carrier, public std::enable_shared_from_this<LaunchCarrier> {
 public:
  using Peers = std::map<uint32_t, CarryPeer>;  // By rank.
  LaunchCarrier(Carriers& carriers, v1::LaunchId launch, uint32_t rank, Peers peers, absl::Duration patience);

  absl::Status Meet(const std::string& place, absl::Span<const Exchange> exchanges, Stop stop) override;
  // Ends all exchanges with this reason, also later ones.
  void Fail(const absl::Status& why);

  // Returns the name of the daemon with this rank, as its certificate has it. An error unless it has a part
  // in the launch.
  absl::StatusOr<std::string> MemberOf(uint32_t rank) const;
  // Takes the first frame of a message (carry_handler.cc), which names it. Returns true when the message is
  // complete. Sets `waits` when the launch has not asked for the message yet: then the call is resumed later,
  // and must not be read before. An error must end the call.
  absl::StatusOr<bool> TakeFirst(const std::shared_ptr<Call>& call, const ReceivedCarry& received,
                                 bool& waits);
  // Takes a further frame of the message that `first` names.
  absl::StatusOr<bool> Take(const v1::CarryFrame& first, const ReceivedCarry& received);
  // A call has ended before its message was complete.
  void Drop(const Call& call);

 private:
  using Key = std::tuple<uint32_t, std::string, uint64_t>;  // The sender's rank, the place, the turn.
  struct Receipt {
    std::vector<absl::Span<std::byte>> spans;
    size_t bytes = 0, received = 0;
    size_t span = 0, offset = 0;  // The place of the next byte.
  };
  // A message that has arrived before this daemon was at its place.
  struct Early {
    std::shared_ptr<Call> call;
    ReceivedCarry received;
    device::MemoryCharge charge;
  };
  // One call of Meet, which waits until nothing refers to this any more.
  struct Meeting {
    std::map<uint32_t, std::shared_ptr<OutgoingCarry>> sends;  // By rank.
    std::set<uint32_t> unsent;                                 // The ranks of sends that have not ended.
    std::set<Key> awaited;
    // The first send that failed. The true reason follows if the launch has ended elsewhere.
    absl::Status lost;
    absl::Time lost_at = absl::InfiniteFuture();
  };
  void Expect(const std::string& place, uint64_t turn, absl::Span<const Exchange> exchanges, Meeting& meeting)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendAll(const std::string& place, uint64_t turn, absl::Span<const Exchange> exchanges,
               Meeting& meeting) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnSent(uint32_t rank, const absl::Status& status, Meeting& meeting) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Await(const std::string& place, Meeting& meeting, Stop stop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the rank of a daemon from which something is missing; nullopt if all has arrived.
  std::optional<uint32_t> Missing(const Meeting& meeting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static Key KeyOf(const v1::CarryFrame& first) { return {first.rank(), first.place(), first.turn()}; }
  // Copies the bytes of a frame to their places.
  absl::Status Store(Receipt& receipt, const v1::CarryFrame& first, const ReceivedCarry& received)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Keeps a message until the launch asks for it.
  absl::Status KeepEarly(const std::shared_ptr<Call>& call, const ReceivedCarry& received)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string NameOf(uint32_t rank) const;

  Carriers& carriers_;
  const v1::LaunchId launch_;
  const uint32_t rank_;
  const Peers peers_;
  const absl::Duration patience_;
  Mutex mu_;
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, uint64_t> turns_ ABSL_GUARDED_BY(mu_);  // By place, the meetings so far.
  std::map<Key, Receipt> receipts_ ABSL_GUARDED_BY(mu_);
  std::map<Key, Early> early_ ABSL_GUARDED_BY(mu_);
};

// The carriers of a daemon's launches, and the thread that sends. Thread-safe.
class Carriers {
 public:
  // `early` is charged for messages that come before a participant waits for them.
  Carriers(PeerCredentials credentials, std::shared_ptr<device::MemoryShare> early);
  const std::shared_ptr<device::MemoryShare>& early() const { return early_; }
  ~Carriers();
  // Ends all exchanges, and the thread.
  void Stop(const absl::Status& why);

  std::shared_ptr<LaunchCarrier> Open(const v1::LaunchId& launch, uint32_t rank, LaunchCarrier::Peers peers,
                                      absl::Duration patience);
  void Close(const v1::LaunchId& launch);
  // Returns null for a launch that is not prepared here.
  std::shared_ptr<LaunchCarrier> Find(const v1::LaunchId& launch);

  // Sends a message. `done` is called on the sending thread once its memory is not used any more. Returns
  // null, and does not call it, after Stop.
  std::shared_ptr<OutgoingCarry> Send(const std::string& address, v1::CarryFrame first,
                                      std::vector<absl::Span<const std::byte>> spans,
                                      std::function<void(const absl::Status&)> done);

 private:
  absl::StatusOr<std::shared_ptr<grpc::Channel>> ChannelOf(const std::string& address)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run();

  const PeerCredentials credentials_;
  const std::shared_ptr<device::MemoryShare> early_;
  grpc::CompletionQueue queue_;
  Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::pair<uint32_t, uint64_t>, std::shared_ptr<LaunchCarrier>> carriers_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, PeerChannel> channels_ ABSL_GUARDED_BY(mu_);  // By address.
  std::map<OutgoingCarry*, std::shared_ptr<OutgoingCarry>> calls_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hlod::grpc_server
