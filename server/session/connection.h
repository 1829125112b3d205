// One stream, from its Hello to its end. Determines the session that its messages go to.
#pragma once

#include <memory>

#include "proto/hlod/v1/session.pb.h"
#include "server/session/registry.h"
#include "server/session/session_stream.h"

namespace hlod::session {

// Called by the stream's implementation: OnMessage, one call at a time; once that has made has_session()
// true, the others on any thread.
class Connection {
 public:
  Connection(Registry& registry, Peer peer) : registry_(registry), peer_(std::move(peer)) {}

  // `stream` is the stream of this connection; it is passed to the session with the Hello.
  void OnMessage(const std::shared_ptr<SessionStream>& stream, const v1::ClientMessage& message);
  // Called for bytes that are not a ClientMessage.
  void OnMalformed(SessionStream& stream);
  // Called when there was no memory to receive a message, which cannot be skipped.
  void OnNoMemory(SessionStream& stream);
  // Ends the session because there is no memory for its answers.
  void Refuse(SessionStream& stream, const absl::Status& status) { EndWith(stream, status); }
  void OnWritten(const SessionStream* stream);
  // Called when the stream has ended, or the client will not send more.
  void OnClosed(const SessionStream* stream);
  // Returns true when the Hello has opened or resumed a session.
  bool has_session() const { return session_ != nullptr; }
  // Returns the ring that the client has fetched, once; null when there is none.
  std::unique_ptr<RingMemory> TakeRing();
  // Returns true when there is a message to send and none is being written.
  bool HasNews() const;
  // Called when the reader has no other work.
  void Flush();

 private:
  void EndWith(SessionStream& stream, const absl::Status& status);

  Registry& registry_;
  const Peer peer_;
  // Set once, by the Hello. OnWritten is called on another thread only after that.
  std::shared_ptr<Session> session_;
};

}  // namespace hlod::session
