// One list of watches, which are compared when the state may have changed.
#include "server/grpc/handlers/health.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {
namespace {

class WatchHandler : public CallHandler {
 public:
  WatchHandler(Call& call, Health& health, std::string owner, bool stranger)
      : call_(call), health_(health), owner_(std::move(owner)), stranger_(stranger) {}
  // There is only one service to ask for, and gRPC allocates room for a message only while one is read.
  bool Reads() const override { return false; }
  void OnStart() override {
    if (const absl::Status watched = health_.Watch(call_.shared_from_this(), owner_, stranger_);
        !watched.ok())
      call_.Finish(watched);
  }
  void OnRead(grpc::ByteBuffer&) override {}
  void OnReadsDone() override {}
  void OnDone() override { health_.Forget(call_); }

 private:
  Call& call_;
  Health& health_;
  const std::string owner_;
  const bool stranger_;
};

absl::Status TooMany(int64_t most, std::string_view whose) {
  return MakeError(ErrorKind::kLimit, absl::StrFormat("%d health watches%s are open; the limit is %d.", most,
                                                      ToAbsl(whose), most));
}

}  // namespace

// HealthCheckResponse{status: SERVING or NOT_SERVING}, encoded by hand: field 1, varint 1 or 2.
std::string Health::Response() const { return registry_.draining() ? "\x08\x02" : "\x08\x01"; }

absl::Status Health::Watch(const std::shared_ptr<Call>& call, const std::string& owner, bool stranger) {
  {
    MutexLock lock(&mu_);
    const auto count = [this](auto counts) {
      mu_.AssertHeld();
      return std::count_if(watches_.begin(), watches_.end(), counts);
    };
    const int64_t most = stranger ? kStrangersMax : kWatchesMax;
    if (count([&](const auto& entry) { return entry.second.stranger == stranger; }) >= most)
      return TooMany(most, stranger ? " without the token" : "");
    if (count([&](const auto& entry) {
          return entry.second.stranger == stranger && entry.second.owner == owner;
        }) >= kPerOwnerMax)
      return TooMany(kPerOwnerMax, " of " + owner);
    // Reserves its place; Tick does not write to it yet.
    watches_[call.get()] = {.call = {}, .written = "", .owner = owner, .stranger = stranger};
  }
  const std::string response = Response();
  call->Write(ToByteBuffer(response));
  MutexLock lock(&mu_);
  Watched& watch = watches_[call.get()];
  watch.call = call;
  watch.written = response;
  return absl::OkStatus();
}

void Health::Forget(const Call& call) {
  MutexLock lock(&mu_);
  watches_.erase(&call);
}

void Health::Tick() {
  const std::string response = Response();
  std::vector<std::shared_ptr<Call>> changed;  // Written to after the lock is released.
  {
    MutexLock lock(&mu_);
    for (auto& [key, watch] : watches_) {
      if (watch.written == response) continue;
      std::shared_ptr<Call> call = watch.call.lock();
      if (call == nullptr) continue;
      changed.push_back(std::move(call));
      watch.written = response;
    }
  }
  for (const std::shared_ptr<Call>& call : changed) call->Write(ToByteBuffer(response));
}

std::unique_ptr<CallHandler> MakeWatchHandler(Call& call, Health& health, std::string owner, bool stranger) {
  return std::make_unique<WatchHandler>(call, health, std::move(owner), stranger);
}

}  // namespace hlod::grpc_server
