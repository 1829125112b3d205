// The persistent compile cache: what the passes made of a program, in a file, for the next daemon and those
// that run beside this one.
//
// A program is found by SHA-256 over the whole module without its metadata (names of source files, lines and
// the module's name do not change what it computes), the daemon's build, the processor and its limit. A file
// holds the key in full, the optimised module without metadata, and a checksum over both: one that is cut
// off, changed or of another key is not used. Buffers are assigned and steps are made when a file is loaded.
//
// Who shares. Clients name no key and send no optimised module: the daemon computes both from the bytes of a
// program. So a session can meet another's entry only by sending the same program, and what it gets is what
// it would have got by compiling. Sharing between users of one daemon therefore tells one at most, by the
// time a compile takes, that the same program was compiled before. The folder is the daemon's user's alone:
// one that belongs to another user, or that others may enter, is refused, and so is such a file in it.
//
// Several daemons may use one folder. A file is written under another name and renamed: a reader sees all of
// it or none. When the files exceed the bound, those that were used longest ago go.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/system/cpu_limit.h"
#include "common/base/system/mutex.h"

namespace hlod::device {

// Thread-safe. No function fails: what cannot be read or written is a warning in the log, and a compile.
class CompileCache {
 public:
  struct Options {
    std::string directory;  // Made when it does not exist; the folder around it exists.
    int64_t bytes_max = int64_t{1} << 30;
    std::string build;  // Of this daemon: another one's files are not used.
    std::string cpu = DescribeCpu();  // And what limits it.
  };
  // FAILED_PRECONDITION, NOT_FOUND or PERMISSION_DENIED: why the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<CompileCache>> Open(Options options);
  ~CompileCache();
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  struct Key {
    std::string text;  // The build, the processor, the module's digest.
    std::string file;  // The name of its file: the digest of the text.
  };
  // Of a module without metadata.
  Key KeyOf(std::string_view module) const;
  // What was stored under the key.
  std::optional<std::string> Find(const Key& key);
  void Store(const Key& key, std::string_view optimised);
  // Warns that what was stored cannot be used, and why, and forgets it.
  void Reject(const Key& key, const absl::Status& why);

  const Options& options() const { return options_; }

 private:
  CompileCache(Options options, int folder) : options_(std::move(options)), folder_(folder) {}
  std::string PathOf(std::string_view file) const;
  absl::StatusOr<std::string> Read(const Key& key, int fd) const;
  absl::Status Write(const Key& key, std::string_view optimised);
  // Counts the files, and removes the least recently used ones until the bound is met.
  void Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const int folder_;  // Its descriptor: a folder that is put in its place later is not used.
  Mutex mu_;
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;               // Of the files, as far as this daemon knows.
  int64_t stores_until_count_ ABSL_GUARDED_BY(mu_) = 0;  // Other daemons store, too.
  bool warned_ ABSL_GUARDED_BY(mu_) = false;             // That files cannot be written.
};

}  // namespace hlod::device
