// Follows a session's buffers through its preflight log, one execute after another.
#include "client/analysis/preflight/preflight.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/analysis/module/chips/sharding.h"
#include "client/analysis/module/peak.h"
#include "client/analysis/preflight/framework_run.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/kinds.h"
#include "common/base/saturated.h"
#include "common/hlo/analysis/aliases.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/shape.h"

namespace hlod::analysis {
namespace {

constexpr size_t kLargestMax = 4096;
constexpr size_t kFailuresMax = 10;

SourceLine LineOf(const v1::Origin& origin) { return {origin.file(), origin.line()}; }

// A program of the run, analysed once.
struct Known {
  size_t index = 0;  // The index in RunReport::programs.
  std::unique_ptr<hlo::Module> module;
  Peak peak;                      // The peak with all arrays that are alive then.
  std::vector<int> aliases;       // By result, the argument whose memory it takes if that is donated, or -1.
  std::vector<SourceLine> lines;  // By result, its line from the program's metadata; may be empty.
};

std::vector<SourceLine> LinesOfResults(const hlo::Module& module) {
  const SourceLines lines(module);
  const hlo::Computation& entry = module.entry();
  const auto line_of = [&](hlo::NodeId node) {
    const hlo::Notes* const notes = entry.notes(node);
    return notes == nullptr ? SourceLine() : lines.Of(*notes);
  };
  if (entry.root().opcode() != hlo::kTuple) return {line_of(entry.root_id())};
  std::vector<SourceLine> results;
  for (const hlo::NodeId element : entry.root().operands()) results.push_back(line_of(element));
  return results;
}

struct Label {
  std::string role, name, sharding;
};

// A live buffer.
struct Held {
  hlo::Shape shape;
  Bracket bytes;  // The bytes per chip.
  // The likely bytes within `bytes`: with shardings propagated through the program that made it.
  double likely = 0;
  Part part = Part::kOther;
  SourceLine line;
  uint32_t device = 0;
};

// Returns the larger of each end.
Bracket Larger(const Bracket& a, const Bracket& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

constexpr std::string_view kNext = "next";  // The role of an argument of a step that did not run.

// Returns true for an upload or a run that makes one of the arrays.
bool MakesAny(const v1::PreflightEvent& event, const absl::flat_hash_set<uint64_t>& arrays) {
  if (event.has_buffer()) return arrays.contains(event.buffer().handle());
  return event.has_execute() && std::ranges::any_of(event.execute().results(),
                                                    [&](uint64_t result) { return arrays.contains(result); });
}

// Returns the arrays that a framework's program made, after its last step, for the next one, which did not
// run.
absl::flat_hash_set<uint64_t> MadeForNextStep(const PreflightLog& record, const FrameworkRun& framework) {
  absl::flat_hash_set<uint64_t> next, made;
  for (auto event = record.events.rbegin(); event != record.events.rend(); ++event) {
    if (event->has_label() && event->label().role() == kNext) next.insert(event->label().handle());
    if (event->has_execute() && framework.step_digests.contains(event->execute().digest())) break;
    if (!MakesAny(*event, next)) continue;
    if (event->has_buffer()) made.insert(event->buffer().handle());
    if (!event->has_execute()) continue;
    made.insert(event->execute().results().begin(), event->execute().results().end());
    next.insert(event->execute().arguments().begin(), event->execute().arguments().end());
  }
  return made;
}

class Follower {
 public:
  Follower(RunReport& report) : report_(report) {
    if (report.target.has_value()) {
      chips_ = static_cast<double>(report.target->count);
      options_.compiler = CompilerOf(report.target);
      options_.bytes = [&chip = report.target->chip](const hlo::Shape& shape) {
        return BytesOn(chip, shape);
      };
    }
  }

  absl::Status Follow(const PreflightLog& record) {
    labels_.clear();
    held_.clear();
    elsewhere_.clear();
    step_ = {};
    // Collects the labels first, because a buffer may be labelled after it was made; handles are never
    // reused.
    for (const v1::PreflightEvent& event : record.events) {
      if (!event.has_label() || event.label().role() == kNext) continue;
      Label& label = labels_[event.label().handle()];
      if (!event.label().role().empty()) label.role = event.label().role();
      if (!event.label().name().empty()) label.name = event.label().name();
      if (!event.label().sharding().empty()) label.sharding = event.label().sharding();
    }
    framework_ = FrameworkRun();
    if (std::any_of(record.events.begin(), record.events.end(),
                    [](const auto& e) { return e.has_framework(); })) {
      ASSIGN_OR_RETURN(framework_, ReadFrameworkRun(record));
      for (const auto& [handle, named] : framework_.arrays) {
        Label& label = labels_[handle];
        if (label.role.empty()) label.role = named.role;
        if (label.name.empty()) label.name = named.name;
      }
    }
    report_.cut_off |= record.cut_off;
    const absl::flat_hash_set<uint64_t> next = MadeForNextStep(record, framework_);
    for (const v1::PreflightEvent& event : record.events) {
      if (!MakesAny(event, next)) RETURN_IF_ERROR(Take(event));
    }
    EndStep();
    return absl::OkStatus();
  }

 private:
  absl::Status Take(const v1::PreflightEvent& event) {
    switch (event.what_case()) {
      case v1::PreflightEvent::kBegin: report_.program = event.begin().program(); break;
      case v1::PreflightEvent::kProgram: return TakeProgram(event.program());
      case v1::PreflightEvent::kBuffer: return TakeBuffer(event.buffer());
      case v1::PreflightEvent::kExecute: return TakeExecute(event.execute());
      case v1::PreflightEvent::kFree:
        for (const uint64_t handle : event.free().handles()) {
          held_.erase(handle);
          elsewhere_.erase(handle);
        }
        break;
      case v1::PreflightEvent::kElsewhere:
        for (const uint64_t handle : event.elsewhere().handles()) {
          held_.erase(handle);
          elsewhere_.insert(handle);
        }
        break;
      case v1::PreflightEvent::kRead: TakeRead(event.read()); break;
      case v1::PreflightEvent::kClose:
        if (event.close().cause() != "sync")
          ++Row(report_.breaks, event.close().cause(), LineOf(event.close().origin())).calls;
        break;
      case v1::PreflightEvent::kStep:
        ++report_.steps;
        EndStep();
        break;
      case v1::PreflightEvent::kFailure: TakeFailure(event.failure().error()); break;
      case v1::PreflightEvent::kEnd: TakeEnd(event.end()); break;
      case v1::PreflightEvent::kLabel:
      case v1::PreflightEvent::kDivided:
      case v1::PreflightEvent::kFramework:
      case v1::PreflightEvent::WHAT_NOT_SET: break;
    }
    return absl::OkStatus();
  }

  static RunLine& Row(std::vector<RunLine>& rows, std::string_view cause, const SourceLine& line) {
    for (RunLine& row : rows) {
      if (row.cause == cause && row.line == line) return row;
    }
    return rows.emplace_back(RunLine{std::string(cause), line});
  }

  RunLine& TransferRow(Cause cause, const v1::Origin& origin) {
    RunLine& row = Row(report_.transfers, hlod::Name(cause), LineOf(origin));
    row.direction = DirectionOf(cause);
    return row;
  }

  void TakeRead(const v1::PreflightRead& read) {
    const Cause cause = CauseFromNumber(read.cause()).value_or(Cause::kDownload);
    if (read.refused()) {
      RunLine& row = Row(report_.refused, hlod::Name(cause), LineOf(read.origin()));
      row.bytes += read.bytes();
      ++row.calls;
      return;
    }
    RunLine& row = TransferRow(cause, read.origin());
    row.bytes += read.bytes();
    ++row.calls;
    report_.download_bytes += read.bytes();
    ++report_.download_calls;
    if (read.absent() && cause != Cause::kPrint) ++report_.stand_ins;
  }

  void TakeFailure(const v1::Error& error) {
    if (report_.failures.size() >= kFailuresMax) return;
    if (std::find(report_.failures.begin(), report_.failures.end(), error.text()) == report_.failures.end())
      report_.failures.push_back(error.text());
  }

  void TakeEnd(const v1::PreflightEnd& end) {
    report_.simulated_peak_bytes = std::max(report_.simulated_peak_bytes, end.simulated_peak_bytes());
    if (end.reason() != "stopped") return;
    report_.stopped_at = LineOf(end.origin());
    report_.stopped_why = end.text();
    --report_.stand_ins;  // The last read stopped the run: it had no stand-in.
  }

  absl::Status TakeProgram(const v1::PreflightProgram& program) {
    Known& known = known_[program.digest()];
    if (known.module != nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(known.module, hlo::FromSerialized(program.module()));
    RETURN_IF_ERROR(hlo::Verify(*known.module));
    RunProgram& row = report_.programs.emplace_back(RunProgram{.line = LineOf(program.origin())});
    for (const RunProgram& before : report_.programs) {
      if (&before != &row && before.report.name == known.module->name() && before.line == row.line)
        row.recompiled = program.reason().empty() ? "the reason is not known" : program.reason();
    }
    known.index = report_.programs.size() - 1;
    known.aliases = hlo::ResolveAliases(*known.module, hlo::FlatSignature(known.module->entry()));
    known.lines = LinesOfResults(*known.module);
    ASSIGN_OR_RETURN(row.report, CheckModule(*known.module, report_.target, {}));
    ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> canonical,
                     Canonical(*known.module, options_.compiler));
    known.peak = PeakOf(Placements(*canonical, options_), SIZE_MAX);
    return absl::OkStatus();
  }

  // Returns the bytes that an array takes on a chip. With `known`, its sharding, or the lack of one, is the
  // program's own; otherwise a partitioner may divide an array without a sharding.
  Bracket OnAChip(const hlo::Shape& shape, std::string_view sharding, bool known) const {
    const auto whole = static_cast<double>(options_.BytesOf(shape));
    if (!known && sharding.empty()) return {whole / chips_, whole};
    const double divided = whole / std::min(chips_, static_cast<double>(PartsOf(sharding, 1)[0]));
    return {divided, divided};
  }

  // Returns the likely bytes of a result: by its own sharding, otherwise by the propagated shardings.
  double LikelyOnAChip(const Held& held, const ModuleReport& report, size_t result) const {
    if (held.bytes.low == held.bytes.high || result >= report.result_parts.size()) return held.bytes.low;
    return held.bytes.high / static_cast<double>(report.result_parts[result]);
  }

  Part PartOf(uint64_t handle, const hlo::Shape& shape, bool uploaded) const {
    const auto found = labels_.find(handle);
    const std::string_view role = found == labels_.end() ? std::string_view() : found->second.role;
    if (role == "weight") return Part::kWeights;
    if (role == "gradient") return Part::kGradients;
    if (role == "optimizer") return Part::kOptimizerState;
    if (uploaded) return Part::kInputs;
    return weights_.contains(shape.dims) ? Part::kGradients : Part::kOther;
  }

  // Returns true for arrays that the program itself keeps and divides: without a sharding they are
  // replicated, whichever program made them.
  bool IsPlacedByTheProgram(uint64_t handle) const {
    const auto found = labels_.find(handle);
    return found != labels_.end() && (found->second.role == "weight" || found->second.role == "optimizer");
  }

  // Returns the bytes that a result of `execute` takes on a chip. A result that takes over a donated
  // argument's memory is divided like the argument, unless it has its own sharding.
  Bracket BytesOfResult(const v1::PreflightExecute& execute, uint64_t handle, const hlo::Shape& shape,
                        int donated_argument) const {
    if (donated_argument >= 0 && ShardingOf(handle).empty()) {
      const auto argument = held_.find(execute.arguments(donated_argument));
      if (argument != held_.end() && argument->second.shape.dims == shape.dims) return argument->second.bytes;
    }
    return OnAChip(shape, ShardingOf(handle), donated_argument >= 0 || IsPlacedByTheProgram(handle));
  }

  std::string_view ShardingOf(uint64_t handle) const {
    const auto found = labels_.find(handle);
    return found == labels_.end() ? std::string_view() : found->second.sharding;
  }

  void NoteWeight(const Held& held) {
    if (held.part == Part::kWeights && !held.shape.dims.empty()) weights_.insert(held.shape.dims);
  }
  void Hold(uint64_t handle, Held held) {
    NoteWeight(held);
    if (!elsewhere_.contains(handle)) held_[handle] = std::move(held);
  }

  absl::Status TakeBuffer(const v1::PreflightBuffer& buffer) {
    ASSIGN_OR_RETURN(const hlo::Shape shape, hlo::FromProto(buffer.shape()));
    const bool uploaded = buffer.cause() != 0;
    const Bracket bytes = OnAChip(shape, ShardingOf(buffer.handle()), /*known=*/true);
    Hold(buffer.handle(),
         {.shape = shape,
          .bytes = bytes,
          .likely = bytes.low,
          .part = PartOf(buffer.handle(), shape, uploaded || !ShardingOf(buffer.handle()).empty()),
          .line = LineOf(buffer.origin()),
          .device = buffer.device()});
    if (!uploaded) return absl::OkStatus();
    RunLine& row = TransferRow(CauseFromNumber(buffer.cause()).value_or(Cause::kUpload), buffer.origin());
    row.bytes += buffer.bytes();
    ++row.calls;
    report_.upload_bytes += buffer.bytes();
    ++report_.upload_calls;
    if (buffer.absent()) report_.unsent_bytes += buffer.bytes();
    return absl::OkStatus();
  }

  // Returns the line that made a result. The line of the execute is used only if no other is known, because
  // it is often that of Sync().
  static SourceLine LineOfResult(const v1::PreflightExecute& execute, const Known& known, size_t result) {
    if (result < static_cast<size_t>(execute.result_origins_size())) {
      const SourceLine made = LineOf(execute.result_origins(static_cast<int>(result)));
      if (!made.file.empty()) return made;
    }
    if (result < known.lines.size() && !known.lines[result].file.empty()) return known.lines[result];
    return LineOf(execute.origin());
  }

  // Keeps the larger of this peak and the largest before.
  void NotePeak(RunPeak now) {
    const Bracket likely = chips_ > 1 ? Larger(now.likely, report_.peak.likely) : Bracket();
    if (now.bytes.low > report_.peak.bytes.low || report_.peak.program.empty()) {
      std::stable_sort(now.largest.begin(), now.largest.end(),
                       [](const RunArray& a, const RunArray& b) { return a.bytes > b.bytes; });
      now.arrays = static_cast<int64_t>(now.largest.size());
      if (now.largest.size() > kLargestMax) now.largest.resize(kLargestMax);
      now.bytes.high = std::max(now.bytes.high, report_.peak.bytes.high);
      report_.peak = std::move(now);
    } else {
      report_.peak.bytes.high = std::max(report_.peak.bytes.high, now.bytes.high);
    }
    report_.peak.likely = likely;
  }

  absl::Status TakeExecute(const v1::PreflightExecute& execute) {
    const auto found = known_.find(execute.digest());
    if (found == known_.end() || found->second.module == nullptr)
      return InvalidArgument("The preflight log runs a program that it does not have.");
    const Known& known = found->second;
    RunProgram& row = report_.programs[known.index];
    const bool is_step = framework_.step_digests.contains(execute.digest());
    if (is_step && report_.step_program.empty()) {
      report_.step_program = row.report.name;
      step_ = {};  // Programs that ran before are not part of a step.
    }
    ++row.runs;
    ++report_.executes;
    step_.flops += row.report.cost.total.flops;
    step_.traffic.low += row.report.traffic.low;
    step_.traffic.high += row.report.traffic.high;
    step_.seconds.low += row.report.step_seconds.low;
    step_.seconds.high += row.report.step_seconds.high;
    const std::vector<hlo::ShapeLeaf> leaves = hlo::Leaves(known.module->entry().root().shape());
    const absl::flat_hash_set<int> donated(execute.donated().begin(), execute.donated().end());
    std::vector<std::pair<uint64_t, Held>> results;
    RunPeak now = {.program = row.report.name, .line = LineOf(execute.origin()), .step = report_.steps + 1};
    for (size_t i = 0; i < leaves.size() && i < static_cast<size_t>(execute.results_size()); ++i) {
      const uint64_t handle = execute.results(static_cast<int>(i));
      const bool aliased = i < known.aliases.size() && donated.contains(known.aliases[i]) &&
                           known.aliases[i] < execute.arguments_size();
      Held held = {.shape = *leaves[i].shape,
                   .bytes = BytesOfResult(execute, handle, *leaves[i].shape, aliased ? known.aliases[i] : -1),
                   .part = PartOf(handle, *leaves[i].shape, /*uploaded=*/false),
                   .line = LineOfResult(execute, known, i),
                   .device = execute.device()};
      held.likely = LikelyOnAChip(held, row.report, i);
      NoteWeight(held);
      if (!aliased) Add(held, handle, now);
      results.emplace_back(handle, std::move(held));
    }
    // The peak is that of one device: arrays of others do not count.
    for (const auto& [handle, held] : held_) {
      if (held.device == execute.device()) Add(held, handle, now);
    }
    AddTemporaries(row.report, known.peak, now);
    NotePeak(std::move(now));
    for (const uint32_t index : execute.donated()) {
      if (index < static_cast<uint32_t>(execute.arguments_size()))
        held_.erase(execute.arguments(static_cast<int>(index)));
    }
    for (auto& [handle, held] : results) Hold(handle, std::move(held));
    if (is_step) {
      ++report_.steps;
      EndStep();
    }
    return absl::OkStatus();
  }

  void Add(const Held& held, uint64_t handle, RunPeak& peak) const {
    peak.bytes.low += held.bytes.low;
    peak.bytes.high += held.bytes.high;
    peak.likely.low += held.likely;
    peak.likely.high += held.likely;
    peak.parts[static_cast<size_t>(held.part)] += held.bytes.low;
    const auto label = labels_.find(handle);
    peak.largest.push_back({.part = held.part,
                            .name = label == labels_.end() ? "" : label->second.name,
                            .line = held.line,
                            .shape = hlo::ToStringNoLayout(held.shape),
                            .bytes = held.bytes.low});
  }

  // Adds a program's temporaries to the peak. Since no partitioner has run, they are divided among all chips
  // at best, and not at all at worst.
  void AddTemporaries(const ModuleReport& report, const Peak& peak, RunPeak& now) const {
    const auto all = static_cast<double>(peak.temporaries);
    now.bytes.low += all / chips_;
    now.bytes.high += chips_ == 1 ? all : static_cast<double>(report.unfused.temporaries);
    now.likely.low += report.likely_temporaries.low;
    now.likely.high += report.likely_temporaries.high;
    double gradients = 0;
    for (const Contributor& array : peak.largest) {
      if (array.kind != Contributor::Kind::kTemporary) continue;
      const bool gradient = weights_.contains(array.shape.dims);
      const auto bytes = static_cast<double>(array.bytes);
      if (gradient) gradients += bytes;
      now.largest.push_back({.part = gradient ? Part::kGradients : Part::kActivations,
                             .name = array.name,
                             .line = array.source,
                             .shape = hlo::ToStringNoLayout(array.shape),
                             .bytes = bytes / chips_});
    }
    gradients = std::min(gradients, all);
    now.parts[static_cast<size_t>(Part::kGradients)] += gradients / chips_;
    now.parts[static_cast<size_t>(Part::kActivations)] += (all - gradients) / chips_;
  }

  void EndStep() {
    if (step_.seconds.low >= report_.step_seconds.low && step_.flops >= report_.flops) {
      report_.flops = step_.flops;
      report_.traffic = step_.traffic;
      report_.step_seconds = step_.seconds;
    }
    step_ = {};
  }

  struct Step {
    double flops = 0;
    Bracket traffic, seconds;
  };

  RunReport& report_;
  double chips_ = 1;
  PlacementOptions options_;
  absl::flat_hash_map<std::string, Known> known_;  // The programs by digest.
  absl::flat_hash_map<uint64_t, Label> labels_;
  std::map<uint64_t, Held> held_;
  absl::flat_hash_set<uint64_t> elsewhere_;  // Buffers on other devices.
  // The dimensions of weights, by which temporaries are recognized as gradients.
  std::set<hlo::Dims> weights_;
  FrameworkRun framework_;  // Empty unless a framework ran the program.
  Step step_;
};

void SortRows(std::vector<RunLine>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const RunLine& a, const RunLine& b) {
    return std::pair(a.bytes, a.calls) > std::pair(b.bytes, b.calls);
  });
}

}  // namespace

