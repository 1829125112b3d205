// A client of the simulation: makes commands, sends them, resumes its session, and remembers what each must
// come to. It is a second implementation of the client's half of the protocol, and runs on no thread of its
// own.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/device/buffers/uploads.h"
#include "tests/simulation/model.h"
#include "tests/simulation/wire.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::simulation {

// The world that a client lives in, and what it may do there.
struct Traits {
  size_t elements = 4;        // The elements of this world's arrays.
  int64_t in_flight_max = 0;  // The daemon's limit; a client stays below it.
  bool cancels = false, frees = true, donates = true, placeholders = true, streams = true;
  size_t devices = 1;
  int64_t staging_bytes_max = 0;  // The daemon's limit.
};

class Client : public session::CommandsOf {
 public:
  Client(std::string name, const Traits& traits, uint64_t seed)
      : name_(std::move(name)), traits_(traits), seed_(seed) {}

  // Returns the connection on which it says hello. REQUIRES: it has none.
  std::shared_ptr<Wire> Connect(session::Registry& registry);
  // Leaves its connection, if it has one.
  void Leave();
  // Makes a command and puts it into the outbox; sometimes sends the outbox, an acknowledgement or a cancel.
  void Act(bool may_make);
  // Sends commands that were not sent on this connection.
  void SendOutbox();
  // Moves some bytes of an upload or a download beside the stream.
  void MoveBulk(session::Registry& registry);
  // Ends its transfers beside the stream: their daemon is gone.
  void DropTransfers() {
    for (auto& [command, bulk] : uploads_) bulk.part = bulk.stale = std::nullopt;
  }
  // Handles the messages that have arrived, and the end of the stream.
  void Receive();
  // Begins a new session, in which nothing was done.
  void Forget();

  const std::string& name() const { return name_; }
  const std::shared_ptr<Wire>& wire() const { return wire_; }
  bool welcomed() const { return welcomed_; }
  bool has_session() const { return session_ != 0; }
  // True when all commands are answered, and all bytes moved.
  bool idle() const;
  // The first thing that was wrong; empty if nothing was.
  const std::string& wrong() const { return wrong_; }
  uint64_t session() const { return session_; }
  const std::string& secret() const { return secret_; }
  // Judges all outcomes. REQUIRES: idle().
  void JudgeAll();
  // The account that the daemon must have of this session. REQUIRES: idle().
  struct Counts {
    int64_t uploaded = 0, read = 0, executes = 0;
    int64_t buffer_bytes = 0;  // The bytes of all buffers that have handles.
  };
  Counts counts() const;
  // The commands whose cancellation the daemon was asked for in this client's sessions, and those of them
  // that were cancelled.
  int64_t cancels() const { return cancels_; }
  int64_t cancelled() const { return cancelled_; }
  void FreeAll();

 private:
  uint64_t Add(v1::Command message, Command expected);
  NodePtr NewNode(std::vector<float> value);
  NodePtr AnyNode();
  // Returns a buffer, often the one that was read last: its readers may still wait.
  NodePtr NodeToDonate();
  void MakeUpload();
  void MakePlaceholder();
  void MakeFill();
  void MakeProgram();
  void MakeExecute(bool donate);
  void MakeAbstract();
  void MakeDownload();
  // Reads or frees a buffer that was donated by an earlier command.
  void UseDonated(const NodePtr& node);
  void MakeCopy();
  void MakeFree();
  void Handle(const v1::ServerMessage& message);
  void HandleReply(const v1::Reply& reply);
  void Settle(uint64_t command, const v1::Reply* reply);
  void OnEnd(const absl::Status& status);
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = absl::StrCat(name_, ": ", what);
  }

  const std::string name_;
  const Traits traits_;
  Seed seed_;
  std::string wrong_;

  std::shared_ptr<Wire> wire_;
  bool welcomed_ = false;
  uint64_t session_ = 0, epoch_ = 0;
  std::string secret_;

  uint64_t last_command_ = 0, last_handle_ = 0;
  std::map<uint64_t, v1::Command> unsettled_;  // Sent again on the next connection.
  uint64_t sent_through_ = 0;                  // On this connection.
  uint64_t settled_through_ = 0;               // Told on this connection.
  uint64_t acknowledged_through_ = 0;
  std::set<uint64_t> unacknowledged_;  // Commands that are settled and not acknowledged.
  std::set<uint64_t> told_;            // Named in `settled` on this connection.
  std::set<uint64_t> replied_;         // Replied to on this connection.
  std::map<uint64_t, Command> expected_;
  std::vector<NodePtr> live_;
  NodePtr recent_;  // A buffer that an execute or a download has just read.
  std::vector<std::shared_ptr<Program>> programs_;
  // Uploads whose bytes go beside the stream, with these bytes; and downloads.
  struct Bulk {
    std::string bytes;
    std::optional<device::UploadPart> part, stale;  // The transfer, and an earlier one.
    size_t moved = 0;
  };
  std::map<uint64_t, Bulk> uploads_;
  std::set<uint64_t> downloads_;             // Announced, and not fetched.
  std::map<uint64_t, std::string> replies_;  // Every reply, which must be the same each time it comes.
  int64_t read_bytes_ = 0;
  int64_t cancels_ = 0, cancelled_ = 0;
};

}  // namespace hlod::simulation
