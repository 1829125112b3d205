// A run: what a program did, as its events with the daemon's account at the end, in memory or in a file that
// reports are made from.
//
//   HLOD_RUN=run.jsonl ./train              the whole program, into a file
//   { auto file = hlod::RunFile::Open("run.jsonl"); ... }         a part of it
//   hlod::RunRecording recording; ...; hlod::RunLog run = recording.Finish();     in memory
//
// HLOD_RUN. Recording begins with the first connection and ends with the program. "%p" in the name becomes
// the number of the process. A file that cannot be written fails the connection. While a program is recorded,
// its sessions stay open until they are closed or the recording ends.
//
// THE FILE is JSON, one object a line; sizes in bytes, times in microseconds. What is 0, false or empty is
// left out, so a field that is missing has that value.
//   {"hlod_run": 1, "program": "train", "pid": 17, "started": "2026-01-31T12:00:00Z"}        the first line
//   {"event": "close", "number": 1, "at_us": 5.25, "thread": 17, "close": 1, "cause": "item", ...}
//   {"account": 3, "daemon": "hlod 0.1.0 pid 9", "transfers": [...], "runs": [...], ...}     of session 3
//   {"end": true, "events": 1, "accounts": 1}                                                the last line
// An event is "close", "compile", "force", "transfer", "wait", "host_function", "death", "step" or "slow";
// its fields are those of the structure in hlod/observe/events.h, by name. An enumerator is its Name(), a
// shape is HLO text, an origin {"file", "line", "function"}, a status {"code", "kind", "message"}. An account
// has the fields of SessionAccount; of its stats all but `rows`, which `transfers` has. When a recording
// began while a session was open, its account is what was added since; minimum, maximum and peak are then of
// the whole session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlod/observe/account.h"
#include "hlod/observe/events.h"

namespace hlod {

struct RunAccount {
  uint64_t session = 0;
  std::string daemon;  // "hlod 0.1.0 pid 17"
  SessionAccount account;
};

struct RunLog {
  std::string program;  // Its short name.
  int64_t pid = 0;
  std::string started;               // "2026-01-31T12:00:00Z"
  std::vector<Event> events;         // In order.
  std::vector<RunAccount> accounts;  // Of the sessions, as they ended. A session that was lost has none.
  bool complete = true;              // False when the end of the file is missing, which ReadRun was to allow.
};

struct ReadRunOptions {
  // Takes a file without its end: of a program that was killed or still runs. What follows the last whole
  // line is left out.
  bool allow_incomplete = false;
};
// Errors name the file, the line and what is wrong there: a file of another version, cut in half, an unknown
// field, a value of another type or out of range.
absl::StatusOr<RunLog> ReadRun(const std::string& path, const ReadRunOptions& options = {});
// From the file's text; `name` names it in errors.
absl::StatusOr<RunLog> ParseRun(std::string_view text, std::string_view name,
                                const ReadRunOptions& options = {});
// The file's text.
std::string ToJsonLines(const RunLog& run);

namespace internal {
class RunRecorder;
}

// Records what this process does from construction until Finish() or destruction.
class RunRecording {
 public:
  RunRecording();
  ~RunRecording();
  RunRecording(const RunRecording&) = delete;
  RunRecording& operator=(const RunRecording&) = delete;

  // Waits until what was sent before is settled, so that the accounts are whole. To be called once.
  RunLog Finish();

 private:
  std::unique_ptr<internal::RunRecorder> recorder_;
};

// The same into a file, line by line as it happens.
class RunFile {
 public:
  // Overwrites the file.
  static absl::StatusOr<std::unique_ptr<RunFile>> Open(const std::string& path);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // Writes the accounts and the last line. The first error of writing, also of the lines before.
  absl::Status Finish();

 private:
  explicit RunFile(std::unique_ptr<internal::RunRecorder> recorder);
  std::unique_ptr<internal::RunRecorder> recorder_;
};

}  // namespace hlod
