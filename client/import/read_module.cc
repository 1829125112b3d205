// Telling the forms of a module apart.
#include <algorithm>

#include "client/import/import.h"
#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/base/status.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/replica_groups.h"
#include "common/hlo/text/shardy.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace {

using ModuleOr = absl::StatusOr<std::unique_ptr<hlo::Module>>;

// A proto starts with a field tag and is rarely valid UTF-8 text for long; text starts with a word. The first
// control byte decides.
bool LooksLikeText(std::string_view bytes) {
  return std::none_of(
      bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 256)),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
}

ModuleOr Converted(const absl::StatusOr<stablehlo::Program>& program, const ReadOptions& options) {
  if (!program.ok()) return program.status();
  return stablehlo::ToHlo(*program, options.sizes);
}

ModuleOr Read(std::string_view bytes, const ReadOptions& options) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return InvalidArgument(
        "It is empty; an HLO module (a serialized HloModuleProto or HloProto, or text) or a StableHLO "
        "program "
        "(text, or an artifact) is needed.");
  }
  if (stablehlo::IsBytecode(bytes)) return Converted(stablehlo::ParseBytecode(bytes), options);
  if (!LooksLikeText(bytes)) return hlo::FromSerialized(bytes, {.for_execution = options.for_execution});
  if (stablehlo::IsStablehloText(bytes)) return Converted(stablehlo::ParseText(bytes), options);
  return hlo::ParseModule(bytes);
}

// How many partitions run the program. One when they differ in annotations alone; and as many as its mesh has
// devices when it does not say: the HLO that JAX lowers to names its mesh, and no number.
int64_t PartitionsOf(const hlo::Module& module) {
  if (!hlo::DependsOnPartition(module)) return 1;
  const auto stated = module.config.frontend_attributes.find("xla.sdy.meshes");
  if (module.config.partition_count > 1 || stated == module.config.frontend_attributes.end())
    return module.config.partition_count;
  int64_t most = 1;
  for (const auto& [name, mesh] : hlo::ParseMeshes(stated->second)) {
    std::optional<int64_t> devices = 1;
    for (const auto& [axis, size] : mesh.axes) devices = CheckedMultiply(devices.value_or(-1), size);
    most = std::max(most, devices.value_or(1));
  }
  return most;
}

}  // namespace

ModuleOr ReadModule(std::string_view bytes, const ReadOptions& options) {
  ModuleOr module = Read(bytes, options);
  if (module.ok() && options.for_execution) (*module)->config.partition_count = PartitionsOf(**module);
  return module.ok() ? std::move(module) : AsProgramError(module.status());
}

}  // namespace hlod
