// One stream, from its Hello to its end: which session its messages go to.
#pragma once

#include <memory>

#include "proto/hlod/v1/session.pb.h"
#include "server/session/registry.h"
#include "server/session/session_stream.h"

namespace hlod::session {

// Called by the stream's implementation; calls come one after the other, except OnWritten.
class Connection {
 public:
  Connection(Registry& registry, Peer peer) : registry_(registry), peer_(std::move(peer)) {}

  // `stream` is the stream that this connection belongs to: it is handed to the session with the Hello.
  void OnMessage(const std::shared_ptr<SessionStream>& stream, const v1::ClientMessage& message);
  // Bytes that are not a ClientMessage.
  void OnMalformed(SessionStream& stream);
  // There was no memory to take a message in: it cannot be left out.
  void OnNoMemory(SessionStream& stream);
  // There is no room for what the session would send: it ends.
  void Refuse(SessionStream& stream, const absl::Status& status) { EndWith(stream, status); }
  void OnWritten(const SessionStream* stream);
  // The stream is gone, or the client sends no more.
  void OnClosed(const SessionStream* stream);
  // Whether its Hello opened or resumed a session.
  bool has_session() const { return session_ != nullptr; }
  // Whether there is something to tell, and nothing on its way.
  bool HasNews() const;
  // The reader has nothing else to do.
  void Flush();

 private:
  void EndWith(SessionStream& stream, const absl::Status& status);

  Registry& registry_;
  const Peer peer_;
  // Set once, by the Hello; OnWritten comes on another thread only after that.
  std::shared_ptr<Session> session_;
};

}  // namespace hlod::session
