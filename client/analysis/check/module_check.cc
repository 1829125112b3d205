// The parts of the report, and the report as text.
#include "client/analysis/check/module_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/analysis/check/quantity.h"
#include "client/analysis/module/chips/division.h"
#include "client/analysis/module/chips/sharding.h"
#include "client/analysis/module/traffic.h"
#include "common/base/errors/status.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/text/shardy.h"

namespace hlod::analysis {
namespace {

// Returns the bytes that the parameters take on one of `chips` chips, by their shardings.
double DividedArguments(const hlo::Module& module, const PlacementOptions& options, int64_t chips) {
  double bytes = 0;
  const hlo::Computation& entry = module.entry();
  for (const hlo::NodeId parameter : entry.parameters()) {
    const hlo::Notes* const notes = entry.notes(parameter);
    const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(entry[parameter].shape());
    const std::vector<int64_t> parts =
        PartsOf(notes == nullptr ? std::string_view() : notes->sharding, leaves.size());
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      bytes += static_cast<double>(options.BytesOf(*leaves[leaf].shape)) /
               static_cast<double>(std::min(chips, parts[leaf]));
    }
  }
  return bytes;
}

double WithoutArguments(const Peak& peak) { return static_cast<double>(peak.total() - peak.arguments); }

// Returns the peak per chip of a module that is not partitioned: arrays other than parameters are divided
// among all chips at best, and not at all at worst. On one chip it is one number.
Bracket PeakOnAChip(const ModuleReport& report, double divided_arguments, double chips) {
  if (chips == 1)
    return {static_cast<double>(report.fused.total()), static_cast<double>(report.fused.total())};
  return {divided_arguments + WithoutArguments(report.fused) / chips,
          divided_arguments + WithoutArguments(report.unfused)};
}

// Returns RESOURCE_EXHAUSTED when the arrays of all instructions together have more bytes than an int64
// counts. The estimates then add and pad sizes without checks.
absl::Status CheckCountable(const hlo::Module& module, const PlacementOptions& options) {
  constexpr int64_t kBytesMax = int64_t{1} << 60;
  int64_t left = kBytesMax;
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      for (const hlo::ShapeLeaf& leaf : hlo::Leaves(computation[node].shape())) {
        const int64_t bytes = leaf.shape->IsArray() ? options.BytesOf(*leaf.shape) : 0;
        if (bytes <= left) {
          left -= bytes;
          continue;
        }
        return ResourceExhausted(
            "%s cannot be estimated: the arrays of its instructions up to %s (%s, of %d bytes) have more than %d "
            "bytes together.",
            module.name(), computation[node].name(), hlo::ToStringNoLayout(*leaf.shape), bytes, kBytesMax);
      }
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> PartsOfResult(const hlo::Module& canonical, const Divisions& divisions) {
  const hlo::Computation& entry = canonical.entry();
  std::vector<int64_t> parts(hlo::Leaves(entry.root().shape()).size());
  for (size_t leaf = 0; leaf < parts.size(); ++leaf)
    parts[leaf] = divisions.PartsOf(entry, entry.root_id(), leaf);
  return parts;
}

// Returns the bytes of the result that are not in an argument's memory.
double DividedResult(const hlo::Module& canonical, const PlacementOptions& options,
                     const std::vector<int64_t>& parts) {
  double bytes = 0;
  const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(canonical.entry().root().shape());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const bool aliased = std::any_of(
        canonical.config.input_output_alias.begin(), canonical.config.input_output_alias.end(),
        [&](const hlo::InputOutputAlias& alias) { return alias.output_index == leaves[leaf].index; });
    if (aliased) continue;
    bytes += static_cast<double>(options.BytesOf(*leaves[leaf].shape)) / static_cast<double>(parts[leaf]);
  }
  return bytes;
}

Bracket Of(double a, double b) { return {std::min(a, b), std::max(a, b)}; }

// Sets the report's likely_bytes, likely_temporaries and result_parts.
void SetLikely(const hlo::Module& canonical, PlacementOptions options, double divided_arguments,
               const Divisions& divisions, ModuleReport& report) {
  options.parts = [&divisions](hlo::Instruction i, size_t leaf) {
    return divisions.PartsOf(i.computation(), i.id(), leaf);
  };
  const auto temporaries = [&](bool fused) {
    options.fused = fused;
    return static_cast<double>(PeakOf(Placements(canonical, options)).temporaries);
  };
  report.likely_temporaries = Of(temporaries(true), temporaries(false));
  report.result_parts = PartsOfResult(canonical, divisions);
  const double others = divided_arguments + DividedResult(canonical, options, report.result_parts);
  report.likely_bytes = {others + report.likely_temporaries.low, others + report.likely_temporaries.high};
}

// Returns the roofline estimate: the longer of the operations and the traffic at full speed.
double Seconds(const Chip& chip, double chips, double flops, double traffic) {
  return std::max(flops / chip.flops, traffic / chip.bandwidth) / chips;
}

}  // namespace

