// The common part of the two bulk methods: a call whose work is a stream that jobs of the transfer thread
// also refer to.
#pragma once

#include <memory>
#include <utility>

#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {

// `Stream` has the functions of a CallHandler.
template <typename Stream>
class BulkHandler final : public CallHandler {
 public:
  BulkHandler(session::Registry& registry, Call& call, std::shared_ptr<ReceiveQuota> quota)
      : registry_(registry), call_(call), quota_(std::move(quota)) {}
  void OnStart() override {
    stream_ = std::make_shared<Stream>(registry_, call_.shared_from_this(), quota_);
    stream_->OnStart();
  }
  bool AwaitsTurn() const override { return stream_->AwaitsTurn(); }
  void OnRead(grpc::ByteBuffer& message) override { stream_->OnRead(message); }
  void OnReadsDone() override { stream_->OnReadsDone(); }
  void OnWritten() override { stream_->OnWritten(); }
  void OnDone() override {
    stream_->OnDone();
    stream_.reset();
  }

 private:
  session::Registry& registry_;
  Call& call_;
  const std::shared_ptr<ReceiveQuota> quota_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace hlod::grpc_server
