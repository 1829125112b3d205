// Observes gRPC's rules for one call: one read and one write at a time, and Finish at most once.
#include "server/grpc/outgoing_link.h"

#include <utility>

#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {
OutgoingLink::OutgoingLink(uint32_t rank, rpc::Endpoint address,
                           const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                           grpc::CompletionQueue& queue)
    : rank_(rank), address_(std::move(address)), stub_(v1::Peer::NewStub(channel)) {
  if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  stream_ = stub_->PrepareAsyncLink(&context_, &queue);
  ++pending_;
  stream_->StartCall(&start_);
}

void OutgoingLink::Write(v1::PeerMessage message) {
  if (finishing_) return;
  outgoing_.push_back(std::move(message));
  if (!writing_) StartWrite();
}

void OutgoingLink::StartWrite() {
  writing_ = true;
  ++pending_;
  stream_->Write(outgoing_.front(), &write_);
}

void OutgoingLink::Cancel() {
  context_.TryCancel();
  Finish();
}

void OutgoingLink::Read() {
  ++pending_;
  stream_->Read(&message_, &read_);
}

void OutgoingLink::Finish() {
  if (std::exchange(finishing_, true)) return;
  ++pending_;
  stream_->Finish(&status_, &finish_);
}

void OutgoingLink::OnEvent(LinkEvent event, bool ok) {
  --pending_;
  if (event != LinkEvent::kWritten) return;
  writing_ = false;
  outgoing_.pop_front();
  if (!ok) outgoing_.clear();
  if (!outgoing_.empty() && !finishing_) StartWrite();
}

absl::Status OutgoingLink::status() const { return rpc::FromGrpc(status_); }

}  // namespace hlod::grpc_server
