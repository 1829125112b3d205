// A connection between a client and a daemon as two streams of bytes, which a world delivers a few at a
// time, cuts after any byte, and tells each end about when it likes.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "server/session/connection.h"
#include "tests/simulation/seed.h"

namespace hlod::simulation {

// One of them: messages as frames of a length and the bytes.
class ByteStream {
 public:
  void Write(const std::string& message) {
    if (cut_) return;
    const auto length = static_cast<uint32_t>(message.size());
    in_flight_.append(reinterpret_cast<const char*>(&length), sizeof(length));
    in_flight_ += message;
  }
  size_t in_flight() const { return in_flight_.size(); }
  size_t unread() const { return in_flight_.size() + arrived_.size(); }
  // Delivers up to this many bytes.
  void Deliver(size_t bytes) {
    bytes = std::min(bytes, in_flight_.size());
    arrived_.append(in_flight_, 0, bytes);
    in_flight_.erase(0, bytes);
  }
  // Loses everything that has not been delivered, and all that is written from now on.
  void Cut() {
    cut_ = true;
    in_flight_.clear();
  }
  // Returns the next message of which every byte has arrived.
  std::optional<std::string> Read() {
    uint32_t length;
    if (arrived_.size() < sizeof(length)) return std::nullopt;
    std::memcpy(&length, arrived_.data(), sizeof(length));
    if (arrived_.size() < sizeof(length) + length) return std::nullopt;
    std::string message = arrived_.substr(sizeof(length), length);
    arrived_.erase(0, sizeof(length) + length);
    return message;
  }

 private:
  std::string in_flight_, arrived_;
  bool cut_ = false;
};

// The daemon's side of a connection's stream.
struct WireStream : session::SessionStream {
  bool Write(const v1::ServerMessage& message) override {
    if (end.has_value() || cut) return false;
    down.Write(message.SerializeAsString());
    ++unconfirmed;
    return false;
  }
  void Finish(const absl::Status& status) override {
    if (!end.has_value()) end = status;
  }
  ByteStream down;
  int unconfirmed = 0;              // The number of messages whose sending the session has not been told.
  bool cut = false;                 // Nothing passes any more, in either direction.
  std::optional<absl::Status> end;  // Set when the daemon has ended the stream; it follows the messages.
};

struct Wire {
  std::shared_ptr<WireStream> stream = std::make_shared<WireStream>();
  std::unique_ptr<session::Connection> connection;  // Null once the daemon knows that it is over.
  ByteStream up;
  bool client_knows = false;  // The client has left it.

  void Cut() {
    stream->cut = true;
    up.Cut();
    stream->down.Cut();
  }

  // Tells the daemon that the connection is over, once.
  void TellDaemonOfEnd() {
    if (connection == nullptr) return;
    connection->OnClosed(stream.get());
    connection.reset();
  }

  // Delivers up to `bytes` bytes of each direction, and lets the daemon handle the messages that are
  // complete. Returns false for a message of the client that cannot be parsed.
  bool Deliver(size_t bytes, Seed& seed) {
    up.Deliver(bytes);
    while (connection != nullptr && !stream->end.has_value()) {
      const std::optional<std::string> arrived = up.Read();
      if (!arrived.has_value()) break;
      v1::ClientMessage message;
      if (!message.ParseFromString(*arrived)) return false;
      connection->OnMessage(stream, message);
    }
    stream->down.Deliver(bytes);
    if (connection == nullptr) return true;
    if (stream->unconfirmed > 0 && seed.OneIn(2)) {
      --stream->unconfirmed;
      connection->OnWritten(stream.get());
    }
    if (seed.OneIn(2)) connection->Flush();
    // The stream has ended, and both know it.
    if (stream->end.has_value() && stream->down.in_flight() == 0) TellDaemonOfEnd();
    return true;
  }
};

}  // namespace hlod::simulation
