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
    if (bytes.Length() > kPeerMessageBytesMax) {
      return MakeError(ErrorKind::kLimit,
                       absl::StrFormat("A message between daemons has %d bytes; the limit is %d.",
                                       bytes.Length(), kPeerMessageBytesMax));
    }
    v1::CarryFrame frame;
    if (!frame.ParseFromString(ToString(bytes)))
      return MakeError(ErrorKind::kViolation, "A message between daemons cannot be parsed.");
    if (first_.has_value()) return carrier_->Take(call_.shared_from_this(), *first_, frame, waits);
    if (!trusted_)
      RETURN_IF_ERROR(CheckDaemon(*call_.context().auth_context(), links_.cluster(), /*daemon=*/""));
    carrier_ = links_.carriers().Find(frame.launch());
    if (carrier_ == nullptr) return Aborted("The launch is not prepared on the daemon that was called.");
    use_();
    first_ = std::move(frame);
    const absl::StatusOr<bool> complete = carrier_->Take(call_.shared_from_this(), *first_, *first_, waits);
    first_->clear_data();
    return complete;
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
