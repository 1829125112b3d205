// A pipe whose messages come through a ring in shared memory while both sides have it, and through another
// pipe otherwise (session.proto, THE RING).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "client/runtime/connection/pipe.h"
#include "common/rpc/ring.h"
#include "common/rpc/ring_use.h"
#include "common/rpc/shared_memory.h"

namespace hlod::runtime {

// A thread that polls waits in the ring, and looks after the stream now and then: when the ring says that a
// message comes there, while a message is being written there, and every tenth of a second, for its end.
class RingPipe : public Pipe {
 public:
  // Takes the ring that the Welcome on `stream` offers, if it can, with the first message after it or, for
  // RingUse::kOn, with a later one.
  RingPipe(std::shared_ptr<Pipe> stream, rpc::RingUse use);

  bool StartWrite(MessageParts message) override;
  PipeEvent Poll(absl::Time deadline) override;
  bool checksums() const override { return stream_->checksums(); }
  void FinishWrites() override { stream_->FinishWrites(); }
  void Cancel() override;

 private:
  // Both directions of a ring. They are used by different threads.
  struct Ring {
    explicit Ring(rpc::SharedMemory shared)
        : memory(std::move(shared)), pair(memory.bytes()), writer(pair.to_daemon), reader(pair.to_client) {}
    const rpc::SharedMemory memory;
    const rpc::RingPair pair;
    rpc::RingWriter writer;
    rpc::RingReader reader;
  };

  // The writing side. Returns true when the message is in the ring.
  bool WriteToRing(Ring& ring, const MessageParts& message);
  // Takes the ring if it is time to. Returns true if it did.
  bool TakeRing();

  // The polling side. Returns an event of the stream, and follows the daemon to the ring.
  PipeEvent PollStream(absl::Time deadline);
  // Returns the next message of the ring; kNothing if it has none, and when the daemon goes to the stream.
  PipeEvent ReadRing(Ring& ring);
  // Looks whether the stream has an event, and returns it unless it must wait for what is still in the ring.
  PipeEvent LookAtStream();
  // Returns the event that was kept when the ring was left or is empty.
  PipeEvent TakeHeld();
  PipeEvent Break(const absl::Status& status);

  const std::shared_ptr<Pipe> stream_;
  const rpc::RingUse use_;
  // Set once, before the daemon hears of it.
  std::unique_ptr<Ring> ring_;
  std::atomic<Ring*> taken_{nullptr};

  // Used by the writing side.
  int written_ = 0;          // The number of messages since the Welcome.
  bool tried_ = false;       // The offer was taken, or could not be.
  bool write_ring_ = false;  // The next message goes into the ring.

  std::atomic<bool> greeted_{false};         // offer_ is set.
  std::atomic<bool> stream_writing_{false};  // A message is being written to the stream.
  std::atomic<bool> look_{false};            // The stream has an event, or soon will.
  std::atomic<bool> broken_{false};          // The writing side has found the ring broken.

  // Used by the polling side.
  v1::Ring offer_;                 // Constant once greeted_.
  bool read_ring_ = false;         // The daemon's next message comes in the ring.
  std::optional<PipeEvent> held_;  // An event of the stream that came before its turn.
  absl::Time looked_ = absl::InfinitePast();
  absl::Status why_;  // The reason if this side ended the stream, otherwise OK.
  std::string bytes_;
};

}  // namespace hlod::runtime
