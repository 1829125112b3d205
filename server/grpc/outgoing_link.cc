// Observes gRPC's rules for one call: one read and one write at a time, and Finish at most once.
#include "server/grpc/outgoing_link.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"
#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {
namespace {

std::shared_ptr<grpc::Channel> ChannelTo(const rpc::Endpoint& address, const PeerCredentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kPeerMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // Proxies are for the web, not for daemons of a cluster.
  std::shared_ptr<grpc::ChannelCredentials> channel = grpc::InsecureChannelCredentials();
  if (!credentials.certificate.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = credentials.authority;
    tls.pem_cert_chain = credentials.certificate;
    tls.pem_private_key = credentials.key;
    channel = grpc::SslCredentials(tls);
  }
  const bool bare = address.host.find(':') == std::string::npos;
  return grpc::CreateCustomChannel(
      absl::StrCat("dns:///", bare ? address.host : absl::StrCat("[", address.host, "]"), ":", address.port),
      channel, arguments);
}

}  // namespace

OutgoingLink::OutgoingLink(uint32_t rank, rpc::Endpoint address, const PeerCredentials& credentials,
                           grpc::CompletionQueue& queue)
    : rank_(rank), address_(std::move(address)), stub_(v1::Peer::NewStub(ChannelTo(address_, credentials))) {
  if (!credentials.token.empty()) context_.AddMetadata("authorization", "Bearer " + credentials.token);
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