int64_t RunReport::graph_breaks() const {
  int64_t count = 0;
  for (const RunLine& row : breaks) count += row.calls;
  return count;
}

ModuleReport::Fit RunReport::fit() const {
  ModuleReport whole = {.peak_bytes = peak.bytes, .target = target};
  // Undivided, the arrays take at most as many times what a chip takes as there are chips.
  if (target.has_value())
    whole.unfused.temporaries = SaturatedInteger(peak.bytes.high * static_cast<double>(target->count));
  return whole.fit();
}

bool RunReport::passed() const {
  const bool fits = fit() == ModuleReport::Fit::kFits || fit() == ModuleReport::Fit::kNoTarget;
  return void_because.empty() && fits && !ExceedsAny(findings);
}

bool RunReport::unknown() const {
  return void_because.empty() && fit() == ModuleReport::Fit::kUnknown && !ExceedsAny(findings);
}

int64_t RunReport::recompiles() const {
  return std::count_if(programs.begin(), programs.end(),
                       [](const RunProgram& program) { return !program.recompiled.empty(); });
}

bool RunReport::incomplete(int64_t steps_wanted) const {
  return !stopped_why.empty() && steps < std::max<int64_t>(1, steps_wanted);
}

Budget ValuesOf(const RunReport& report) {
  Budget values = {{"peak_bytes", report.peak.bytes.low},
                   {"traffic_bytes", report.traffic.low},
                   {"flops", report.flops},
                   {"upload_bytes", static_cast<double>(report.upload_bytes)},
                   {"upload_calls", static_cast<double>(report.upload_calls)},
                   {"download_bytes", static_cast<double>(report.download_bytes)},
                   {"download_calls", static_cast<double>(report.download_calls)},
                   {"compiles", static_cast<double>(report.programs.size())},
                   {"recompiles", static_cast<double>(report.recompiles())},
                   {"executes", static_cast<double>(report.executes)},
                   {"host_waits", static_cast<double>(report.download_calls)}};
  // A program that marks no steps shows no breaks, whether it has any or not.
  if (!report.breaks.empty() || report.step_program.empty())
    values["graph_breaks"] = static_cast<double>(report.graph_breaks());
  if (report.target.has_value()) values["step_seconds"] = report.step_seconds.low;
  if (report.network.has_value()) {
    values["network_bytes"] = report.network->bytes;
    values["network_us"] = report.network->seconds * 1e6;
  }
  return values;
}

absl::StatusOr<RunReport> FollowRun(const std::vector<PreflightLog>& sessions,
                                    const std::optional<Target>& target, const Budget& budget,
                                    const std::optional<NetworkTotals>& network) {
  RunReport report;
  report.target = target;
  report.budget = budget;
  report.network = network;
  Follower follower(report);
  for (const PreflightLog& record : sessions) {
    ++report.sessions;
    RETURN_IF_ERROR(follower.Follow(record));
  }
  SortRows(report.transfers);
  SortRows(report.breaks);
  ASSIGN_OR_RETURN(report.findings, Compare(budget, ValuesOf(report)));
  return report;
}

}  // namespace hlod::analysis
