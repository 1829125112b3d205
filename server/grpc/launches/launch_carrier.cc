// A message is received straight into the memory of the run that has asked for it. One that comes earlier
// waits with its first frame, and gRPC's flow control makes its sender wait.
#include "server/grpc/launches/launch_carrier.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/endpoint.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/launches/outgoing_carry.h"

namespace hlod::grpc_server {
namespace {

constexpr std::chrono::milliseconds kBetweenLooksAtRun{5};
constexpr size_t kPlaceBytesMax = 4096;

template <typename T>
size_t SizeOf(const std::vector<absl::Span<T>>& spans) {
  size_t bytes = 0;
  for (const absl::Span<T> span : spans) bytes += span.size();
  return bytes;
}

absl::Status LaunchIsOver() { return Aborted("The launch has ended on the daemon that was called."); }

// Ends a call whose message is complete.
void FinishCarry(Call& call, uint64_t bytes) {
  v1::CarryDone done;
  done.set_bytes(bytes);
  call.Write(ToByteBuffer(done));
  call.Finish(absl::OkStatus());
}

}  // namespace

LaunchCarrier::LaunchCarrier(Carriers& carriers, v1::LaunchId launch, uint32_t rank, Peers peers,
                             absl::Duration patience)
    : carriers_(carriers),
      launch_(std::move(launch)),
      rank_(rank),
      peers_(std::move(peers)),
      patience_(patience) {}

absl::StatusOr<std::string> LaunchCarrier::MemberOf(uint32_t rank) const {
  const auto peer = peers_.find(rank);
  if (peer == peers_.end())
    return MakeError(ErrorKind::kViolation, absl::StrFormat("Rank %d has no part in the launch.", rank));
  return peer->second.member;
}

std::string LaunchCarrier::NameOf(uint32_t rank) const {
  const auto found = peers_.find(rank);
  return found == peers_.end() ? absl::StrCat("rank ", rank) : found->second.name;
}

void LaunchCarrier::Expect(const std::string& place, uint64_t turn, absl::Span<const Exchange> exchanges,
                           Meeting& meeting) {
  for (const Exchange& exchange : exchanges) {
    const size_t bytes = SizeOf(exchange.received);
    if (bytes == 0) continue;
    const Key key{exchange.rank, place, turn};
    meeting.awaited.insert(key);
    Receipt& receipt = receipts_[key];
    receipt = {.spans = exchange.received, .bytes = bytes};
    const auto found = early_.find(key);
    if (found == early_.end()) continue;
    const Early early = std::move(found->second);
    early_.erase(found);
    const absl::Status stored = Store(receipt, early.received.frame, early.received);
    if (!stored.ok()) {
      early.call->Finish(stored);
    } else if (receipt.received == receipt.bytes) {
      FinishCarry(*early.call, receipt.bytes);
    } else {
      early.call->Read();
    }
  }
}

void LaunchCarrier::SendAll(const std::string& place, uint64_t turn, absl::Span<const Exchange> exchanges,
                            Meeting& meeting) {
  for (const Exchange& exchange : exchanges) {
    if (SizeOf(exchange.sent) == 0) continue;
    const uint32_t rank = exchange.rank;
    const auto peer = peers_.find(rank);
    // The rows exist before the call does, because an exception may not lose a call.
    std::shared_ptr<OutgoingCarry>& send = meeting.sends[rank];
    meeting.unsent.insert(rank);
    absl::Cleanup never_began = [&meeting, rank] { meeting.unsent.erase(rank); };
    v1::CarryFrame first;
    *first.mutable_launch() = launch_;
    first.set_rank(rank_);
    first.set_place(place);
    first.set_turn(turn);
    if (peer != peers_.end()) {
      send = carriers_.Send(
          peer->second.address, std::move(first), exchange.sent,
          [this, rank, &meeting](const absl::Status& status) { OnSent(rank, status, meeting); });
    }
    if (send == nullptr) {
      meeting.lost = MakeError(ErrorKind::kLostDaemon,
                               absl::StrFormat("Nothing can be sent to daemon %s.", NameOf(rank)));
      meeting.lost_at = absl::InfinitePast();
      continue;
    }
    std::move(never_began).Cancel();
  }
}

// Called on the sending thread, which cannot be here before SendAll has left mu_.
void LaunchCarrier::OnSent(uint32_t rank, const absl::Status& status, Meeting& meeting) {
  MutexLock lock(&mu_);
  meeting.unsent.erase(rank);
  changed_.SignalAll();
  if (status.ok() || !meeting.lost.ok()) return;
  meeting.lost_at = absl::Now();
  try {
    meeting.lost =
        MakeError(ErrorKind::kLostDaemon, absl::StrFormat("Daemon %s does not take what the launch sends: %s",
                                                          NameOf(rank), FromAbsl(status.message())));
  } catch (const std::exception&) {  // No memory for the text.
    meeting.lost = status;
  }
}

std::optional<uint32_t> LaunchCarrier::Missing(const Meeting& meeting) const {
  for (const Key& key : meeting.awaited) {
    const Receipt& receipt = receipts_.at(key);
    if (receipt.received < receipt.bytes) return std::get<0>(key);
  }
  return std::nullopt;
}

absl::Status LaunchCarrier::Await(const std::string& place, Meeting& meeting, Stop stop) {
  while (!meeting.unsent.empty() || !meeting.lost.ok() || Missing(meeting).has_value()) {
    if (!failure_.ok()) return failure_;
    if (absl::Now() - meeting.lost_at > patience_) return meeting.lost;
    if (const absl::Status status = stop(); !status.ok()) {
      if (KindOf(status) != ErrorKind::kNone || !absl::IsDeadlineExceeded(status)) return status;
      std::optional<uint32_t> who = Missing(meeting);
      if (!who.has_value() && !meeting.unsent.empty()) who = *meeting.unsent.begin();
      return MakeError(ErrorKind::kDeadline,
                       absl::StrFormat("The time of the run was over while %s waited for %s.", place,
                                       NameOf(who.value_or(rank_))));
    }
    changed_.WaitFor(&mu_, kBetweenLooksAtRun);
  }
  return absl::OkStatus();
}

absl::Status LaunchCarrier::Meet(const std::string& place, absl::Span<const Exchange> exchanges, Stop stop) {
  Meeting meeting;
  MutexLock lock(&mu_);
  if (!failure_.ok()) return failure_;
  // After an error or an exception, calls may still use the memory and the meeting.
  const absl::Cleanup end = [this, &meeting]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const uint32_t rank : meeting.unsent) meeting.sends.at(rank)->Cancel();
    while (!meeting.unsent.empty()) changed_.Wait(&mu_);
    for (const Key& key : meeting.awaited) receipts_.erase(key);
  };
  const uint64_t turn = turns_[place]++;
  Expect(place, turn, exchanges, meeting);
  SendAll(place, turn, exchanges, meeting);
  return Await(place, meeting, stop);
}

