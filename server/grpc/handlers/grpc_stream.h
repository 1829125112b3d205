// The daemon's side of a session's stream: messages on a gRPC call or, on the same host, in a ring.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "common/rpc/ring.h"
#include "server/grpc/call.h"
#include "server/session/registry.h"
#include "server/session/session_stream.h"

namespace hlod::grpc_server {

// Thread-safe. It outlives the call's handler if the session still refers to it.
class GrpcStream : public session::SessionStream {
 public:
  GrpcStream(session::Registry& registry, std::shared_ptr<Call> call)
      : registry_(registry), call_(std::move(call)) {}
  // Makes messages on the call end with their checksums. Must be called before the first message is written.
  void AddChecksums() { checksums_ = true; }
  // Writes to the ring from the message after the next one on. `broken` is called when the ring is broken; it
  // must not write.
  void UseRing(rpc::RingPlace place, std::function<void(const absl::Status&)> broken);
  // Must be called before the ring's memory is unmapped: no more is written to it.
  void DropRing();

  bool Write(const v1::ServerMessage& message) override;
  void Finish(const absl::Status& status) override;
  bool uses_ring() const override { return uses_ring_; }

 private:
  // Returns true when the message is in the ring; false when it must go on the call.
  absl::StatusOr<bool> WriteToRing(const v1::ServerMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the use of a ring that is broken.
  void OnBroken(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the bytes of a message on the call; with `ring`, the next one comes in the ring.
  grpc::ByteBuffer Encode(const v1::ServerMessage& message, bool ring) const;

  session::Registry& registry_;
  const std::shared_ptr<Call> call_;
  bool checksums_ = false;
  std::atomic<bool> uses_ring_{false};
  Mutex mu_;
  std::unique_ptr<rpc::RingWriter> ring_ ABSL_GUARDED_BY(mu_);  // Null without a ring.
  std::function<void(const absl::Status&)> broken_ ABSL_GUARDED_BY(mu_);
  bool in_ring_ ABSL_GUARDED_BY(mu_) = false;  // True when the next message comes in the ring.
  std::string bytes_ ABSL_GUARDED_BY(mu_);     // Memory for a message that is being written to the ring.
};

}  // namespace hlod::grpc_server
