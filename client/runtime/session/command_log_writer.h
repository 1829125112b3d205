// Writes the commands that a session sends into a file (proto/hlod/v1/command_log.proto), for `hloctl
// replay`: programs, shapes, handles and times, but not the contents of tensors.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/rpc/shared_memory.h"
#include "proto/hlod/v1/command_log.pb.h"

namespace hlod::runtime {

inline constexpr char kCommandLogMagic[] = "hlod command log 1\n";

// Every entry is written at once, so that the command log of a program that crashes has every command that it
// sent. The end is written with the session's goodbye, or at the program's exit. Thread-safe.
class CommandLogWriter {
 public:
  // Begins the command log of a session. The files of a process's sessions are `path`, `path`.2, `path`.3,
  // and so on. Overwrites an existing file. FAILED_PRECONDITION if another process is recording into the
  // file.
  static absl::Status Start(const void* session, const std::string& path, const v1::CommandLogHeader& header);
  // Returns true once a session of this process was recorded.
  static bool any() { return any_.load(std::memory_order_relaxed); }
  // Records a command if its session is recorded; does nothing in a forked child. If the file cannot be
  // written, prints that to stderr once and stops recording.
  static void Record(const void* session, const v1::Command& command);

  // Ends the command log; later commands are not recorded.
  void End();

 private:
  friend class EndOfCommandLog;
  friend class OpenCommandLogs;
  static std::atomic<bool> any_;
  static absl::StatusOr<std::shared_ptr<CommandLogWriter>> Open(const std::string& path,
                                                                const v1::CommandLogHeader& header);
  void Add(const v1::Command& command);
  CommandLogWriter(std::string path, rpc::Descriptor file);
  absl::Status Write(const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status WriteEntry(const v1::CommandLogEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  const pid_t process_;
  const absl::Time start_;
  absl::Mutex mu_;
  rpc::Descriptor file_ ABSL_GUARDED_BY(mu_);
  int64_t commands_ ABSL_GUARDED_BY(mu_) = 0;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

// Returns $HLOD_COMMAND_LOG, the file for the commands of this process; empty when it is not set. Defined in
// client/runtime/connection/find_daemon.cc.
std::string CommandLogPath();

// Removes the writer of a session that ends.
class EndOfCommandLog {
 public:
  explicit EndOfCommandLog(const void* session) : session_(session) {}
  ~EndOfCommandLog();

 private:
  const void* const session_;
};

}  // namespace hlod::runtime
