// hloctl report: writes a profile as a page, as a trace, as JSON.
#include <cstdio>
#include <utility>

#include "client/analysis/preflight/command_log.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "client/cli/reports.h"
#include "client/report/page/report.h"
#include "client/report/page/trace.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/text/printable.h"
#include "common/hlo/proto/codec.h"

namespace hlod::cli {
namespace {

// Returns the costs of a command log's programs. A program that cannot be read is left out: the report shows
// no operations for it.
absl::StatusOr<std::map<std::string, analysis::Cost>> CostsOf(const std::string& path) {
  std::map<std::string, analysis::Cost> costs;
  if (path.empty()) return costs;
  ASSIGN_OR_RETURN(const analysis::CommandLog log, analysis::ReadCommandLog(path, /*allow_incomplete=*/true));
  for (const auto& [digest, bytes] : analysis::ProgramsOf(log)) {
    const absl::StatusOr<std::unique_ptr<Module>> module = hlo::FromSerialized(bytes);
    if (module.ok()) costs[digest] = analysis::CostOf(**module).total;
  }
  return costs;
}

}  // namespace

absl::Status Report(const CommonOptions& common, const ReportOptions& options) {
  report::ReportOptions how;
  if (!options.target.empty()) {
    ASSIGN_OR_RETURN(const std::vector<analysis::Chip> chips, analysis::KnownChips(options.chips));
    ASSIGN_OR_RETURN(how.target, analysis::ParseTarget(options.target, chips));
  }
  ASSIGN_OR_RETURN(const Profile run,
                   ReadProfile(options.run, {.allow_incomplete = options.allow_incomplete}));
  ASSIGN_OR_RETURN(how.costs, CostsOf(options.log));
  const report::Memory memory = report::MemoryOf(run);
  const report::Json report = report::MakeReport(run, memory, how);
  if (!options.output.empty()) RETURN_IF_ERROR(WriteFile(options.output, report::MakePage(report)));
  if (!options.trace.empty())
    RETURN_IF_ERROR(WriteFile(options.trace, Dump(report::ToJson(report::TraceOf(run, memory))) + "\n"));
  if (common.json) {
    Show(Dump(report) + "\n");
    return absl::OkStatus();
  }
  const report::Json& totals = report["totals"];
  std::printf(
      "%s: %lld steps, %lld executes, %lld compiles, %lld bytes to the device, %lld to the host, peak %lld\n",
      Printable(run.program).c_str(), report["run"]["steps"].get<long long>(),
      totals["executes"].get<long long>(), totals["compiles"].get<long long>(),
      totals["host_to_device"]["bytes"].get<long long>(), totals["device_to_host"]["bytes"].get<long long>(),
      totals["peak_bytes"].get<long long>());
  for (const std::string* path : {&options.output, &options.trace}) {
    if (!path->empty()) std::printf("written: %s\n", path->c_str());
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
