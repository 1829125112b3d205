// Gives any bytes as a file to the readers of tensors and datasets: the answer is a value or an exception.
// Seeds are written first.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "common/hlo/elements/npy.h"
#include "hlod/nn/data.h"
#include "hlod/nn/state_dict.h"
#include "hlod/ops/creation.h"

namespace {

using namespace hlod;
namespace fs = std::filesystem;

constexpr int64_t kBytesMax = 1 << 20;  // Larger arrays take long, and are read as smaller ones are.

bool IsSmall(const Shape& shape) { return hlo::ByteSize(shape).value_or(INT64_MAX) <= kBytesMax; }

// Runs a reader that reports errors as exceptions.
template <typename Read>
void Try(Read read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void ReadAll(const nn::StateDict& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (IsSmall(tensor.shape())) Try([&] { (void)tensor.ToLiteral(); });
  }
}

void ReadTensors(const std::string& path) {
  Try([&] { ReadAll(nn::LoadSafetensors(path)); });
  Try([&] { ReadAll(nn::LoadNpz(path)); });
  Try([&] {
    const data::Dataset rows = data::Dataset::FromNpy({{"x", path}});
    if (rows.size() > 0) (void)rows.Get({{0, rows.size() - 1}}, {});
  });
  Try([&] { (void)data::Dataset::FromCsv(path); });
  Try([&] { (void)data::Dataset::FromCsv(path, {.arrays = {{"x", {"0"}, kS32}}, .header = false}); });
}

void Put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

// Writes the seeds into the last folder of the arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const fs::path folder = (*argv)[*argc - 1];
  const nn::StateDict tensors = {{"a", Full({2, 3}, 1.5)}, {"b", Full({4}, true)}};
  nn::SaveSafetensors(folder / "seed_safetensors.file", tensors);
  nn::SaveNpz(folder / "seed_stored.file", tensors);
  nn::SaveNpz(folder / "seed_deflated.file", tensors, nn::NpzCompression::kDeflated);
  Put(folder / "seed_npy.file", hlo::FormatNpy(hlo::Literal(Shape::Array(kF32, {2, 3}))));
  Put(folder / "seed_csv.file", "a,\"b \"\"c\"\"\"\n1,2\n3e5,-4\n");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path =
      fs::temp_directory_path() / ("hlod_tensors_fuzz." + std::to_string(getpid()));
  Put(path, {reinterpret_cast<const char*>(data), size});
  ReadTensors(path);
  fs::remove(path);
  return 0;
}
