// The profile of a run: a program's events, with the daemon's account at the end, in memory or in a file.
// Reports are made from it.
//
//   HLOD_PROFILE=profile.jsonl ./train              the whole program, into a file
//   { auto file = hlod::ProfileFile::Open("profile.jsonl"); ... }         a part of it
//   hlod::ProfileRecorder recording; ...; hlod::Profile run = recording.Finish();     in memory
//
// HLOD_PROFILE. Recording begins with the first connection and ends with the program. "%p" in the name
// becomes the number of the process. A file that cannot be written fails the connection. While a program is
// recorded, its sessions stay open until they are closed or the recording ends.
//
// THE FILE has one JSON object per line; sizes are in bytes, times in microseconds. Fields that are 0, false
// or empty are left out, so a missing field has that value.
//   {"hlod_profile": 1, "program": "train", "pid": 17, "started": "2026-01-31T12:00:00Z"}        the first
//   line
//   {"event": "close", "number": 1, "at_us": 5.25, "thread": 17, "close": 1, "cause": "item", ...}
//   {"account": 3, "daemon": "hlod 0.1.0 pid 9", "transfers": [...], "runs": [...], ...}     of session 3
//   {"end": true, "events": 1, "accounts": 1}                                                the last line
// An event is "close", "compile", "force", "transfer", "wait", "host_function", "death", "step" or "slow";
// its fields are those of the structure in hlod/observe/events.h, by name. An enumerator is its Name(), a
// shape is HLO text, an origin {"file", "line", "function"}, a status {"code", "kind", "message"}. An account
// has the fields of SessionAccount, without the `rows` of its stats, which are in `transfers`. When a
// recording begins while a session is open, the session's account has only the amounts added since then, but
// its minima, maxima and peaks are those of the whole session.
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

struct ProfileAccount {
  uint64_t session = 0;
  std::string daemon;  // "hlod 0.1.0 pid 17"
  SessionAccount account;
};

struct Profile {
  std::string program;  // The program's short name.
  int64_t pid = 0;
  std::string started;               // "2026-01-31T12:00:00Z"
  std::vector<Event> events;         // In order of their numbers.
  // One account per session, in order of their ends. A lost session does not have one.
  std::vector<ProfileAccount> accounts;
  bool complete = true;  // False when the end of the file is missing (ReadProfileOptions::allow_incomplete).
};

struct ReadProfileOptions {
  // Accepts a file whose end is missing, because the program was killed or still runs. Text after the last
  // whole line is ignored.
  bool allow_incomplete = false;
};
// Reads a file. Errors name the file, the line and the mistake: another format version, a truncated file, an
// unknown field, a value of the wrong type or out of range.
absl::StatusOr<Profile> ReadProfile(const std::string& path, const ReadProfileOptions& options = {});
// Parses the file's text; `name` names it in errors.
absl::StatusOr<Profile> ParseProfile(std::string_view text, std::string_view name,
                                     const ReadProfileOptions& options = {});
// Returns the file's text.
std::string ToJsonLines(const Profile& run);

namespace runtime {
class ProfileWriter;
}

// Records what this process does from construction until Finish() or destruction.
class ProfileRecorder {
 public:
  ProfileRecorder();
  ~ProfileRecorder();
  ProfileRecorder(const ProfileRecorder&) = delete;
  ProfileRecorder& operator=(const ProfileRecorder&) = delete;

  // Ends the recording. Waits until the commands sent before are settled, so that the accounts are complete.
  // May be called once.
  Profile Finish();

 private:
  std::unique_ptr<runtime::ProfileWriter> recorder_;
};

// Records into a file, line by line as events happen.
class ProfileFile {
 public:
  // Starts to record; overwrites the file.
  static absl::StatusOr<std::unique_ptr<ProfileFile>> Open(const std::string& path);
  ~ProfileFile();
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;

  // Writes the accounts and the last line. Returns the first error of all writes.
  absl::Status Finish();

 private:
  explicit ProfileFile(std::unique_ptr<runtime::ProfileWriter> recorder);
  std::unique_ptr<runtime::ProfileWriter> recorder_;
};

}  // namespace hlod
