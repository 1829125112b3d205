// Puts a device's report together.
#include "client/analysis/mesh/mesh_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/analysis/check/quantity.h"
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

void AppendNetwork(const MeshReport& report, std::string& text) {
  if (!report.network.has_value()) return;
  const Network& network = *report.network;
  const NetworkUse& use = report.network_use;
  const std::string domains = network.domains > 1 ? absl::StrCat(network.domains, " times ") : "";
  absl::StrAppendFormat(&text, "network          %s sent, %s on %s%s (%s)\n", BytesText(use.bytes),
                        SecondsText(use.seconds), domains, absl::StrJoin(network.shape, "x"),
                        network.topology.source);
  absl::StrAppendFormat(&text,
                        "step             %s with the network: all beside the computation to none of it\n",
                        RangeText(StepSecondsOf(report), SecondsText));
  for (size_t i = 0; i < std::min(use.rows.size(), kRowsShown); ++i) {
    const NetworkRow& row = use.rows[i];
    absl::StrAppendFormat(&text, "  %12s  %s %s, %s times, %s", SecondsText(row.seconds),
                          hlo::Name(row.opcode), AxesText(row.axes, row.group_size, report.mesh),
                          CountText(row.runs), BytesText(row.bytes));
    if (!row.source.file.empty()) absl::StrAppend(&text, " (most at ", ToString(row.source), ")");
    text += "\n";
  }
}

// Sets the network of a target whose chip has a known one, and the use of it.
absl::Status SetNetwork(const std::optional<Target>& target, MeshReport& report) {
  if (!target.has_value() || target->count == 1) return absl::OkStatus();
  const std::optional<Topology> topology = network::TopologyOf(target->chip.name);
  if (!topology.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(report.network,
                   network::MakeNetwork(*topology, target->count, report.mesh, target->shape));
  ASSIGN_OR_RETURN(report.network_use, NetworkUseOf(report.collectives, *report.network));
  return absl::OkStatus();
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
  MeshReport report{.mesh = mesh, .collectives = CollectivesOf(device, mesh)};
  RETURN_IF_ERROR(SetNetwork(target, report));
  std::optional<NetworkTotals> totals;
  if (report.network.has_value()) totals = {report.network_use.bytes, report.network_use.seconds};
  ASSIGN_OR_RETURN(report.device, CheckModule(device, target, budget, totals));
  if (annotated != nullptr)
    report.replicated = ReplicatedAtPeak(report.device.fused, ShardedArraysOf(*annotated, mesh), mesh);
  return report;
}

Bracket StepSecondsOf(const MeshReport& report) {
  const Bracket& computes = report.device.step_seconds;
  const double network = report.network_use.seconds;
  return {.low = std::max(computes.low, network), .high = computes.high + network};
}

std::string ExchangeText(const MeshReport& report) {
  std::string text;
  AppendCollectives(report, text);
  AppendNetwork(report, text);
  AppendReplicated(report, text);
  return text;
}

std::string ToText(const MeshReport& report) {
  std::string text = ToText(report.device);
  // The mesh belongs under the module's name, the first line.
  text.insert(text.find('\n') + 1, DevicesText(report));
  for (const std::string& note : report.notes) absl::StrAppend(&text, "note             ", note, "\n");
  return text + ExchangeText(report);
}

}  // namespace hlod::analysis