absl::Status LaunchCarrier::Store(Receipt& receipt, const v1::CarryFrame& first,
                                  const ReceivedCarry& received) {
  absl::Status status;
  uint32_t crc = 0;
  for (const absl::Span<const std::byte> piece : received.data) crc = rpc::Crc32c(piece, crc);
  if (first.bytes() != receipt.bytes || received.size > receipt.bytes - receipt.received) {
    status = Internal("%s sends %d bytes at %s, where %d are expected.", NameOf(first.rank()), first.bytes(),
                      first.place(), receipt.bytes);
  } else if (crc != received.frame.crc32c()) {
    status =
        MakeError(ErrorKind::kCorrupt, absl::StrFormat("The bytes of %s at %s do not have their checksum.",
                                                       NameOf(first.rank()), first.place()));
  }
  if (!status.ok()) {
    failure_.Update(status);
    changed_.SignalAll();
    return status;
  }
  for (absl::Span<const std::byte> piece : received.data) {
    while (!piece.empty()) {
      const absl::Span<std::byte> rest = receipt.spans[receipt.span].subspan(receipt.offset);
      const size_t taken = std::min(rest.size(), piece.size());
      std::memcpy(rest.data(), piece.data(), taken);
      piece.remove_prefix(taken);
      receipt.offset += taken;
      if (receipt.offset < receipt.spans[receipt.span].size()) continue;
      ++receipt.span;
      receipt.offset = 0;
    }
  }
  receipt.received += received.size;
  if (receipt.received == receipt.bytes) changed_.SignalAll();
  return absl::OkStatus();
}

