// Writes JUnit's XML and GitHub's annotations, which have different rules of escaping.
#include "client/analysis/preflight/verdict.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/analysis/check/quantity.h"
#include "common/base/text/strings.h"

namespace hlod::analysis {
namespace {

using Level = CheckResult::Level;

// Returns the line of the largest array at the peak whose line is known.
SourceLine Heaviest(const Peak& peak) {
  for (const Contributor& array : peak.largest) {
    if (!array.source.file.empty()) return array.source;
  }
  return {};
}

SourceLine Costliest(const ModuleCost& cost) {
  for (const CostContributor& row : cost.largest) {
    if (!row.source.file.empty()) return row.source;
  }
  return {};
}

// XML 1.0 cannot represent most control characters.
std::string Xml(std::string_view text) {
  std::string plain(text);
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; }, '?');
  return absl::StrReplaceAll(
      plain, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"\n", "&#10;"}});
}

std::string CommandText(std::string_view text) {
  return absl::StrReplaceAll(ToAbsl(text), {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}
std::string CommandProperty(std::string_view text) {
  return absl::StrReplaceAll(CommandText(text), {{":", "%3A"}, {",", "%2C"}});
}

// Returns the path of a file relative to `folder` when it is below it. A path that the compiler was called
// with, relative to the folder in which it ran, loses its leading "../" when the rest exists below `folder`.
std::string_view Below(std::string_view file, std::string_view folder) {
  if (file.starts_with("../")) {
    std::string_view inner = file;
    while (inner.starts_with("../")) inner.remove_prefix(3);
    std::error_code error;
    return std::filesystem::exists(std::filesystem::path(folder) / inner, error) ? inner : file;
  }
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const bool inside =
      !folder.empty() && file.starts_with(folder) && file.substr(folder.size()).starts_with('/');
  return inside ? file.substr(folder.size() + 1) : file;
}

CheckResult FitVerdict(const Target& target, ModuleReport::Fit fit, const Bracket& peak_bytes,
                       const SourceLine& at) {
  static constexpr Level kLevels[] = {Level::kPassed, Level::kPassed, Level::kError, Level::kError,
                                      Level::kError};
  return {.name = absl::StrCat("fits ", target.chip.name, ":", target.count),
          .level = kLevels[static_cast<size_t>(fit)],
          .message = absl::StrCat(ToAbsl(Name(fit)), ": ", RangeText(peak_bytes, BytesText), " of ",
                                  BytesText(target.chip.usable_bytes)),
          .at = at};
}

// Appends one result per limit. `line_of` returns the line with the largest share of a metric.
template <typename LineOf>
void AppendLimits(const Budget& budget, const std::vector<Finding>& findings, const LineOf& line_of,
                  std::vector<CheckResult>& verdicts) {
  for (const auto& [metric, limit] : budget) {
    CheckResult verdict{.name = metric};
    for (const Finding& finding : findings) {
      if (finding.metric != metric) continue;
      verdict.level = finding.over ? Level::kError : Level::kWarning;
      verdict.message = ToString(finding);
      verdict.at = line_of(metric);
    }
    verdicts.push_back(std::move(verdict));
  }
}

// Returns the line of the largest array at the peak of a run; the line that ran the program when no array's
// line is known.
SourceLine Heaviest(const RunPeak& peak) {
  for (const RunArray& array : peak.largest) {
    if (!array.line.file.empty()) return array.line;
  }
  return peak.line;
}

// Returns the line with the largest share of the metric.
SourceLine LineOf(const RunReport& report, std::string_view metric) {
  const auto of_transfers = [&](Direction direction, int64_t RunLine::*amount) {
    const RunLine* most = nullptr;
    for (const RunLine& row : report.transfers) {
      if (row.direction != direction) continue;
      if (most == nullptr || row.*amount > most->*amount) most = &row;
    }
    return most == nullptr ? SourceLine() : most->line;
  };
  const auto of_programs = [&](auto amount) {
    const RunProgram* most = nullptr;
    for (const RunProgram& program : report.programs) {
      if (most == nullptr || amount(program) > amount(*most)) most = &program;
    }
    return most == nullptr ? SourceLine() : most->line;
  };
  if (metric == "upload_bytes") return of_transfers(Direction::kHostToDevice, &RunLine::bytes);
  if (metric == "upload_calls") return of_transfers(Direction::kHostToDevice, &RunLine::calls);
  if (metric == "download_bytes") return of_transfers(Direction::kDeviceToHost, &RunLine::bytes);
  if (metric == "download_calls" || metric == "host_waits")
    return of_transfers(Direction::kDeviceToHost, &RunLine::calls);
  if (metric == "graph_breaks") return report.breaks.empty() ? SourceLine() : report.breaks[0].line;
  if (metric == "executes") return of_programs([](const RunProgram& program) { return program.runs; });
  // The program that was compiled last exceeded the limit.
  if (metric == "compiles") return report.programs.empty() ? SourceLine() : report.programs.back().line;
  if (metric == "flops" || metric == "traffic_bytes" || metric == "step_seconds") {
    return of_programs([](const RunProgram& program) {
      return static_cast<double>(program.runs) * program.report.cost.total.flops;
    });
  }
  return Heaviest(report.peak);
}

}  // namespace

std::vector<CheckResult> VerdictsOf(const ModuleReport& report) {
  std::vector<CheckResult> verdicts;
  if (report.target.has_value())
    verdicts.push_back(FitVerdict(*report.target, report.fit(), report.peak_bytes, Heaviest(report.fused)));
  const auto line_of = [&](std::string_view metric) {
    return metric == "flops" ? Costliest(report.cost) : Heaviest(report.fused);
  };
  AppendLimits(report.budget, report.findings, line_of, verdicts);
  if (verdicts.empty()) verdicts.push_back({.name = "analysis"});
  return verdicts;
}

std::vector<CheckResult> VerdictsOf(const RunReport& report, int64_t steps_wanted) {
  std::vector<CheckResult> verdicts;
  if (report.incomplete(steps_wanted)) {
    verdicts.push_back(
        {.name = "steps",
         .level = Level::kError,
         .message = absl::StrCat("stopped after ", report.steps, " steps: ", report.stopped_why),
         .at = report.stopped_at});
  }
  if (report.target.has_value())
    verdicts.push_back(FitVerdict(*report.target, report.fit(), report.peak.bytes, Heaviest(report.peak)));
  AppendLimits(
      report.budget, report.findings, [&](std::string_view metric) { return LineOf(report, metric); },
      verdicts);
  if (verdicts.empty()) verdicts.push_back({.name = "analysis"});
  return verdicts;
}

std::string ToJUnit(std::string_view suite, const std::vector<CheckResult>& verdicts) {
  const auto failures = std::count_if(verdicts.begin(), verdicts.end(), [](const CheckResult& verdict) {
    return verdict.level == Level::kError;
  });
  const std::string counts = absl::StrFormat("tests=\"%d\" failures=\"%d\"", verdicts.size(), failures);
  std::string text = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n  <testsuite name=\"%s\" %s>\n", counts,
      Xml(suite), counts);
  for (const CheckResult& verdict : verdicts) {
    absl::StrAppendFormat(&text, "    <testcase classname=\"%s\" name=\"%s\"", Xml(suite), Xml(verdict.name));
    if (!verdict.at.file.empty() && verdict.level != Level::kPassed)
      absl::StrAppendFormat(&text, " file=\"%s\" line=\"%d\"", Xml(verdict.at.file), verdict.at.line);
    switch (verdict.level) {
      case Level::kPassed: text += "/>\n"; break;
      case Level::kWarning:
        absl::StrAppendFormat(&text, "><system-out>%s</system-out></testcase>\n", Xml(verdict.message));
        break;
      case Level::kError:
        absl::StrAppendFormat(&text, "><failure message=\"%s\"/></testcase>\n", Xml(verdict.message));
        break;
    }
  }
  text += "  </testsuite>\n</testsuites>\n";
  return text;
}

std::string ToGithub(std::string_view suite, const std::vector<CheckResult>& verdicts,
                     std::string_view workspace) {
  std::string text;
  for (const CheckResult& verdict : verdicts) {
    if (verdict.level == Level::kPassed) continue;
    absl::StrAppend(&text, verdict.level == Level::kError ? "::error " : "::warning ");
    if (!verdict.at.file.empty()) {
      absl::StrAppend(&text, "file=", CommandProperty(Below(verdict.at.file, workspace)),
                      ",line=", verdict.at.line, ",");
    }
    absl::StrAppend(&text, "title=", CommandProperty(absl::StrCat("hlod: ", verdict.name)),
                    "::", CommandText(absl::StrCat(ToAbsl(suite), ": ", verdict.message)), "\n");
  }
  return text;
}

}  // namespace hlod::analysis
