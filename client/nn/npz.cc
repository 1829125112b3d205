// NumPy's archives of arrays: ZIP archives of .npy files.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/nn/npy.h"
#include "client/nn/tensor_file.h"
#include "client/nn/zip.h"
#include "common/base/errors/status.h"
#include "hlod/nn/state_dict.h"

namespace hlod::nn {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr size_t kHeaderBytesMax = 64 << 10;  // A header is a line about one array.

// Returns the header of a member, reading only as much of the member as that takes.
absl::StatusOr<NpyArray> ReadHeader(const ZipMember& member) {
  const size_t most = std::min<uint64_t>(member.size, kHeaderBytesMax);
  std::string bytes;
  ZipReader reader(member);
  for (size_t wanted = std::min<size_t>(most, 128);;) {
    const size_t before = bytes.size();
    bytes.resize(wanted);
    RETURN_IF_ERROR(reader.Read(bytes.data() + before, wanted - before));
    bool truncated = false;
    absl::StatusOr<NpyArray> array = ParseNpyArray(bytes, member.size, member.name, &truncated);
    if (array.ok() || !truncated || wanted == most) return array;
    wanted = std::min(most, 2 * wanted);
  }
}

absl::StatusOr<Literal> ReadElements(const ZipMember& member, const NpyArray& array) {
  ZipReader reader(member);
  std::string header(array.header.bytes, '\0');
  RETURN_IF_ERROR(reader.Read(header.data(), header.size()));
  Literal literal(array.shape);
  if (array.header.column_major) {
    std::string elements(literal.bytes().size(), '\0');
    RETURN_IF_ERROR(reader.Read(elements.data(), elements.size()));
    hlo::FromColumnMajor(elements, literal);
  } else {
    RETURN_IF_ERROR(reader.Read(reinterpret_cast<char*>(literal.bytes().data()), literal.bytes().size()));
  }
  RETURN_IF_ERROR(reader.Finish());
  return literal;
}

absl::Status AsCorrupt(const std::string& path, const absl::Status& status) {
  return MakeError(ErrorKind::kCorrupt,
                   absl::StrCat(path, " is not a .npz file of tensors: ", status.message()));
}

}  // namespace

StateDict LoadNpz(const std::string& path, Caller caller) {
  const std::shared_ptr<const MappedFile> file = MappedFile::Open(path, caller);
  const auto check = [&](const absl::Status& status) {
    if (!status.ok()) throw Error(AsCorrupt(path, status), "load", caller);
  };
  absl::StatusOr<std::vector<ZipMember>> members = ReadZip(file->bytes());
  check(members.status());
  StateDict tensors;
  for (const ZipMember& member : *members) {
    if (!member.name.ends_with(kSuffix))
      check(InvalidArgument("its member %s is not a .npy file", member.name));
    const absl::StatusOr<NpyArray> array = ReadHeader(member);
    check(array.status());
    const auto load = [file, path, member, array = *array]() -> absl::StatusOr<Literal> {
      absl::StatusOr<Literal> literal = ReadElements(member, array);
      if (!literal.ok()) return AsCorrupt(path, literal.status());
      return literal;
    };
    tensors[member.name.substr(0, member.name.size() - kSuffix.size())] =
        FileTensor(array->shape, load, caller);
  }
  return tensors;
}

void SaveNpz(const std::string& path, const StateDict& tensors, NpzCompression compression,
             const ProgressCallback& progress, Caller caller) {
  Progress at;
  at.tensors_total = static_cast<int64_t>(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    std::string why;
    if (NpyDtypeOf(tensor.dtype()).empty())
      why = absl::StrCat("the format has no name for ", std::string(hlo::Name(tensor.dtype())));
    if (name.size() > 0xffff - kSuffix.size())
      why = absl::StrCat("the name has ", name.size(), " bytes, and the format takes 65531");
    if (!why.empty()) {
      throw Error(MakeError(ErrorKind::kArgument, absl::StrCat(name.substr(0, 100), ": ", why)), "save",
                  caller);
    }
    at.bytes_total += hlo::ByteSize(tensor.shape()).value_or(0);
  }
  NewFile file(path, caller);
  ZipWriter archive(file);
  for (const auto& [name, tensor] : tensors) {
    const std::shared_ptr<const Literal> literal = ReadToSave(tensor, caller);
    const std::string header = hlo::FormatNpyHeader(NpyDtypeOf(tensor.dtype()), literal->shape().dims);
    const std::string_view elements(reinterpret_cast<const char*>(literal->bytes().data()),
                                    literal->bytes().size());
    archive.Add(absl::StrCat(name, std::string(kSuffix)), {header, elements},
                compression == NpzCompression::kDeflated);
    ++at.tensors;
    at.bytes += static_cast<int64_t>(elements.size());
    at.name = name;
    if (progress) progress(at);
  }
  archive.Finish();
  file.Commit();
}

}  // namespace hlod::nn