// A dump does not state the number of partitions. A module that was partitioned elsewhere is recognised by
// its collectives, and because it does not divide whole arrays itself.
bool IsPartitioned(const hlo::Module& module) {
  if (hlo::IsShare(module)) return true;
  return module.config.partition_count > 1 && hlo::DependsOnPartition(module) &&
         !hlo::CutsWholeArrays(module);
}

Budget ValuesOf(const ModuleReport& report) {
  Budget values = {{"peak_bytes", report.peak_bytes.low},
                   {"argument_bytes", static_cast<double>(report.fused.arguments)},
                   {"result_bytes", static_cast<double>(report.fused.results)},
                   {"temporary_bytes", static_cast<double>(report.fused.temporaries)},
                   {"traffic_bytes", report.traffic.low},
                   {"flops", report.cost.total.flops},
                   {"transcendentals", report.cost.total.transcendentals}};
  if (report.target.has_value()) values["step_seconds"] = report.step_seconds.low;
  if (report.network.has_value()) {
    values["network_bytes"] = report.network->bytes;
    values["network_us"] = report.network->seconds * 1e6;
  }
  return values;
}

std::string_view Name(ModuleReport::Fit fit) {
  static constexpr std::string_view kNames[] = {"no target", "fits", "may not fit", "does not fit",
                                                "unknown"};
  return kNames[static_cast<size_t>(fit)];
}

ModuleReport::Fit ModuleReport::fit() const {
  if (!target.has_value()) return Fit::kNoTarget;
  if (target->count > 1 && !partitioned) {
    if (static_cast<double>(unfused.total()) <= target->chip.usable_bytes) return Fit::kFits;
    // The lower end divides the parameters by shardings that may be for another number of chips.
    const bool too_large = peak_bytes.low > target->chip.usable_bytes && undivided_because.empty();
    return too_large ? Fit::kDoesNotFit : Fit::kUnknown;
  }
  return FitOf(peak_bytes.low, *target);
}

ModuleReport::Fit FitOf(double peak_bytes, const Target& target) {
  if (peak_bytes > target.chip.usable_bytes) return ModuleReport::Fit::kDoesNotFit;
  const double most = peak_bytes * (1 + ErrorBarOf(Compiler::kAccelerator).part);
  return most <= target.chip.usable_bytes ? ModuleReport::Fit::kFits : ModuleReport::Fit::kMayNotFit;
}

Compiler CompilerOf(const std::optional<Target>& target) {
  return target.has_value() ? Compiler::kAccelerator : Compiler::kXlaCpu;
}

bool ModuleReport::passed() const {
  return (fit() == Fit::kFits || fit() == Fit::kNoTarget) && !ExceedsAny(findings);
}

bool ModuleReport::unknown() const { return fit() == Fit::kUnknown && !ExceedsAny(findings); }

absl::StatusOr<ModuleReport> CheckModule(const hlo::Module& module, const std::optional<Target>& target,
                                         const Budget& budget, std::optional<NetworkTotals> network) {
  ModuleReport report{.name = module.name(),
                      .instructions = module.instruction_count(),
                      .compiler = CompilerOf(target),
                      .network = network,
                      .target = target,
                      .budget = budget};
  PlacementOptions options{.compiler = report.compiler};
  if (target.has_value())
    options.bytes = [&chip = target->chip](const hlo::Shape& shape) { return BytesOn(chip, shape); };
  RETURN_IF_ERROR(CheckCountable(module, options));
  report.cost = CostOf(module);
  ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> canonical, Canonical(module, report.compiler));
  const auto measure = [&](bool fused, Peak& peak) {
    options.fused = fused;
    const Placements placements(*canonical, options);
    peak = PeakOf(placements);
    return TrafficOf(placements);
  };
  report.traffic.low = measure(/*fused=*/true, report.fused);
  report.traffic.high = measure(/*fused=*/false, report.unfused);
  // The operands of a fused reader live longer, which may cost more than the fusion saves.
  if (report.fused.total() > report.unfused.total()) report.unfused = report.fused;
  report.partitioned = IsPartitioned(module);
  const int64_t chips = target.has_value() && !report.partitioned ? target->count : 1;
  const double arguments = DividedArguments(module, options, chips);
  report.peak_bytes = PeakOnAChip(report, arguments, static_cast<double>(chips));
  if (chips > 1) SetLikely(*canonical, options, arguments, Divisions(*canonical, chips), report);
  if (target.has_value()) {
    const auto seconds = [&](double traffic) {
      return Seconds(target->chip, static_cast<double>(chips), report.cost.total.flops, traffic);
    };
    report.step_seconds = {seconds(report.traffic.low), seconds(report.traffic.high)};
  }
  ASSIGN_OR_RETURN(report.findings, Compare(budget, ValuesOf(report)));
  return report;
}

std::string RangeText(const Bracket& bracket, std::string (*text)(double)) {
  const std::string low = text(bracket.low), high = text(bracket.high);
  return low == high ? low : absl::StrCat(low, " to ", high);
}

