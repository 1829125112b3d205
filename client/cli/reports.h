// hloctl replay and hloctl report.
#pragma once

#include <string>

#include "client/cli/commands.h"

namespace hlod::cli {

// The data that replaces the contents of tensors, which a command log does not have.
enum class ReplayData { kZeros, kRandom, kPlaceholder };
struct ReplayOptions {
  std::string log;
  ReplayData data = ReplayData::kZeros;
  bool allow_incomplete = false;  // Accept an incomplete command log.
};
// Repeats the commands of a recorded session and prints its account. Returns an error when a command fails.
absl::Status Replay(const CommonOptions& common, const ReplayOptions& options);

struct ReportOptions {
  std::string run;                // The path of a profile.
  std::string output, trace;      // Files for the page and the trace; empty: none.
  std::string log;                // A command log of the same run, for the cost of its programs; empty: none.
  std::string target, chips;      // As in CheckOptions.
  bool allow_incomplete = false;  // Accept an incomplete profile.
};
// Writes the run as a page (client/report/page/report.h) and as a trace (client/report/page/trace.h).
absl::Status Report(const CommonOptions& common, const ReportOptions& options);

}  // namespace hlod::cli