absl::Status LaunchCarrier::KeepEarly(const std::shared_ptr<Call>& call, const ReceivedCarry& received) {
  const v1::CarryFrame& frame = received.frame;
  const auto peer = peers_.find(frame.rank());
  if (peer == peers_.end() || frame.place().size() > kPlaceBytesMax || received.size > kCarryWholeBytes)
    return MakeError(ErrorKind::kViolation, "A message of a launch does not begin as one of its parts'.");
  const auto from = [&](const auto& row) { return row.second.received.frame.rank() == frame.rank(); };
  if (static_cast<size_t>(std::ranges::count_if(early_, from)) >= peer->second.participants) {
    return MakeError(ErrorKind::kViolation,
                     absl::StrFormat("%s sends more messages at once than the %d of its participants.",
                                     peer->second.name, peer->second.participants));
  }
  // The bytes belong to a buffer of their own: those that came with them are not kept.
  Early early{.call = call, .received = {.frame = frame, .slices = {}, .data = {}, .size = 0}, .charge = {}};
  ASSIGN_OR_RETURN(
      early.charge,
      device::MemoryCharge::Take(carriers_.early(),
                                 static_cast<int64_t>(sizeof(Early) + frame.place().size() + received.size),
                                 "A message of a launch that nobody waits for yet"));
  if (received.size > 0) {
    const grpc::Slice slice(received.size);
    size_t at = 0;
    for (const absl::Span<const std::byte> piece : received.data) {
      std::memcpy(const_cast<uint8_t*>(slice.begin()) + at, piece.data(), piece.size());
      at += piece.size();
    }
    early.received.slices.push_back(slice);
    early.received.data.emplace_back(reinterpret_cast<const std::byte*>(early.received.slices[0].begin()),
                                     received.size);
    early.received.size = received.size;
  }
  if (early_.emplace(KeyOf(frame), std::move(early)).second) return absl::OkStatus();
  return MakeError(ErrorKind::kViolation, "A message of a launch was sent twice.");
}

absl::StatusOr<bool> LaunchCarrier::TakeFirst(const std::shared_ptr<Call>& call,
                                              const ReceivedCarry& received, bool& waits) {
  MutexLock lock(&mu_);
  waits = false;
  if (!failure_.ok()) return LaunchIsOver();
  const auto found = receipts_.find(KeyOf(received.frame));
  if (found == receipts_.end()) {
    RETURN_IF_ERROR(KeepEarly(call, received));
    waits = true;
    return false;
  }
  RETURN_IF_ERROR(Store(found->second, received.frame, received));
  return found->second.received == found->second.bytes;
}

absl::StatusOr<bool> LaunchCarrier::Take(const v1::CarryFrame& first, const ReceivedCarry& received) {
  MutexLock lock(&mu_);
  if (!failure_.ok()) return LaunchIsOver();
  if (received.size == 0) return MakeError(ErrorKind::kViolation, "A frame of a launch has no data.");
  const auto found = receipts_.find(KeyOf(first));
  if (found == receipts_.end()) return LaunchIsOver();  // The meeting has failed.
  RETURN_IF_ERROR(Store(found->second, first, received));
  return found->second.received == found->second.bytes;
}

void LaunchCarrier::Drop(const Call& call) {
  MutexLock lock(&mu_);
  std::erase_if(early_, [&call](const auto& row) { return row.second.call.get() == &call; });
}

