// Two writers, each with its own rules of escaping.
#include "client/analysis/verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "client/analysis/quantity.h"
#include "common/base/strings.h"

namespace hlod::analysis {
namespace {

using Level = Verdict::Level;

// Of the arrays that make up the peak the largest with a known line.
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

// XML 1.0 has no way to write most control characters.
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

std::string_view Below(std::string_view file, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const bool inside =
      !folder.empty() && file.starts_with(folder) && file.substr(folder.size()).starts_with('/');
  return inside ? file.substr(folder.size() + 1) : file;
}

Verdict FitVerdict(const ModuleReport& report) {
  const Target& target = *report.target;
  static constexpr Level kLevels[] = {Level::kPassed, Level::kPassed, Level::kWarning, Level::kError};
  return {
      .name = absl::StrCat("fits ", target.chip.name, ":", target.count),
      .level = kLevels[static_cast<size_t>(report.fit())],
      .message = absl::StrCat(ToAbsl(Name(report.fit())), ": ", BytesText(report.peak_bytes.low), " to ",
                              BytesText(report.peak_bytes.high), " of ", BytesText(target.chip.usable_bytes)),
      .at = Heaviest(report.fused)};
}

}  // namespace

std::vector<Verdict> VerdictsOf(const ModuleReport& report) {
  std::vector<Verdict> verdicts;
  if (report.target.has_value()) verdicts.push_back(FitVerdict(report));
  for (const auto& [metric, limit] : report.budget) {
    Verdict verdict{.name = metric};
    for (const Finding& finding : report.findings) {
      if (finding.metric != metric) continue;
      verdict.level = finding.over ? Level::kError : Level::kWarning;
      verdict.message = ToString(finding);
      verdict.at = metric == "flops" ? Costliest(report.cost) : Heaviest(report.fused);
    }
    verdicts.push_back(std::move(verdict));
  }
  if (verdicts.empty()) verdicts.push_back({.name = "analysis"});
  return verdicts;
}

std::string ToJUnit(std::string_view suite, const std::vector<Verdict>& verdicts) {
  const auto failures = std::count_if(verdicts.begin(), verdicts.end(),
                                      [](const Verdict& verdict) { return verdict.level == Level::kError; });
  const std::string counts = absl::StrFormat("tests=\"%d\" failures=\"%d\"", verdicts.size(), failures);
  std::string text = absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n  <testsuite name=\"%s\" %s>\n", counts,
      Xml(suite), counts);
  for (const Verdict& verdict : verdicts) {
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

std::string ToGithub(std::string_view suite, const std::vector<Verdict>& verdicts,
                     std::string_view workspace) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
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
