// ZIP archives as NumPy writes and reads them: members stored or deflated, with ZIP64 sizes; no encryption,
// no several volumes (APPNOTE.TXT 6.3.9).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/nn/tensor_file.h"

namespace hlod::nn {

struct ZipMember {
  std::string name;
  bool deflated = false;
  std::string_view bytes;  // As they lie in the archive.
  uint64_t size = 0;       // What they are when inflated.
  uint32_t crc = 0;        // Of that.
};

// The members of an archive, in its order. The error says what is wrong with it; what comes from outside is
// checked before it is used, and no size is believed that the bytes cannot have.
absl::StatusOr<std::vector<ZipMember>> ReadZip(std::string_view archive);

// Reads a member from its beginning. The member's bytes outlive it.
class ZipReader {
 public:
  explicit ZipReader(const ZipMember& member);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // The next bytes: as many, or an error.
  absl::Status Read(char* to, size_t bytes);
  // After all was read: whether it was all, and what the archive's checksum says.
  absl::Status Finish();

 private:
  struct Inflater;
  const ZipMember& member_;
  uint64_t read_ = 0;
  uint32_t crc_;
  std::unique_ptr<Inflater> inflater_;  // Null for a stored member.
};

// Writes members one after another, and the directory.
class ZipWriter {
 public:
  explicit ZipWriter(NewFile& file) : file_(file) {}
  // A member whose contents are `parts`, joined.
  void Add(const std::string& name, const std::vector<std::string_view>& parts, bool deflate);
  void Finish();

 private:
  struct Entry {
    std::string name;
    bool deflated;
    uint64_t offset, stored_bytes, bytes;
    uint32_t crc;
  };
  static std::string LocalHeader(const Entry& entry);
  static std::string CentralHeader(const Entry& entry);
  NewFile& file_;
  std::vector<Entry> entries_;
};

}  // namespace hlod::nn
