// hloctl graphs RUN: reports on profiles.
#include <cstdio>

#include "client/cli/commands.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "hlod/observe/graph_report.h"

namespace hlod::cli {

absl::Status ReportRun(const CommonOptions& common, const RunReportOptions& options) {
  ASSIGN_OR_RETURN(const Profile run,
                   ReadProfile(options.path, {.allow_incomplete = options.allow_incomplete}));
  const GraphReport report = MakeGraphReport(run);
  const std::string text = common.json ? ToJson(report) + "\n" : ToText(report);
  Show(text);
  return absl::OkStatus();
}

}  // namespace hlod::cli
