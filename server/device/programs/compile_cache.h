// The persistent compile cache: stores the optimised module of a program in a file, for later daemons and for
// others that run at the same time.
//
// A program is found by SHA-256 over the whole module without its metadata (names of source files, lines and
// the module's name do not change what it computes), the daemon's build, the processor and its limit. A file
// holds the full key, the optimised module without metadata, and a checksum over both: a file that is
// truncated, changed or of another key is not used. Buffers are assigned and steps are made when a file is
// loaded.
//
// Sharing. Clients neither name a key nor send an optimised module: the daemon computes both from the bytes
// of a program. A session can therefore hit another's entry only by sending the same program, and it gets the
// result that compiling would have given. Sharing between the users of one daemon reveals at most, by the
// time that a compile takes, that the same program was compiled before. The folder belongs to the daemon's
// user alone: a folder or a file that belongs to another user, or that others may enter, is refused.
//
// Several daemons may use one folder. A file is written under another name and renamed, so a reader sees all
// of it or nothing. When the files exceed the bound, the least recently used ones are removed.
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

// Thread-safe. The functions do not fail: a file that cannot be read or written causes a warning in the log,
// and a compile.
class CompileCache {
 public:
  struct Options {
    std::string directory;  // Created if it does not exist; its parent folder must exist.
    int64_t bytes_max = int64_t{1} << 30;
    std::string build;                // The build of this daemon: files of other builds are not used.
    std::string cpu = DescribeCpu();  // The processor and what limits it.
  };
  // FAILED_PRECONDITION, NOT_FOUND or PERMISSION_DENIED if the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<CompileCache>> Open(Options options);
  ~CompileCache();
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  struct Key {
    std::string text;  // The build, the processor and the module's digest.
    std::string file;  // The name of its file: the digest of `text`.
  };
  // Returns the key of a module without metadata.
  Key KeyOf(std::string_view module) const;
  // Returns the optimised module that was stored under the key, or nullopt.
  std::optional<std::string> Find(const Key& key);
  void Store(const Key& key, std::string_view optimised);
  // Logs a warning that says why a stored module cannot be used, and removes it.
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
  const int folder_;  // A descriptor, so that a folder that later replaces it is not used.
  Mutex mu_;
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // The bytes of all files, as far as this daemon knows.
  // The number of stores until the files are counted again, because other daemons store, too.
  int64_t stores_until_count_ ABSL_GUARDED_BY(mu_) = 0;
  bool warned_ ABSL_GUARDED_BY(mu_) = false;  // True once the log has a warning that files cannot be written.
};

}  // namespace hlod::device
