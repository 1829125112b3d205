// The thread that reads the messages of a client from its ring. It knows no gRPC.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"
#include "common/rpc/ring.h"

namespace hlod::session {

// Receives what the thread finds. Called on that thread, one call at a time. A function must not destroy the
// RingThread.
class RingEvents {
 public:
  virtual ~RingEvents() = default;
  // A message came. `bytes` are this process's own.
  virtual void OnRingMessage(const std::string& bytes) = 0;
  // The client's next message comes on the stream. The ring is not read until Read().
  virtual void OnElsewhere() = 0;
  // All messages were handled, and the thread is about to wait.
  virtual void OnRingPause() = 0;
  // The ring is broken, or a handler failed. It is not read any more.
  virtual void OnRingBroken(const absl::Status& status) = 0;
  // The ring is empty, and the client will write nothing more (Close).
  virtual void OnRingEnd() = 0;
};

// The reader and its thread, which sleeps while there is no message. Its functions may be called on any
// thread.
class RingThread {
 public:
  // Starts the thread. RESOURCE_EXHAUSTED when the system refuses one. `events` must outlive it.
  static absl::StatusOr<std::unique_ptr<RingThread>> Start(rpc::RingPlace place, RingEvents& events);
  // Waits for the end of the current call.
  ~RingThread();

  // Reads from now on.
  void Read();
  // The client sends nothing more: OnRingEnd follows when the ring is empty, unless it is not being read.
  void Close();
  // Makes the thread call OnRingBroken: the other direction is broken.
  void Break(const absl::Status& status);

 private:
  RingThread(rpc::RingPlace place, RingEvents& events) : reader_(place), events_(events) {}
  void Run();
  // Reads until the client goes elsewhere, or an end.
  void ReadMessages();
  // Handles the next record. Returns false when the ring is not to be read any more for now.
  bool ReadOne(std::string& message);
  void Stop();

  rpc::RingReader reader_;
  RingEvents& events_;
  std::atomic<bool> stopping_{false}, closing_{false}, broken_{false};
  Mutex mu_;
  CondVar changed_;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status why_ ABSL_GUARDED_BY(mu_);  // The reason of Break.
  std::thread thread_;
};

}  // namespace hlod::session
