// One list of watches, looked at when the state changes.
#include "server/grpc/health.h"

#include <utility>
#include <vector>

#include "common/base/status.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {
namespace {

class WatchHandler : public CallHandler {
 public:
  WatchHandler(Call& call, Health& health) : call_(call), health_(health) {}
  void OnStart() override { call_.Read(); }
  // A watch has one request. No further one is read: gRPC makes room for a whole message only while one is.
  void OnRead(grpc::ByteBuffer&) override {
    if (const absl::Status watched = health_.Watch(call_.shared_from_this()); !watched.ok())
      call_.Finish(watched);
  }
  void OnReadsDone() override { call_.Finish(InvalidArgument("A health watch without a request.")); }
  void OnDone() override { health_.Forget(call_); }

 private:
  Call& call_;
  Health& health_;
};

}  // namespace

// HealthCheckResponse{status: SERVING or NOT_SERVING}, by hand: field 1, varint 1 or 2.
std::string Health::Response() const { return registry_.draining() ? "\x08\x02" : "\x08\x01"; }

absl::Status Health::Watch(const std::shared_ptr<Call>& call) {
  {
    MutexLock lock(&mu_);
    if (watches_.size() >= kWatchesMax && !watches_.contains(call.get())) {
      return MakeError(ErrorKind::kLimit, absl::StrFormat("%d health watches are open; the limit is %d.",
                                                          watches_.size(), kWatchesMax));
    }
    watches_[call.get()] = {};  // Its place; Tick writes nothing to it yet.
  }
  const std::string response = Response();
  call->Write(ToByteBuffer(response));
  MutexLock lock(&mu_);
  watches_[call.get()] = {call, response};
  return absl::OkStatus();
}

void Health::Forget(const Call& call) {
  MutexLock lock(&mu_);
  watches_.erase(&call);
}

void Health::Tick() {
  const std::string response = Response();
  std::vector<std::shared_ptr<Call>> changed;  // Written to after the lock.
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

std::unique_ptr<CallHandler> MakeWatchHandler(Call& call, Health& health) {
  return std::make_unique<WatchHandler>(call, health);
}

}  // namespace hlod::grpc_server
