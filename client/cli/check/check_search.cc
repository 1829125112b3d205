// Candidates are pairs of a mesh and a strategy.
#include "client/cli/check/check_search.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/check/quantity.h"
#include "client/analysis/mesh/mesh_check.h"
#include "client/cli/check/check_mesh.h"
#include "client/cli/print/analysis_json.h"
#include "client/cli/print/table.h"
#include "client/partition/partition.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::cli {
namespace {

using analysis::ModuleReport;

constexpr std::string_view kOwn = "as written";

struct Candidate {
  hlo::Mesh mesh;
  std::string strategy;  // Empty: the module's own shardings.
};

struct Tried {
  Candidate candidate;
  std::optional<analysis::MeshReport> report;
  std::string error;

  ModuleReport::Fit fit() const { return report->device.fit(); }
  double peak() const { return report->device.peak_bytes.low; }
  analysis::Bracket step() const {
    return report->network.has_value() ? StepSecondsOf(*report) : report->device.step_seconds;
  }
  // A step is between all of the network's time beside the computation and none of it.
  double seconds() const { return (step().low + step().high) / 2; }
};

// Returns the meshes over the axes of `own`, or over data and model: all sizes of the first and the last axis
// whose product is the number of chips, and `own` where its middle axes divide, too.
std::vector<hlo::Mesh> MeshesOf(const hlo::Mesh& own, int64_t chips) {
  hlo::Mesh axes = own;
  const bool named =
      std::all_of(own.axes.begin(), own.axes.end(), [](const auto& axis) { return !axis.first.empty(); });
  if (own.axes.empty() || !named) axes.axes = {{"data", 1}, {"model", 1}};
  std::vector<hlo::Mesh> meshes;
  for (int64_t first = chips; first >= 1; --first) {
    if (chips % first != 0 || (axes.axes.size() == 1 && first != chips)) continue;
    hlo::Mesh& mesh = meshes.emplace_back(axes);
    for (auto& [name, size] : mesh.axes) size = 1;
    mesh.axes.back().second = chips / first;
    mesh.axes.front().second = first;
  }
  int64_t devices = 1, within = 1;
  for (size_t i = 0; i < own.axes.size(); ++i) {
    devices *= own.axes[i].second;
    if (i > 0 && i + 1 < own.axes.size()) within *= own.axes[i].second;
  }
  if (named && within > 1 && devices == chips) meshes.push_back(own);
  return meshes;
}

// Returns the strategies that are worth trying on this mesh. `data` and `fsdp` divide along both axes
// together, so that one of the meshes is enough for them; the combinations need two axes of more than one
// chip.
std::vector<std::string> StrategiesOn(const hlo::Mesh& mesh, bool annotated, bool only_mesh) {
  const int64_t first = mesh.axes.front().second, last = mesh.axes.back().second;
  const bool two = mesh.axes.size() > 1 && first > 1 && last > 1;
  std::vector<std::string> strategies;
  if (annotated) strategies.emplace_back();
  if (only_mesh || last == 1 || mesh.axes.size() == 1) {
    strategies.emplace_back("data");
    strategies.emplace_back("fsdp");
  }
  if (mesh.axes.size() > 1 && last > 1) strategies.emplace_back("tensor");
  if (two) {
    for (const char* name : {"fsdp+tensor", "fsdp+sequence", "fsdp+tensor+sequence"})
      strategies.emplace_back(name);
  }
  return strategies;
}

std::string_view StrategyText(const Candidate& candidate) {
  return candidate.strategy.empty() ? kOwn : std::string_view(candidate.strategy);
}

void BestFirst(std::vector<Tried>& tried) {
  std::stable_sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) {
    if (a.report.has_value() != b.report.has_value()) return a.report.has_value();
    if (!a.report.has_value()) return false;
    const bool a_fits = a.fit() == ModuleReport::Fit::kFits, b_fits = b.fit() == ModuleReport::Fit::kFits;
    if (a_fits != b_fits) return a_fits;
    return a_fits ? a.seconds() < b.seconds() : a.peak() < b.peak();
  });
}

