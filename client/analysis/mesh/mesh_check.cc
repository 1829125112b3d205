// Puts a device's report together.
#include "client/analysis/mesh/mesh_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/analysis/module/quantity.h"
#include "common/base/errors/status.h"

namespace hlod::analysis {
namespace {

// The rows that the text lists of each kind; the report has all.
constexpr size_t kRowsShown = 12;

std::string DevicesText(const MeshReport& report) {
  std::string text = absl::StrCat(
      "mesh             ", absl::StrJoin(report.mesh.axes, ",", [](std::string* out, const auto& axis) {
        absl::StrAppend(out, axis.first, axis.first.empty() ? "" : "=", axis.second);
      }));
  if (!report.partitioned_by.empty()) absl::StrAppend(&text, ": divided by ", report.partitioned_by);
  return text + "; figures are one device's\n";
}

void AppendCollectives(const MeshReport& report, std::string& text) {
  const std::vector<CollectiveSum> sums = SumsOf(report.collectives);
  double bytes = 0;
  for (const CollectiveSum& sum : sums) bytes += sum.bytes;
  absl::StrAppendFormat(&text, "collectives      %s in %d lines\n", BytesText(bytes), sums.size());
  for (size_t i = 0; i < std::min(sums.size(), kRowsShown); ++i) {
    const CollectiveSum& sum = sums[i];
    absl::StrAppendFormat(&text, "  %12s  %s %s, %s times", BytesText(sum.bytes), hlo::Name(sum.opcode),
                          AxesText(sum.axes, sum.group_size, report.mesh), CountText(sum.times));
    if (!sum.op_name.empty()) absl::StrAppend(&text, "  ", sum.op_name);
    if (!sum.source.file.empty()) absl::StrAppend(&text, " (", ToString(sum.source), ")");
    text += "\n";
  }
}

void AppendReplicated(const MeshReport& report, std::string& text) {
  if (!report.replicated.empty()) text += "what dividing arrays at the peak further would save:\n";
  for (size_t i = 0; i < std::min(report.replicated.size(), kRowsShown); ++i) {
    const Replicated& row = report.replicated[i];
    absl::StrAppendFormat(&text, "  %12s  over %s: %s %s %s, divided %s", BytesText(row.saved),
                          AxisName(report.mesh, row.axis), Name(row.array.kind), row.array.name,
                          hlo::ToStringNoLayout(row.array.shape), row.division);
    if (!row.array.op_name.empty()) absl::StrAppend(&text, "  ", row.array.op_name);
    if (!row.array.source.file.empty()) absl::StrAppend(&text, " (", ToString(row.array.source), ")");
    text += "\n";
  }
}

}  // namespace

absl::StatusOr<MeshReport> CheckMesh(const hlo::Module& device, const hlo::Module* annotated,
                                     const hlo::Mesh& mesh, const std::optional<Target>& target,
                                     const Budget& budget) {
  MeshReport report{.mesh = mesh};
  ASSIGN_OR_RETURN(report.device, CheckModule(device, target, budget));
  report.collectives = CollectivesOf(device, mesh);
  if (annotated != nullptr)
    report.replicated = ReplicatedAtPeak(report.device.fused, ShardedArraysOf(*annotated, mesh), mesh);
  return report;
}

std::string ToText(const MeshReport& report) {
  std::string text = ToText(report.device);
  // The mesh belongs under the module's name, the first line.
  text.insert(text.find('\n') + 1, DevicesText(report));
  for (const std::string& note : report.notes) absl::StrAppend(&text, "note             ", note, "\n");
  AppendCollectives(report, text);
  AppendReplicated(report, text);
  return text;
}

}  // namespace hlod::analysis
