// Peer.Link over gRPC, on the side that is called.
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/peer_links.h"

namespace hlod::grpc_server {
namespace {

class PeerHandler : public CallHandler {
 public:
  PeerHandler(PeerLinks& links, Call& call, bool trusted, std::function<void()> use)
      : links_(links), call_(call), trusted_(trusted), use_(std::move(use)) {}

  void OnStart() override {
    link_ = links_.AddIncoming(call_.shared_from_this());
    call_.Read();
  }
  void OnRead(grpc::ByteBuffer& bytes) override {
    if (const absl::Status status = Take(bytes); !status.ok()) return call_.Finish(status);
    call_.Read();
  }
  void OnReadsDone() override { call_.Finish(absl::OkStatus()); }
  void OnDone() override { links_.OnIncomingEnded(link_); }

 private:
  absl::Status Take(grpc::ByteBuffer& bytes) {
    RETURN_IF_ERROR(CheckPeerMessage(bytes.Length()));
    v1::PeerMessage message;
    if (!message.ParseFromString(ToString(bytes)))
      return MakeError(ErrorKind::kViolation, "A message between daemons cannot be parsed.");
    const bool greets = message.has_hello();
    if (greets && !trusted_) {
      RETURN_IF_ERROR(
          CheckDaemon(*call_.context().auth_context(), links_.cluster(), message.hello().member().name()));
    }
    RETURN_IF_ERROR(links_.OnIncoming(link_, message));
    if (greets) use_();
    return absl::OkStatus();
  }

  PeerLinks& links_;
  Call& call_;
  const bool trusted_;
  const std::function<void()> use_;
  fabric::LinkId link_ = 0;
};

}  // namespace

std::unique_ptr<CallHandler> MakePeerHandler(PeerLinks& links, Call& call, bool trusted,
                                             std::function<void()> use) {
  return std::make_unique<PeerHandler>(links, call, trusted, std::move(use));
}

}  // namespace hlod::grpc_server
