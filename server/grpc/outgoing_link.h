// A link that this daemon makes to another one: one call, driven by a completion queue.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/hlod/v1/peer.grpc.pb.h"
#include "server/grpc/peer_links.h"

namespace hlod::grpc_server {

// Used with the lock of its PeerLinks. It must exist until idle() is true.
class OutgoingLink {
 public:
  // An operation of the queue; its tag.
  struct Operation {
    LinkEvent event;
    OutgoingLink* link;
  };

  // Calls the daemon at `address` over a channel to it for the link with `rank`.
  OutgoingLink(uint32_t rank, rpc::Endpoint address, const std::shared_ptr<grpc::Channel>& channel,
               const std::string& token, grpc::CompletionQueue& queue);

  uint32_t rank() const { return rank_; }
  const rpc::Endpoint& address() const { return address_; }
  fabric::LinkId id = 0;  // 0 until the other side can be reached, and after the end.

  void Write(v1::PeerMessage message);
  // Ends the call; nothing more of it is reported.
  void Cancel();
  // The message that a read brought.
  const v1::PeerMessage& message() const { return message_; }
  void Read();
  void Finish();
  // Takes note of the end of an operation, and starts the next write.
  void OnEvent(LinkEvent event, bool ok);
  bool idle() const { return pending_ == 0; }
  // The end of the call, once kFinished was reported.
  absl::Status status() const;
  // The other side, once it has answered.
  std::shared_ptr<const grpc::AuthContext> peer() const { return context_.auth_context(); }
  bool checked = false;   // The other side's certificate is known to be right.
  int64_t called_us = 0;  // The time at which it was called.
  bool started = false;   // The other side was reached, or the call has failed.
  bool slow = false;      // The log has said that it has not been reached.

 private:
  void StartWrite();

  const uint32_t rank_;
  const rpc::Endpoint address_;
  std::unique_ptr<v1::Peer::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::PeerMessage, v1::PeerMessage>> stream_;
  Operation start_{LinkEvent::kStarted, this}, read_{LinkEvent::kRead, this},
      write_{LinkEvent::kWritten, this}, finish_{LinkEvent::kFinished, this};
  v1::PeerMessage message_;
  std::deque<v1::PeerMessage> outgoing_;
  bool writing_ = false, finishing_ = false;
  int pending_ = 0;
  grpc::Status status_;
};

}  // namespace hlod::grpc_server