void LaunchCarrier::Fail(const absl::Status& why) {
  MutexLock lock(&mu_);
  failure_.Update(why);
  for (auto& [key, early] : std::exchange(early_, {})) early.call->Finish(LaunchIsOver());
  changed_.SignalAll();
}

// -----------------------------------------------------------------------------------------------------------
// all launches

Carriers::Carriers(PeerCredentials credentials, std::shared_ptr<device::MemoryShare> early)
    : credentials_(std::move(credentials)), early_(std::move(early)), thread_([this] { Run(); }) {
  pthread_setname_np(thread_.native_handle(), "carries");
}

Carriers::~Carriers() { Stop(Unavailable("The daemon is ending.")); }

void Carriers::Stop(const absl::Status& why) {
  std::map<std::pair<uint32_t, uint64_t>, std::shared_ptr<LaunchCarrier>> carriers;
  {
    MutexLock lock(&mu_);
    if (std::exchange(stopping_, true)) return;
    carriers = std::exchange(carriers_, {});
    for (const auto& [raw, call] : calls_) call->Cancel();
  }
  for (const auto& [id, carrier] : carriers) carrier->Fail(why);
  // No operation may begin on a queue that has shut down.
  for (;;) {
    {
      MutexLock lock(&mu_);
      if (calls_.empty()) break;
    }
    absl::SleepFor(absl::Milliseconds(1));
  }
  queue_.Shutdown();
  thread_.join();
}

void Carriers::Run() {
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
    const auto* const operation = static_cast<OutgoingCarry::Operation*>(tag);
    OutgoingCarry* const call = operation->call;
    if (!call->OnEvent(operation->event, ok)) continue;
    std::shared_ptr<OutgoingCarry> over;  // Destroyed without the lock.
    MutexLock lock(&mu_);
    const auto found = calls_.find(call);
    over = std::move(found->second);
    calls_.erase(found);
  }
}

std::shared_ptr<LaunchCarrier> Carriers::Open(const v1::LaunchId& launch, uint32_t rank,
                                              LaunchCarrier::Peers peers, absl::Duration patience) {
  auto carrier = std::make_shared<LaunchCarrier>(*this, launch, rank, std::move(peers), patience);
  MutexLock lock(&mu_);
  if (!stopping_) carriers_[{launch.leader(), launch.number()}] = carrier;
  return carrier;
}

void Carriers::Close(const v1::LaunchId& launch) {
  std::shared_ptr<LaunchCarrier> carrier;
  {
    MutexLock lock(&mu_);
    const auto found = carriers_.find({launch.leader(), launch.number()});
    if (found == carriers_.end()) return;
    carrier = std::move(found->second);
    carriers_.erase(found);
  }
  carrier->Fail(LaunchIsOver());
}

std::shared_ptr<LaunchCarrier> Carriers::Find(const v1::LaunchId& launch) {
  MutexLock lock(&mu_);
  const auto found = carriers_.find({launch.leader(), launch.number()});
  return found == carriers_.end() ? nullptr : found->second;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Carriers::ChannelOf(const std::string& address) {
  PeerChannel& channel = channels_[address];
  if (channel.get() == nullptr || channel.broken()) {
    ASSIGN_OR_RETURN(const rpc::Endpoint endpoint, rpc::ParseEndpoint(address));
    ASSIGN_OR_RETURN(channel, PeerChannel::To(endpoint, credentials_));
  }
  return channel.get();
}

std::shared_ptr<OutgoingCarry> Carriers::Send(const std::string& address, v1::CarryFrame first,
                                              std::vector<absl::Span<const std::byte>> spans,
                                              std::function<void(const absl::Status&)> done) {
  MutexLock lock(&mu_);
  if (stopping_) return nullptr;
  const absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = ChannelOf(address);
  if (!channel.ok()) return nullptr;
  auto call = std::make_shared<OutgoingCarry>(*channel, credentials_.token, std::move(first),
                                              std::move(spans), std::move(done));
  calls_[call.get()] = call;
  call->Start(queue_);
  return call;
}

}  // namespace hlod::grpc_server
