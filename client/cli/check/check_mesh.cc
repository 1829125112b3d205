// Calls the partitioner, and reports as a sentence what it cannot do.
#include "client/cli/check/check_mesh.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/analysis/mesh/axes.h"
#include "client/cli/print/analysis_json.h"
#include "client/partition/partition.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"

namespace hlod::cli {

bool HasShardings(const Module& module) {
  if (module.config.frontend_attributes.contains("xla.sdy.meshes")) return true;
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Notes* const notes = computation.notes(node);
      if (notes != nullptr && !notes->sharding.empty()) return true;
    }
  }
  return false;
}

absl::StatusOr<std::string> ProgramOf(const CheckOptions& options, const Module& module) {
  const StablehloOptions& stablehlo = options.stablehlo;
  // Sizes that were chosen here are in the module only.
  if (!stablehlo.sizes.empty() || !stablehlo.values.empty() || !stablehlo.entry.empty())
    return hlo::Serialize(module);
  return ReadFile(options.module);
}

absl::StatusOr<analysis::MeshReport> ReportOn(const partition::Partitioned& parts,
                                              const std::optional<analysis::Target>& target,
                                              const analysis::Budget& budget) {
  RETURN_IF_ERROR(hlo::Verify(*parts.module));
  ASSIGN_OR_RETURN(analysis::MeshReport report,
                   analysis::CheckMesh(*parts.module, parts.annotated.get(), parts.mesh, target, budget));
  report.partitioned_by =
      absl::StrCat(parts.partitioner == "shardy" ? "Shardy" : "GSPMD", " of jaxlib ", parts.jaxlib);
  if (!parts.has_shardings)
    report.notes.push_back("the module has no shardings: every device computes all of it");
  return report;
}

namespace {

Json AxisNames(const std::vector<size_t>& axes, const hlo::Mesh& mesh) {
  Json names = Json::array();
  for (const size_t axis : axes) names.push_back(analysis::AxisName(mesh, axis));
  return names;
}

Json NetworkJson(const analysis::MeshReport& report, const analysis::Network& network) {
  Json rows = Json::array();
  for (const analysis::NetworkRow& row : report.network_use.rows) {
    rows.push_back({{"kind", hlo::Name(row.opcode)},
                    {"axes", AxisNames(row.axes, report.mesh)},
                    {"group_size", row.group_size},
                    {"times", row.runs},
                    {"bytes", row.bytes},
                    {"us", row.seconds * 1e6},
                    {"source", ToString(row.source)}});
  }
  return {{"shape", network.shape},
          {"domains", network.domains},
          {"bytes", report.network_use.bytes},
          {"us", report.network_use.seconds * 1e6},
          {"step_seconds", ToJson(StepSecondsOf(report))},
          {"rows", std::move(rows)}};
}

}  // namespace

absl::StatusOr<MeshCheck> TryToPartition(const CheckOptions& options, const Module& module,
                                         const std::optional<analysis::Target>& target,
                                         const analysis::Budget& budget) {
  MeshCheck check;
  const bool has_mesh = !options.mesh.empty();
  const bool several = target.has_value() && target->count > 1;
  partition::Request request{.partitioner = options.partitioner, .annotated = true, .shard = options.shard};
  if (has_mesh) {
    const absl::StatusOr<hlo::Mesh> mesh = partition::ParseMesh(options.mesh);
    if (!mesh.ok()) return UsageError(FromAbsl(mesh.status().message()));
    request.mesh = *mesh;
    const int64_t devices = hlo::DeviceCount(*mesh);
    if (target.has_value() && target->count != devices)
      return UsageError(absl::StrCat("--mesh ", options.mesh, " has ", devices, " devices; --target ",
                                     options.target, " has ", target->count, " chips."));
  }
  if (analysis::IsPartitioned(module)) {
    if (!options.shard.empty())
      return UsageError("--shard applies to a module that is not partitioned yet; this one is.");
    if (!has_mesh) return check;
    ASSIGN_OR_RETURN(check.report, analysis::CheckMesh(module, nullptr, request.mesh, target, budget));
    return check;
  }
  if (!has_mesh && !options.shard.empty() && !HasShardings(module))
    return UsageError(
        "--shard names axes, and the module has none: --mesh gives them, as in data=4,model=2.");
  if (!has_mesh && !several && options.shard.empty()) return check;
  if (!has_mesh && !HasShardings(module)) {
    check.undivided_because = "the module has no shardings; --mesh takes it as the same on every chip";
    return check;
  }
  ASSIGN_OR_RETURN(request.program, ProgramOf(options, module));
  const absl::StatusOr<partition::Partitioned> parts = partition::Partition(request);
  if (absl::IsInvalidArgument(parts.status()) && (has_mesh || !options.shard.empty())) return parts.status();
  if (!parts.ok()) {
    check.undivided_because = FromAbsl(parts.status().message());
    return check;
  }
  if (several && parts->devices != target->count) {
    check.undivided_because =
        absl::StrCat("the module is divided over ", parts->devices, " devices (",
                     partition::MeshText(parts->mesh), "); --mesh says how ", target->count, " are arranged");
    return check;
  }
  ASSIGN_OR_RETURN(check.report, ReportOn(*parts, target, budget));
  return check;
}

void AddMesh(const analysis::MeshReport& report, Json& json) {
  const hlo::Mesh& mesh = report.mesh;
  Json axes = Json::array(), collectives = Json::array(), replicated = Json::array();
  for (const auto& [name, size] : mesh.axes) axes.push_back({{"name", name}, {"size", size}});
  for (const analysis::CollectiveUse& use : report.collectives) {
    collectives.push_back({{"kind", hlo::Name(use.opcode)},
                           {"name", use.name},
                           {"op_name", use.op_name},
                           {"source", ToString(use.source)},
                           {"axes", AxisNames(use.axes, mesh)},
                           {"group_size", use.group_size},
                           {"groups", use.group_count},
                           {"bytes", use.bytes()},
                           {"times", use.times}});
  }
  for (const analysis::Replicated& row : report.replicated) {
    replicated.push_back({{"kind", Name(row.array.kind)},
                          {"name", row.array.name},
                          {"op_name", row.array.op_name},
                          {"source", ToString(row.array.source)},
                          {"shape", hlo::ToStringNoLayout(row.array.shape)},
                          {"sharding", row.division},
                          {"axis", analysis::AxisName(mesh, row.axis)},
                          {"saved_bytes", row.saved}});
  }
  if (report.network.has_value()) json["network"] = NetworkJson(report, *report.network);
  json["mesh"] = std::move(axes);
  json["partitioned_by"] = report.partitioned_by;
  json["notes"] = report.notes;
  json["collectives"] = std::move(collectives);
  json["replicated"] = std::move(replicated);
  json["text"] = ToText(report);
}

}  // namespace hlod::cli
