// hloctl check: prints what a module costs and needs without running it, or what a program needs.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "client/analysis/check/module_check.h"
#include "client/analysis/preflight/verdict.h"
#include "client/cli/check/check_mesh.h"
#include "client/cli/check/check_program.h"
#include "client/cli/check/check_search.h"
#include "client/cli/commands.h"
#include "client/cli/module/load_module.h"
#include "client/cli/print/analysis_json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::cli {
namespace {

using analysis::ModuleReport;

Json CostJson(const analysis::Cost& cost) {
  return {{"flops", cost.flops}, {"transcendentals", cost.transcendentals}, {"bytes", cost.bytes}};
}

Json CostlyJson(const analysis::CostContributor& row) {
  return {{"name", row.name},
          {"op_name", row.op_name},
          {"source", ToString(row.source)},
          {"shape", hlo::ToStringNoLayout(row.shape)},
          {"flops", row.flops}};
}

Json ArrayOfPeakJson(const analysis::Contributor& array) {
  return {{"kind", Name(array.kind)},   {"name", array.name},
          {"op_name", array.op_name},   {"source", ToString(array.source)},
          {"last_use", array.last_use}, {"shape", hlo::ToStringNoLayout(array.shape)},
          {"bytes", array.bytes}};
}

Json PeakJson(const analysis::Peak& peak) {
  Json largest = Json::array();
  for (const analysis::Contributor& array : peak.largest) largest.push_back(ArrayOfPeakJson(array));
  return {{"total_bytes", peak.total()},         {"argument_bytes", peak.arguments},
          {"result_bytes", peak.results},        {"alias_bytes", peak.aliased},
          {"temporary_bytes", peak.temporaries}, {"at", peak.at},
          {"largest", std::move(largest)}};
}

Json ErrorBarJson(const analysis::ErrorBar& bar) {
  return {{"part", bar.part}, {"programs", bar.programs}, {"judge", bar.judge}};
}

Json ReportJson(const ModuleReport& report) {
  Json costliest = Json::array();
  for (const analysis::CostContributor& row : report.cost.largest) costliest.push_back(CostlyJson(row));
  Json json = {{"module", report.name},
               {"instructions", report.instructions},
               {"cost", CostJson(report.cost.total)},
               {"cost_once", CostJson(report.cost.once)},
               {"costliest", std::move(costliest)},
               {"unknown_loops", report.cost.unknown_loops},
               {"unknown_calls", report.cost.unknown_calls},
               {"fused", PeakJson(report.fused)},
               {"unfused", PeakJson(report.unfused)},
               {"peak_bytes", ToJson(report.peak_bytes)},
               {"error_bar", ErrorBarJson(ErrorBarOf(report.compiler))},
               {"traffic_bytes", ToJson(report.traffic)},
               {"fit", Name(report.fit())},
               {"findings", ToJson(report.findings)},
               {"passed", report.passed()},
               {"undivided_because", report.undivided_because},
               {"text", ToText(report)}};
  if (report.target.has_value()) {
    json["target"] = ToJson(*report.target);
    json["step_seconds"] = ToJson(report.step_seconds);
    if (report.target->count > 1) json["likely_bytes"] = ToJson(report.likely_bytes);
  }
  return json;
}

// Checks combinations of options that the parser of the command line does not check.
absl::Status CheckOptionsFit(const CheckOptions& options) {
  if (!options.chips.empty() && options.target.empty())
    return UsageError("--chips only defines chips: --target must name one.");
  if (options.update_budget && options.budget.empty())
    return UsageError("--update-budget writes the file that --budget names, but --budget is missing.");
  const int given = !options.program.empty() + !options.module.empty() + !options.preflight.empty();
  if (given != 1) {
    return UsageError(
        "check takes one of a module, the --preflight logs of a run and, after --, a program with its "
        "arguments.");
  }
  if (options.program.empty() && (options.steps > 0 || options.devices > 0 || !options.stand_in.empty()))
    return UsageError("--steps, --devices and --stand-in apply to a program, given after --.");
  if (options.search && (options.target.empty() || options.module.empty()))
    return UsageError("--search tries shardings of a module on several chips: it needs both and --target.");
  if (options.search && !options.shard.empty())
    return UsageError("--shard fixes what --search tries; give one of them.");
  if (options.module.empty() && !options.shard.empty())
    return UsageError("--shard applies to a module; a program divides its arrays itself.");
  if (!options.program.empty() && !options.mesh.empty())
    return UsageError("--mesh applies to a module; a program divides its arrays itself.");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckOutcome> Check(const CommonOptions& common, const CheckOptions& options) {
  RETURN_IF_ERROR(CheckOptionsFit(options));
  std::optional<analysis::Target> target;
  if (!options.target.empty()) {
    ASSIGN_OR_RETURN(const std::vector<analysis::Chip> chips, analysis::KnownChips(options.chips));
    absl::StatusOr<analysis::Target> read = analysis::ParseTarget(options.target, chips);
    if (!read.ok()) return UsageError(absl::StrCat("--", read.status().message()));
    target = *std::move(read);
  }
  analysis::Budget budget;
  if (!options.budget.empty() && !options.update_budget) {
    ASSIGN_OR_RETURN(budget, analysis::ReadBudget(options.budget));
    // Said before a program runs for nothing.
    if (budget.contains("step_seconds") && !target.has_value())
      RETURN_IF_ERROR(analysis::Compare({{"step_seconds", 0}}, {}).status());
  }
  if (!options.program.empty()) return CheckProgram(common, options, target, budget);
  if (!options.preflight.empty()) return CheckLogs(common, options, target, budget);
  ASSIGN_OR_RETURN(const ReadOptions read, ParseReadOptions(options.stablehlo));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(options.module, read));
  RETURN_IF_ERROR(hlo::Verify(*module));
  if (options.search) return SearchShardings(common, options, *module, *target);
  ASSIGN_OR_RETURN(const MeshCheck mesh, TryToPartition(options, *module, target, budget));
  ModuleReport report;
  if (mesh.report.has_value()) {
    report = mesh.report->device;
  } else {
    ASSIGN_OR_RETURN(report, analysis::CheckModule(*module, target, budget));
    report.undivided_because = mesh.undivided_because;
  }
  if (options.update_budget) RETURN_IF_ERROR(analysis::UpdateBudget(options.budget, ValuesOf(report)));
  if (common.json) {
    Json json = ReportJson(report);
    if (mesh.report.has_value()) AddMesh(*mesh.report, json);
    Show(Dump(json) + "\n");
  } else {
    Show(mesh.report.has_value() ? ToText(*mesh.report) : ToText(report));
  }
  const std::vector<analysis::CheckResult> verdicts = VerdictsOf(report);
  if (!options.junit.empty()) RETURN_IF_ERROR(WriteFile(options.junit, ToJUnit(report.name, verdicts)));
  // The GitHub runner reads stderr, too; on stdout the annotations would make the output invalid JSON.
  if (options.github) ShowError(ToGithub(report.name, verdicts, options.workspace));
  if (report.unknown()) return CheckOutcome::kUnknown;
  return report.passed() ? CheckOutcome::kPassed : CheckOutcome::kFailed;
}

}  // namespace hlod::cli
