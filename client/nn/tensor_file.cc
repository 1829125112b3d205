// Reads and writes files by system calls; errors become exceptions that name the file.
#include "client/nn/tensor_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/trace/close.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/throw.h"

namespace hlod::nn {
namespace {

// Throws the error of a file. A path that does not exist or may not be opened is a wrong argument; a full
// disk is not.
[[noreturn]] void ThrowFileError(int error, const std::string& path, const char* operation,
                                 const Caller& caller) {
  const absl::Status status = absl::ErrnoToStatus(error, path);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EROFS:
    case ENAMETOOLONG: throw Error(WithKind(status, ErrorKind::kArgument), operation, caller);
    default: throw Error(status, operation, caller);
  }
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::string& path, const Caller& caller) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    const int error = errno;
    if (file >= 0) close(file);
    ThrowFileError(error, path, "load", caller);
  }
  std::shared_ptr<MappedFile> mapped_file(new MappedFile);
  mapped_file->size_ = static_cast<size_t>(status.st_size);
  void* const mapped =
      mapped_file->size_ == 0 ? nullptr : mmap(nullptr, mapped_file->size_, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) ThrowFileError(errno, path, "load", caller);
  mapped_file->data_ = static_cast<const char*>(mapped);
  return mapped_file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

Tensor FileTensor(const Shape& shape, std::function<absl::StatusOr<Literal>()> load, const Caller& caller) {
  auto value = lazy::MakeRef<lazy::Value>(shape.type, shape.dims, lazy::Place{}, caller);
  const auto checked = [load = std::move(load)]() -> absl::StatusOr<Literal> {
    absl::StatusOr<Literal> literal = load();
    if (!literal.ok() || literal->shape().type != kPred) return literal;
    for (const std::byte element : literal->bytes()) {
      if (element > std::byte{1}) {
        return MakeError(ErrorKind::kCorrupt, absl::StrCat("a bool in the file is ",
                                                           static_cast<int>(element), ", neither 0 nor 1"));
      }
    }
    return literal;
  };
  value->Become(lazy::Value::File{checked});
  return lazy::MakeTensor(std::move(value));
}

std::shared_ptr<const Literal> ReadToSave(const Tensor& tensor, const Caller& caller) {
  return lazy::Read(lazy::ShownValue(*tensor.impl(), "save", caller), TraceCause::kSave, Cause::kSave, "save",
                    caller);
}

NewFile::NewFile(const std::string& path, const Caller& caller)
    : path_(path),
      unfinished_(absl::StrCat(path, ".unfinished")),
      caller_(caller),
      file_(std::fopen(unfinished_.c_str(), "wbe")) {
  if (file_ == nullptr) Fail();
}

NewFile::~NewFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  unlink(unfinished_.c_str());
}

void NewFile::Fail() { ThrowFileError(errno, path_, "save", caller_); }

void NewFile::Write(const void* data, size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) Fail();
  size_ += bytes;
}

void NewFile::Rewrite(uint64_t offset, std::string_view bytes) {
  if (fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0 ||
      std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() || fseeko(file_, 0, SEEK_END) != 0) {
    Fail();
  }
}

void NewFile::Commit() {
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) Fail();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || rename(unfinished_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(unfinished_.c_str());
    errno = error;
    Fail();
  }
}

}  // namespace hlod::nn
