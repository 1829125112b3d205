// Shared by the formats of weight files: a file in memory, a tensor whose bytes are read when they are asked
// for, and a file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn {

// A file in memory, mapped as long as anything refers to it.
class MappedFile {
 public:
  // Maps a file. Throws an Error such as "No such file or directory: <path>".
  static std::shared_ptr<const MappedFile> Open(const std::string& path, const Caller& caller);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Returns a tensor on the host whose elements `load` returns when they are first read.
Tensor FileTensor(const Shape& shape, std::function<absl::StatusOr<Literal>()> load, const Caller& caller);

// Returns a tensor's elements; the ledger has the read under the cause save.
std::shared_ptr<const Literal> ReadToSave(const Tensor& tensor, const Caller& caller);

// A file that is written beside `path` and takes its place at Commit(). Without a Commit() nothing of it is
// left. Its functions throw when the file cannot be written.
class NewFile {
 public:
  NewFile(const std::string& path, const Caller& caller);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void Write(const void* data, size_t bytes);
  void Write(std::string_view bytes) { Write(bytes.data(), bytes.size()); }
  // Overwrites bytes that were written at `offset`; the next Write() goes to the end.
  void Rewrite(uint64_t offset, std::string_view bytes);
  uint64_t size() const { return size_; }
  void Commit();

 private:
  [[noreturn]] void Fail();
  const std::string path_, unfinished_;
  const Caller caller_;
  std::FILE* file_;
  uint64_t size_ = 0;
};

}  // namespace hlod::nn
