// One message to another daemon: a call of Carrier.Carry, driven by a completion queue.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/hlod/v1/carry.pb.h"
#include "server/grpc/launches/carry_frame.h"

namespace hlod::grpc_server {

// Used on the queue's thread, except Cancel. It must exist until OnEvent has returned true. gRPC uses the
// context, the stub and the response until the last event, so the stream is destroyed before them.
class OutgoingCarry {
 public:
  enum class Event { kStarted, kWritten, kAnswered, kFinished };
  // An operation of the queue; its tag.
  struct Operation {
    Event event;
    OutgoingCarry* call;
  };
  using Done = std::function<void(const absl::Status&)>;

  // `first` names the message, whose bytes are `spans`, one after the other.
  OutgoingCarry(const std::shared_ptr<grpc::Channel>& channel, const std::string& token, v1::CarryFrame first,
                std::vector<absl::Span<const std::byte>> spans, Done done);
  void Start(grpc::CompletionQueue& queue);
  // May be called from any thread as long as the object exists; the call then ends soon.
  void Cancel() { context_.TryCancel(); }
  // Returns true for the last event, once `done` was called.
  bool OnEvent(Event event, bool ok);

 private:
  void WriteNext();
  // Returns the next `wanted` bytes.
  Pieces TakeNext(size_t wanted);
  void Finish();

  v1::CarryFrame frame_;
  const std::vector<absl::Span<const std::byte>> spans_;
  const Done done_;
  size_t left_ = 0, span_ = 0, offset_ = 0;  // The bytes to write, and where they begin.
  bool named_ = false;                       // The first frame has been sent.
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  Operation start_{Event::kStarted, this}, write_{Event::kWritten, this}, answer_{Event::kAnswered, this},
      finish_{Event::kFinished, this};
};

}  // namespace hlod::grpc_server