Json TriedJson(const Tried& row) {
  Json mesh = Json::array();
  for (const auto& [name, size] : row.candidate.mesh.axes) mesh.push_back({{"name", name}, {"size", size}});
  Json json = {{"mesh", std::move(mesh)}, {"shardings", StrategyText(row.candidate)}};
  if (!row.report.has_value()) {
    json["error"] = row.error;
    return json;
  }
  json["peak_bytes"] = row.peak();
  json["network_bytes"] = row.report->network_use.bytes;
  json["network_us"] = row.report->network_use.seconds * 1e6;
  json["step_seconds"] = ToJson(row.step());
  json["fit"] = Name(row.fit());
  return json;
}

void Print(const std::vector<Tried>& tried) {
  Table table({"mesh", "shardings", "peak", "network", "step", "verdict"});
  for (const Tried& row : tried) {
    const std::string mesh = partition::MeshText(row.candidate.mesh);
    if (!row.report.has_value()) {
      table.Add({mesh, std::string(StrategyText(row.candidate)), "-", "-", "-", row.error});
      continue;
    }
    table.Add({mesh, std::string(StrategyText(row.candidate)), analysis::BytesText(row.peak()),
               analysis::SecondsText(row.report->network_use.seconds),
               RangeText(row.step(), analysis::SecondsText), std::string(Name(row.fit()))});
  }
  table.Print();
}

}  // namespace

absl::StatusOr<CheckOutcome> SearchShardings(const CommonOptions& common, const CheckOptions& options,
                                             const hlo::Module& module, const analysis::Target& target) {
  if (target.count == 1) return UsageError("--search divides a module among chips; --target has one.");
  if (analysis::IsPartitioned(module))
    return UsageError("--search needs a module that is not partitioned yet.");
  partition::Request request{.partitioner = options.partitioner, .annotated = true};
  ASSIGN_OR_RETURN(request.program, ProgramOf(options, module));
  hlo::Mesh own;
  const bool annotated = HasShardings(module);
  if (annotated) {
    ASSIGN_OR_RETURN(const partition::Partitioned parts, partition::Partition(request));
    own = parts.mesh;
  }
  std::vector<hlo::Mesh> meshes = MeshesOf(own, target.count);
  if (!options.mesh.empty()) {
    const absl::StatusOr<hlo::Mesh> mesh = partition::ParseMesh(options.mesh);
    if (!mesh.ok()) return UsageError(FromAbsl(mesh.status().message()));
    if (hlo::DeviceCount(*mesh) != target.count)
      return UsageError(absl::StrCat("--mesh ", options.mesh, " has ", hlo::DeviceCount(*mesh),
                                     " devices; --target ", options.target, " has ", target.count,
                                     " chips."));
    meshes = {*mesh};
  }
  std::vector<Tried> tried;
  for (const hlo::Mesh& mesh : meshes) {
    for (std::string& strategy : StrategiesOn(mesh, annotated, !options.mesh.empty())) {
      Tried& row = tried.emplace_back(Tried{.candidate = {mesh, std::move(strategy)}});
      request.mesh = mesh;
      request.strategy = row.candidate.strategy;
      const absl::StatusOr<partition::Partitioned> parts = partition::Partition(request);
      if (!parts.ok() && !absl::IsInvalidArgument(parts.status())) return parts.status();
      if (!parts.ok()) {
        row.error = FromAbsl(parts.status().message());
        continue;
      }
      ASSIGN_OR_RETURN(row.report, ReportOn(*parts, target, {}));
    }
  }
  BestFirst(tried);
  const bool fits = tried[0].report.has_value() && tried[0].fit() == ModuleReport::Fit::kFits;
  if (common.json) {
    Json rows = Json::array();
    for (const Tried& row : tried) rows.push_back(TriedJson(row));
    Show(Dump({{"module", module.name()}, {"target", ToJson(target)}, {"search", std::move(rows)}}) + "\n");
  } else {
    Print(tried);
  }
  return fits ? CheckOutcome::kPassed : CheckOutcome::kFailed;
}

}  // namespace hlod::cli
