// hloctl report: writes a profile as a page, as a trace, as JSON.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

// Returns the things to mend first as lines; the page has the others.
std::string FirstText(const report::Json& rows) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const report::Json& row = rows[i];
    const auto word = [&row](const char* name) { return Printable(row[name].get<std::string>()); };
    const std::string line = word("origin");
    absl::StrAppendFormat(&text, "%s%s at %s, %d times, up to %s (%.1f%%): %s. %s\n",
                          i == 0 ? "do first: " : "then:     ", word("kind"),
                          line.empty() ? "an unknown line" : line, row["times"].get<int64_t>(),
                          Seconds(row["saves_us"].get<int64_t>()), 100 * row["share"].get<double>(),
                          word("what"), word("remedy"));
  }
  return text;
}

}  // namespace

absl::Status Report(const CommonOptions& common, const ReportOptions& options) {
  if (!options.chips.empty() && options.target.empty())
    return UsageError("--chips only defines chips: --target must name one.");
  report::ReportOptions how;
  if (!options.target.empty()) {
    ASSIGN_OR_RETURN(const std::vector<analysis::Chip> chips, analysis::KnownChips(options.chips));
    absl::StatusOr<analysis::Target> read = analysis::ParseTarget(options.target, chips);
    if (!read.ok()) return UsageError(absl::StrCat("--", read.status().message()));
    how.target = *std::move(read);
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
  Show(FirstText(report["first"]));
  for (const std::string* path : {&options.output, &options.trace}) {
    if (!path->empty()) std::printf("written: %s\n", path->c_str());
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
