// The report of a run as text.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/analysis/check/quantity.h"
#include "client/analysis/preflight/preflight.h"

namespace hlod::analysis {
namespace {

constexpr size_t kRowsMax = 10;
constexpr size_t kLargestShown = 12;

std::string Plural(int64_t count, std::string_view what) {
  return absl::StrFormat("%d %s%s", count, what, count == 1 ? "" : "s");
}

std::string At(const SourceLine& line) {
  return line.file.empty() ? "" : absl::StrCat(" at ", ShortText(line));
}

void AppendPrograms(const RunReport& report, std::string& text) {
  absl::StrAppendFormat(&text, "programs         %d compiled, run %s in all\n", report.programs.size(),
                        Plural(report.executes, "time"));
  for (size_t i = 0; i < report.programs.size() && i < kRowsMax; ++i) {
    const RunProgram& program = report.programs[i];
    absl::StrAppendFormat(&text, "                 %s%s: %d instructions, %s flops, %s\n",
                          program.report.name, At(program.line), program.report.instructions,
                          CountText(program.report.cost.total.flops), Plural(program.runs, "run"));
  }
  if (report.programs.size() > kRowsMax)
    absl::StrAppendFormat(&text, "                 and %d more\n", report.programs.size() - kRowsMax);
  if (report.recompiles() == 0) return;
  absl::StrAppendFormat(&text, "recompiles       %d\n", report.recompiles());
  size_t shown = 0;
  for (const RunProgram& program : report.programs) {
    if (program.recompiled.empty() || ++shown > kRowsMax) continue;
    absl::StrAppendFormat(&text, "                 %s%s: %s\n", program.report.name, At(program.line),
                          program.recompiled);
  }
}

void AppendTransfers(const RunReport& report, std::string& text) {
  absl::StrAppendFormat(&text, "to the device    %s in %s, of which %s would have been sent and were not\n",
                        BytesText(static_cast<double>(report.upload_bytes)),
                        Plural(report.upload_calls, "upload"),
                        BytesText(static_cast<double>(report.unsent_bytes)));
  absl::StrAppendFormat(&text, "to the host      %s in %s, each of which waits\n",
                        BytesText(static_cast<double>(report.download_bytes)),
                        Plural(report.download_calls, "read"));
  for (size_t i = 0; i < report.transfers.size() && i < kRowsMax; ++i) {
    const RunLine& row = report.transfers[i];
    absl::StrAppendFormat(&text, "                 %s%s: %s in %s\n", row.cause, At(row.line),
                          BytesText(static_cast<double>(row.bytes)), Plural(row.calls, "call"));
  }
  for (const RunLine& row : report.refused) {
    absl::StrAppendFormat(&text, "refused reads    %s of values that do not exist%s\n",
                          Plural(row.calls, "read"), At(row.line));
  }
  if (report.breaks.empty() && !report.step_program.empty())
    text += "graph breaks     unknown: the program marks no steps\n";
  else absl::StrAppendFormat(&text, "graph breaks     %d\n", report.graph_breaks());
  for (size_t i = 0; i < report.breaks.size() && i < kRowsMax; ++i) {
    absl::StrAppendFormat(&text, "                 %s%s: %s\n", report.breaks[i].cause,
                          At(report.breaks[i].line), Plural(report.breaks[i].calls, "time"));
  }
}

void AppendPeak(const RunReport& report, std::string& text) {
  const RunPeak& peak = report.peak;
  absl::StrAppendFormat(&text, "peak memory      %s%s, while %s ran%s, in step %d\n",
                        RangeText(peak.bytes, BytesText), report.target.has_value() ? " on a chip" : "",
                        peak.program, At(peak.line), peak.step);
  for (size_t part = 0; part < kParts; ++part) {
    if (peak.parts[part] < 1) continue;
    absl::StrAppendFormat(&text, "  %-15s %12s\n", Name(static_cast<Part>(part)),
                          BytesText(peak.parts[part]));
  }
  if (report.target.has_value() && report.target->count > 1) {
    text +=
        "  Weights, state and inputs are divided by their shardings; of what programs need in between the\n"
        "  low end is divided by all chips, the high end by none: what a partitioner makes of it lies "
        "between.\n";
    absl::StrAppendFormat(&text,
                          "  %s where shardings are carried through what leaves no choice (an estimate: a "
                          "partitioner may choose otherwise).\n",
                          RangeText(peak.likely, BytesText));
  }
}

void AppendTarget(const RunReport& report, std::string& text) {
  const Target& target = *report.target;
  absl::StrAppendFormat(&text, "target           %s, %s: %s: %s of %s that the compiler has (%s)\n",
                        target.chip.name, Plural(target.count, "chip"), Name(report.fit()),
                        RangeText(report.peak.bytes, BytesText), BytesText(target.chip.usable_bytes),
                        target.chip.source);
  absl::StrAppend(&text, ToAbsl(PaddingText(target.chip)));
  absl::StrAppendFormat(
      &text, "step             %s at full speed (an estimate: without overheads and communication)\n",
      RangeText(report.step_seconds, SecondsText));
}

}  // namespace

std::string_view Name(Part part) {
  static constexpr std::string_view kNames[] = {"weights", "gradients",   "optimizer state",
                                                "inputs",  "activations", "other"};
  return kNames[static_cast<size_t>(part)];
}

std::string ToText(const RunReport& report) {
  std::string text = absl::StrFormat("%s: %s\n", report.program, Plural(report.steps, "step"));
  if (!report.step_program.empty())
    absl::StrAppendFormat(&text, "steps            the runs of %s, which computes most\n",
                          report.step_program);
  if (report.devices > 1)
    absl::StrAppendFormat(&text, "devices          %d; the figures are those of one\n", report.devices);
  if (report.sessions > 1)
    absl::StrAppendFormat(&text, "sessions         %d, each by itself\n", report.sessions);
  if (!report.stopped_at.file.empty() || !report.stopped_why.empty()) {
    absl::StrAppendFormat(&text,
                          "stopped at %s: %s. What follows is of the run until there; --stand-in goes on.\n",
                          report.stopped_at.file.empty() ? "an unknown line" : ShortText(report.stopped_at),
                          report.stopped_why);
  }
  if (report.stand_ins > 0) {
    absl::StrAppendFormat(
        &text,
        "STAND-INS        %s that the program asked for did not exist: what follows depends "
        "on those given instead\n",
        Plural(report.stand_ins, "value"));
  }
  AppendPrograms(report, text);
  AppendTransfers(report, text);
  absl::StrAppendFormat(&text, "operations       %s flops, %s of memory traffic a step (the longest)\n",
                        CountText(report.flops), RangeText(report.traffic, BytesText));
  AppendPeak(report, text);
  if (report.target.has_value()) AppendTarget(report, text);
  for (const Finding& finding : report.findings) {
    absl::StrAppendFormat(&text, "budget           %s: %s\n", finding.over ? "FAILED" : "loose",
                          ToString(finding));
  }
  text += "largest at the peak:\n";
  for (size_t i = 0; i < report.peak.largest.size() && i < kLargestShown; ++i) {
    const RunArray& array = report.peak.largest[i];
    absl::StrAppendFormat(&text, "  %12s  %-15s %s%s%s\n", BytesText(array.bytes), Name(array.part),
                          array.shape, array.name.empty() ? "" : absl::StrCat(" ", array.name),
                          array.line.file.empty() ? "" : absl::StrCat(" (", ShortText(array.line), ")"));
  }
  if (report.peak.arrays > static_cast<int64_t>(kLargestShown)) {
    absl::StrAppendFormat(&text, "  and %d smaller ones (--json lists %d in all)\n",
                          report.peak.arrays - static_cast<int64_t>(kLargestShown),
                          report.peak.largest.size());
  }
  if (!report.void_because.empty()) {
    absl::StrAppendFormat(&text, "verdict          none: %s\n", report.void_because);
    return text;
  }
  absl::StrAppendFormat(&text, "verdict          %s%s%s\n",
                        report.passed()    ? "passed"
                        : report.unknown() ? "unknown"
                                           : "FAILED",
                        report.incomplete(1) ? " as far as it came: no step ended" : "",
                        report.stand_ins > 0 ? ", with stand-ins" : "");
  return text;
}

}  // namespace hlod::analysis
