// Datasets of arrays in memory, in archives and in mapped files; a batch copies their rows.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "client/nn/npy.h"
#include "client/nn/tensor_file.h"
#include "client/tensor/value/throw.h"
#include "hlod/nn/data.h"
#include "hlod/ops/creation.h"

namespace hlod::data {
namespace {

constexpr const char* kDataset = "dataset";

int64_t RowBytes(const Dataset::Array& array) {
  const int64_t rows = array.shape.dims[0];
  return rows == 0 ? 0 : hlo::ByteSize(array.shape).value_or(0) / rows;
}

Dataset::Array InMemory(const std::string& name, Literal literal, std::string origin) {
  auto owned = std::make_shared<const Literal>(std::move(literal));
  return {name, owned->shape(), owned->bytes().data(), owned, std::move(origin)};
}

// Returns the rows that `indices` name. A mapped file's bools are checked here first.
Literal Rows(const Dataset::Array& array, absl::Span<const int64_t> indices, const Caller& caller) {
  Shape shape = array.shape;
  shape.dims[0] = static_cast<int64_t>(indices.size());
  Literal rows(shape);
  const auto row_bytes = static_cast<size_t>(RowBytes(array));
  std::byte* to = rows.bytes().data();
  for (const int64_t index : indices) {
    if (row_bytes > 0) std::memcpy(to, array.bytes + static_cast<size_t>(index) * row_bytes, row_bytes);
    to += row_bytes;
  }
  const auto is_bool = [](std::byte element) { return element <= std::byte{1}; };
  if (shape.type == kPred && !std::ranges::all_of(rows.bytes(), is_bool)) {
    lazy::Throw(ErrorKind::kCorrupt, absl::StrCat(array.origin, ": a bool is neither 0 nor 1"), kDataset,
                caller);
  }
  return rows;
}

}  // namespace

Dataset::Dataset(std::vector<Array> arrays, const Caller& caller) {
  if (arrays.empty()) lazy::Throw(ErrorKind::kArgument, "a dataset has at least one array", kDataset, caller);
  for (const Array& array : arrays) {
    std::string fault;
    if (array.shape.dims.empty()) {
      fault = "is a scalar: an array of examples has a first dimension";
    } else if (array.shape.dims[0] != arrays[0].shape.dims[0]) {
      fault = absl::StrCat("has ", array.shape.dims[0], " examples, and ", arrays[0].name, " has ",
                           arrays[0].shape.dims[0]);
    }
    if (!fault.empty()) {
      lazy::Throw(ErrorKind::kArgument,
                  absl::StrCat(array.origin.empty() ? "" : array.origin + ": ", array.name, " ", fault),
                  kDataset, caller);
    }
  }
  arrays_ = std::make_shared<const std::vector<Array>>(std::move(arrays));
}

Dataset Dataset::FromTensors(const Batch& tensors, Caller caller) {
  std::vector<Array> arrays;
  for (const auto& [name, tensor] : tensors) arrays.push_back(InMemory(name, tensor.ToLiteral(caller), ""));
  return Dataset(std::move(arrays), caller);
}

Dataset Dataset::FromNpz(const std::string& path, Caller caller) {
  std::vector<Array> arrays;
  for (const auto& [name, tensor] : nn::LoadNpz(path, caller)) {
    arrays.push_back(InMemory(name, tensor.ToLiteral(caller), path));
  }
  return Dataset(std::move(arrays), caller);
}

Dataset Dataset::FromNpy(const std::map<std::string, std::string>& paths, Caller caller) {
  std::vector<Array> arrays;
  for (const auto& [name, path] : paths) {
    auto file = nn::MappedFile::Open(path, caller);
    const std::string_view bytes = file->bytes();
    const absl::StatusOr<nn::NpyArray> array = nn::ParseNpyArray(bytes, bytes.size(), path);
    if (!array.ok())
      lazy::Throw(ErrorKind::kCorrupt, std::string(array.status().message()), kDataset, caller);
    if (array->header.column_major && array->shape.dims.size() > 1) {
      lazy::Throw(ErrorKind::kArgument,
                  path +
                      " is in column-major order, in which an example's elements do not lie together: save "
                      "numpy.ascontiguousarray of it",
                  kDataset, caller);
    }
    const auto* const elements = reinterpret_cast<const std::byte*>(bytes.data() + array->header.bytes);
    arrays.push_back({name, array->shape, elements, std::move(file), path});
  }
  return Dataset(std::move(arrays), caller);
}

int64_t Dataset::size() const { return arrays_->front().shape.dims[0]; }

std::vector<std::string> Dataset::names() const {
  std::vector<std::string> names;
  for (const Array& array : *arrays_) names.push_back(array.name);
  return names;
}

Batch Dataset::Get(absl::Span<const int64_t> indices, const std::optional<Device>& device,
                   Caller caller) const {
  for (const int64_t index : indices) {
    if (index < 0 || index >= size()) {
      lazy::Throw(ErrorKind::kArgument, absl::StrCat("example ", index, " is not one of ", size()), kDataset,
                  caller);
    }
  }
  Batch batch;
  for (const Array& array : *arrays_) {
    batch[array.name] = FromLiteral(Rows(array, indices, caller), device, caller);
  }
  return batch;
}

}  // namespace hlod::data
