// Carrier.Carry over gRPC, on the side that is called.
#include <memory>
#include <optional>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/launches/launch_carrier.h"
#include "server/grpc/peer_links.h"

namespace hlod::grpc_server {
namespace {

class CarryHandler : public CallHandler {
 public:
  CarryHandler(PeerLinks& links, Call& call, bool trusted, std::function<void()> use)
      : links_(links), call_(call), trusted_(trusted), use_(std::move(use)) {}

  void OnStart() override { call_.Read(); }
  void OnRead(grpc::ByteBuffer& bytes) override {
    bool waits = false;
    const absl::StatusOr<bool> complete = Take(bytes, waits);
    if (!complete.ok()) return call_.Finish(complete.status());
    if (*complete) {
      v1::CarryDone done;
      done.set_bytes(first_->bytes());
      call_.Write(ToByteBuffer(done));
      return call_.Finish(absl::OkStatus());
    }
    if (!waits) call_.Read();
  }
  void OnReadsDone() override { call_.Finish(InvalidArgument("The message ends early.")); }
  void OnDone() override {
    if (carrier_ != nullptr) carrier_->Drop(call_);
  }

 private:
  absl::StatusOr<bool> Take(grpc::ByteBuffer& bytes, bool& waits) {
    ASSIGN_OR_RETURN(ReceivedCarry received, DecodeCarryFrame(bytes));
    if (first_.has_value()) return carrier_->Take(*first_, received);
    if (!trusted_)
      RETURN_IF_ERROR(CheckDaemon(*call_.context().auth_context(), links_.cluster(), /*daemon=*/""));
    const std::shared_ptr<LaunchCarrier> carrier = links_.carriers().Find(received.frame.launch());
    if (carrier == nullptr) return Aborted("The launch is not prepared on the daemon that was called.");
    // A daemon of the cluster speaks for its own participants only.
    ASSIGN_OR_RETURN(const std::string sender, carrier->MemberOf(received.frame.rank()));
    if (!trusted_) RETURN_IF_ERROR(CheckDaemon(*call_.context().auth_context(), links_.cluster(), sender));
    carrier_ = carrier;
    use_();
    first_ = received.frame;
    return carrier_->TakeFirst(call_.shared_from_this(), received, waits);
  }

  PeerLinks& links_;
  Call& call_;
  const bool trusted_;
  const std::function<void()> use_;
  std::shared_ptr<LaunchCarrier> carrier_;
  std::optional<v1::CarryFrame> first_;  // The frame that names the message.
};

}  // namespace

std::unique_ptr<CallHandler> MakeCarryHandler(PeerLinks& links, Call& call, bool trusted,
                                              std::function<void()> use) {
  return std::make_unique<CarryHandler>(links, call, trusted, std::move(use));
}

}  // namespace hlod::grpc_server
