// ZIP archives as NumPy writes and reads them: members stored or deflated, with ZIP64 sizes; without
// encryption, in one volume (APPNOTE.TXT 6.3.9).
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
  std::string_view bytes;  // The bytes as stored in the archive.
  uint64_t size = 0;       // The bytes when inflated.
  uint32_t crc = 0;        // The CRC-32 when inflated.
};

// Returns the members of an archive, in its order. The error says what is wrong with the archive. Numbers in
// it are checked before they are used, and a size that the bytes cannot have is an error.
absl::StatusOr<std::vector<ZipMember>> ReadZip(std::string_view archive);

// Reads a member from its beginning. The member and its bytes must outlive it.
class ZipReader {
 public:
  explicit ZipReader(const ZipMember& member);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // Reads the next `bytes` bytes; fails when there are fewer.
  absl::Status Read(char* to, size_t bytes);
  // Must be called after the last Read(). Fails if bytes are left, or if the checksum is not that of the
  // archive.
  absl::Status Finish();

 private:
  struct Inflater;
  const ZipMember& member_;
  uint64_t read_ = 0;
  uint32_t crc_;
  std::unique_ptr<Inflater> inflater_;  // Null for a stored member.
};

// Writes members one after another, and at Finish() the directory.
class ZipWriter {
 public:
  explicit ZipWriter(NewFile& file) : file_(file) {}
  // Adds a member whose contents are `parts`, joined.
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
