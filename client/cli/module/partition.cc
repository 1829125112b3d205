// hloctl partition: writes the module that each device of a mesh runs.
#include "client/partition/partition.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/check/quantity.h"
#include "client/analysis/mesh/arrays.h"
#include "client/cli/commands.h"
#include "client/cli/module/write_module.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod::cli {
namespace {

using analysis::ShardedArray;

// The number of arrays that --explain lists.
constexpr size_t kArraysShown = 30;

Json AxesJson(const hlo::Mesh& mesh) {
  Json axes = Json::array();
  for (const auto& [name, size] : mesh.axes) axes.push_back({{"name", name}, {"size", size}});
  return axes;
}

Json ArrayJson(const ShardedArray& array, const hlo::Mesh& mesh) {
  return {{"name", array.name},
          {"op_name", array.op_name},
          {"source", ToString(array.source)},
          {"shape", hlo::ToStringNoLayout(array.shape)},
          {"sharding", ToString(array.spec, mesh)},
          {"bytes", array.bytes},
          {"part_bytes", array.part_bytes}};
}

std::string ArraysText(const std::vector<ShardedArray>& arrays, const hlo::Mesh& mesh) {
  std::string text = "largest arrays: of a device, the whole, the axes that divide each dimension\n";
  for (size_t i = 0; i < std::min(arrays.size(), kArraysShown); ++i) {
    const ShardedArray& array = arrays[i];
    absl::StrAppendFormat(
        &text, "  %12s of %12s  %s %s  %s", analysis::BytesText(static_cast<double>(array.part_bytes)),
        analysis::BytesText(static_cast<double>(array.bytes)), hlo::ToStringNoLayout(array.shape),
        ToString(array.spec, mesh), array.op_name.empty() ? array.name : array.op_name);
    if (!array.source.file.empty()) absl::StrAppend(&text, " (", ToString(array.source), ")");
    text += "\n";
  }
  return text;
}

// Returns the sharding of each parameter, or result, on a line.
std::string ShardingsText(std::string_view what, const std::vector<std::string>& shardings) {
  std::string text;
  for (size_t i = 0; i < shardings.size(); ++i)
    absl::StrAppendFormat(&text, "  %s %d  %s\n", what, i, shardings[i]);
  return text;
}

}  // namespace

absl::Status Partition(const CommonOptions& common, const PartitionOptions& options) {
  partition::Request request{.devices = options.devices,
                             .partitioner = options.partitioner,
                             .annotated = options.explain,
                             .seconds = options.seconds};
  if (!options.mesh.empty()) {
    absl::StatusOr<hlo::Mesh> mesh = partition::ParseMesh(options.mesh);
    if (!mesh.ok()) return UsageError(FromAbsl(mesh.status().message()));
    request.mesh = *std::move(mesh);
  }
  if (!options.output.empty()) RETURN_IF_ERROR(CheckExtension(options.output));
  ASSIGN_OR_RETURN(request.program, ReadFile(options.module));
  ASSIGN_OR_RETURN(const partition::Partitioned parts, partition::Partition(request));
  if (!options.output.empty())
    RETURN_IF_ERROR(WriteModule(*parts.module, options.module, options.output).status());
  std::vector<ShardedArray> arrays;
  if (parts.annotated != nullptr) arrays = analysis::ShardedArraysOf(*parts.annotated, parts.mesh);
  if (common.json) {
    Json list = Json::array();
    for (const ShardedArray& array : arrays) list.push_back(ArrayJson(array, parts.mesh));
    Show(Dump({{"devices", parts.devices},
               {"mesh", AxesJson(parts.mesh)},
               {"partitioner", parts.partitioner},
               {"jaxlib", parts.jaxlib},
               {"cached", parts.cached},
               {"has_shardings", parts.has_shardings},
               {"parameters", parts.parameter_shardings},
               {"results", parts.result_shardings},
               {"file", options.output},
               {"arrays", std::move(list)}}) +
         "\n");
    return absl::OkStatus();
  }
  std::string text = absl::StrFormat("%s: %s, %d devices, by %s of jaxlib %s%s\n", parts.module->name(),
                                     partition::MeshText(parts.mesh), parts.devices,
                                     parts.partitioner == "shardy" ? "Shardy" : "GSPMD", parts.jaxlib,
                                     parts.has_shardings ? "" : "; it has no shardings: each computes all");
  text += ShardingsText("parameter", parts.parameter_shardings);
  text += ShardingsText("result", parts.result_shardings);
  if (options.explain) text += ArraysText(arrays, parts.mesh);
  Show(text);
  return absl::OkStatus();
}

}  // namespace hlod::cli