namespace {

// Returns true when the report is about what one chip runs.
bool IsOfOneChip(const ModuleReport& report) {
  return report.partitioned || !report.target.has_value() || report.target->count == 1;
}

void AppendPeakMemory(const ModuleReport& report, std::string& text) {
  const auto bytes = [](int64_t value) { return BytesText(static_cast<double>(value)); };
  const std::string range =
      IsOfOneChip(report)
          ? absl::StrCat(bytes(report.fused.total()), " (", ToString(ErrorBarOf(report.compiler)), ")")
          : absl::StrCat(RangeText(Of(static_cast<double>(report.fused.total()),
                                      static_cast<double>(report.unfused.total())),
                                   BytesText),
                         " undivided");
  absl::StrAppendFormat(
      &text,
      "peak memory      %s: arguments %s, results %s, of which %s in arguments' memory, temporaries %s\n",
      range, bytes(report.fused.arguments), bytes(report.fused.results), bytes(report.fused.aliased),
      bytes(report.fused.temporaries));
}

void AppendTarget(const ModuleReport& report, std::string& text) {
  const Target& target = *report.target;
  absl::StrAppendFormat(&text, "target           %s, %d chip%s: %s: %s of %s that the compiler has (%s)\n",
                        target.chip.name, target.count, target.count == 1 ? "" : "s", Name(report.fit()),
                        RangeText(report.peak_bytes, BytesText), BytesText(target.chip.usable_bytes),
                        target.chip.source);
  absl::StrAppend(&text, ToAbsl(PaddingText(target.chip)));
  if (report.fit() == ModuleReport::Fit::kMayNotFit)
    text += "                 the limit is within the error bar: that is a failure\n";
  absl::StrAppendFormat(
      &text, "step             %s at full speed (an estimate: without overheads and communication)\n",
      RangeText(report.step_seconds, SecondsText));
  if (report.partitioned) {
    text += "                 the module is partitioned already: it is what one chip runs\n";
  } else if (target.count > 1) {
    text +=
        "                 parameters are divided by their shardings; the rest between by all chips and by "
        "none\n";
    absl::StrAppendFormat(&text,
                          "                 %s where shardings are carried through what leaves no choice (an "
                          "estimate: a partitioner may choose otherwise)\n",
                          RangeText(report.likely_bytes, BytesText));
    if (!report.undivided_because.empty())
      absl::StrAppend(&text, "                 not partitioned: ", report.undivided_because, "\n");
  }
}

// The number of operations in the report's text, which lists only the largest.
constexpr size_t kOperationsShown = 5;

void AppendOperations(const ModuleCost& cost, std::string& text) {
  if (!cost.largest.empty()) text += "most operations:\n";
  for (size_t i = 0; i < std::min(cost.largest.size(), kOperationsShown); ++i) {
    const CostContributor& row = cost.largest[i];
    absl::StrAppendFormat(&text, "  %12s  %4.1f%%     %s %s", CountText(row.flops),
                          100 * row.flops / cost.total.flops, row.name, hlo::ToStringNoLayout(row.shape));
    if (!row.op_name.empty()) absl::StrAppend(&text, "  ", row.op_name);
    if (!row.source.file.empty()) absl::StrAppend(&text, " (", ToString(row.source), ")");
    text += "\n";
  }
}

void AppendLargest(const Peak& peak, std::string& text) {
  absl::StrAppendFormat(&text, "largest at the peak (%s):\n", peak.at);
  for (const Contributor& array : peak.largest) {
    absl::StrAppendFormat(&text, "  %12s  %-9s %s %s", BytesText(static_cast<double>(array.bytes)),
                          Name(array.kind), array.name, hlo::ToStringNoLayout(array.shape));
    if (!array.op_name.empty()) absl::StrAppend(&text, "  ", array.op_name);
    if (!array.source.file.empty()) absl::StrAppend(&text, " (", ToString(array.source), ")");
    if (!array.last_use.empty()) absl::StrAppend(&text, ", until ", array.last_use);
    text += "\n";
  }
}

}  // namespace

std::string ToText(const ModuleReport& report) {
  const Cost& cost = report.cost.total;
  std::string text = absl::StrFormat("%s: %d instructions\n", report.name, report.instructions);
  absl::StrAppendFormat(&text, "operations       %s flops, %s transcendentals\n", CountText(cost.flops),
                        CountText(cost.transcendentals));
  absl::StrAppendFormat(&text, "memory traffic   %s (fused to not fused)\n",
                        RangeText(Of(report.traffic.low, report.traffic.high), BytesText));
  AppendPeakMemory(report, text);
  if (!report.cost.unknown_loops.empty())
    absl::StrAppendFormat(&text, "counted once     loops of unknown trip count: %s\n",
                          absl::StrJoin(report.cost.unknown_loops, ", "));
  if (!report.cost.unknown_calls.empty())
    absl::StrAppendFormat(&text, "not counted      custom-calls: %s\n",
                          absl::StrJoin(report.cost.unknown_calls, ", "));
  if (report.target.has_value()) AppendTarget(report, text);
  for (const Finding& finding : report.findings) {
    absl::StrAppendFormat(&text, "budget           %s: %s\n", finding.over ? "FAILED" : "loose",
                          ToString(finding));
  }
  AppendOperations(report.cost, text);
  AppendLargest(report.fused, text);
  return text;
}

}  // namespace hlod::analysis
