// hloctl profile: the time of each step of a module's plan, beside what the machine could reach.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "client/cli/run/participants.h"
#include "client/cli/run/run_program.h"
#include "common/base/errors/status.h"
#include "common/base/step_kinds.h"

namespace hlod::cli {
namespace {

// Returns the profile whose times are means over the middle half of the runs, by their time: its steps then
// add up to no more than its run, which medians of each would not, and no interrupted run is in it.
ExecuteProfile MeanOfMiddleHalf(std::vector<ExecuteProfile> runs) {
  std::sort(runs.begin(), runs.end(),
            [](const ExecuteProfile& a, const ExecuteProfile& b) { return a.run_ns < b.run_ns; });
  const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 4);
  const auto end = runs.end() - static_cast<std::ptrdiff_t>(runs.size() / 4);
  ExecuteProfile profile;
  // A position in the plan may have several rows, such as the copies of a loop's values.
  std::map<std::pair<int64_t, int>, StepProfile> steps;
  for (auto run = begin; run != end; ++run) {
    std::map<int64_t, int> seen;
    for (const StepProfile& step : run->steps) {
      StepProfile& row = steps[{step.index, seen[step.index]++}];
      const int64_t before = row.ns;
      row = step;
      row.ns += before;
    }
    profile.run_ns += run->run_ns;
    profile.other_ns += run->other_ns;
    profile.other_steps = std::max(profile.other_steps, run->other_steps);
  }
  const std::ptrdiff_t count = std::max<std::ptrdiff_t>(1, end - begin);
  for (auto& [key, row] : steps) {
    row.ns /= count;
    profile.steps.push_back(std::move(row));
  }
  profile.run_ns /= count;
  profile.other_ns /= count;
  return profile;
}

double Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

// Returns the part of the machine's speed that a step reaches; nullopt when this cannot be told.
std::optional<double> Roofline(const StepProfile& step, const ExecuteProfile& profile) {
  if (!profile.machine.has_value() || step.ns == 0) return std::nullopt;
  return LeastSeconds(step, *profile.machine) * static_cast<double>(step.runs) * 1e9 /
         static_cast<double>(step.ns);
}

int64_t BetweenNs(const ExecuteProfile& profile) {
  int64_t ns = profile.run_ns - profile.other_ns;
  for (const StepProfile& step : profile.steps) ns -= step.ns;
  return std::max<int64_t>(0, ns);
}

int64_t KindNs(const ExecuteProfile& profile, std::string_view kind) {
  int64_t ns = 0;
  for (const StepProfile& step : profile.steps) ns += step.kind == kind ? step.ns : 0;
  return ns;
}

double ShareOf(int64_t ns, const ExecuteProfile& profile) {
  return profile.run_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(profile.run_ns);
}

std::string Percent(double part) { return absl::StrFormat("%.1f%%", 100 * part); }

std::string Flops(double flops) {
  if (flops < 1e3) return absl::StrFormat("%.0f", flops);
  if (flops < 1e6) return absl::StrFormat("%.1fk", flops / 1e3);
  return flops < 1e9 ? absl::StrFormat("%.1fM", flops / 1e6) : absl::StrFormat("%.2fG", flops / 1e9);
}

void PrintMachine(const ExecuteProfile& profile) {
  if (!profile.machine.has_value()) {
    Show("machine: not measured (a program of several participants, or no free device memory)\n");
    return;
  }
  const MachineSpeed& machine = *profile.machine;
  const std::string copies =
      absl::StrJoin(machine.copies, ", ", [](std::string* out, const MachineSpeed::Copy& copy) {
        absl::StrAppendFormat(out, "%.1f GB/s in %s", copy.bytes_per_second / 1e9, Bytes(copy.bytes));
      });
  Show(absl::StrFormat("machine: %d threads with %s, %.1f GFLOP/s of f32 multiply-adds; copies of %s\n",
                       machine.threads, machine.cpu_level, machine.f32_flops / 1e9, copies));
}

void PrintSteps(const ExecuteProfile& profile, size_t limit) {
  std::vector<const StepProfile*> longest;
  for (const StepProfile& step : profile.steps) longest.push_back(&step);
  std::stable_sort(longest.begin(), longest.end(),
                   [](const StepProfile* a, const StepProfile* b) { return a->ns > b->ns; });
  const auto total = static_cast<int64_t>(longest.size()) + profile.other_steps;
  longest.resize(std::min(longest.size(), limit));
  Table table({"step", "us", "share", "runs", "kind", "bytes", "flops", "roofline", "what", "lines"});
  for (const StepProfile* step : longest) {
    const std::optional<double> roofline = Roofline(*step, profile);
    table.Add({N(step->index), absl::StrFormat("%.1f", Us(step->ns)), Percent(ShareOf(step->ns, profile)),
               N(step->runs), step->kind, Bytes(static_cast<int64_t>(step->bytes)), Flops(step->flops),
               roofline.has_value() ? Percent(*roofline) : "-", step->text, absl::StrJoin(step->lines, " ")});
  }
  table.Print();
  PrintTotal(longest.size(), total);
}

void PrintKinds(const ExecuteProfile& profile) {
  Table table({"kind", "us", "share"});
  const auto add = [&](const std::string& name, int64_t ns) {
    if (ns > 0) table.Add({name, absl::StrFormat("%.1f", Us(ns)), Percent(ShareOf(ns, profile))});
  };
  for (const std::string_view kind : kStepKinds) add(std::string(kind), KindNs(profile, kind));
  add("not listed", profile.other_ns);
  add("between steps", BetweenNs(profile));
  table.Print();
}

Json StepToJson(const StepProfile& step, const ExecuteProfile& profile) {
  Json json = {{"index", step.index}, {"kind", step.kind},
               {"text", step.text},   {"type", step.type},
               {"lines", step.lines}, {"runs", step.runs},
               {"us", Us(step.ns)},   {"bytes", step.bytes},
               {"flops", step.flops}, {"share", ShareOf(step.ns, profile)}};
  if (const std::optional<double> roofline = Roofline(step, profile)) json["roofline"] = *roofline;
  return json;
}

Json ProfileToJson(const ExecuteProfile& profile) {
  Json json = {{"run_us", Us(profile.run_ns)}};
  if (profile.machine.has_value()) {
    Json copies = Json::array();
    for (const MachineSpeed::Copy& copy : profile.machine->copies)
      copies.push_back({{"bytes", copy.bytes}, {"bytes_per_second", copy.bytes_per_second}});
    json["machine"] = {{"threads", profile.machine->threads},
                       {"cpu_level", profile.machine->cpu_level},
                       {"f32_flops", profile.machine->f32_flops},
                       {"copies", std::move(copies)}};
  }
  Json steps = Json::array();
  for (const StepProfile& step : profile.steps) steps.push_back(StepToJson(step, profile));
  json["steps"] = std::move(steps);
  json["other_steps"] = profile.other_steps;
  json["other_us"] = Us(profile.other_ns);
  json["between_us"] = Us(BetweenNs(profile));
  for (const std::string_view kind : kStepKinds) json["kinds"][std::string(kind)] = Us(KindNs(profile, kind));
  return json;
}

// Runs the program once, and then as often as the options say; the first run warms up and is not counted.
absl::StatusOr<ExecuteProfile> Measure(const Client& client, const Module& module,
                                       const Executable& executable, const RunOptions& options,
                                       const Caller& caller) {
  ASSIGN_OR_RETURN(Participants participants, Participants::Make(client, module, executable, options));
  ExecuteOptions execute;
  execute.device = options.device;
  execute.deadline = absl::Seconds(options.deadline_seconds);
  std::vector<ExecuteProfile> runs;
  std::optional<MachineSpeed> machine;
  for (int i = 0; i <= options.repeat; ++i) {
    RETURN_IF_ERROR(participants.Open(caller));
    const bool first = i == 0;
    ASSIGN_OR_RETURN(ExecuteProfile run,
                     executable.Profile(participants.arguments(), execute, first, caller));
    if (first) machine = std::move(run.machine);
    else runs.push_back(std::move(run));
    RETURN_IF_ERROR(participants.CheckGiven());
  }
  ExecuteProfile profile = MeanOfMiddleHalf(std::move(runs));
  profile.machine = std::move(machine);
  return profile;
}

}  // namespace

absl::Status ProfileModule(const CommonOptions& common, const ProfileOptions& options) {
  const RunOptions& run = options.run;
  ASSIGN_OR_RETURN(const ReadOptions read, ReadOptionsOf(run));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(run.module, read));
  RETURN_IF_ERROR(CheckSizes(*module, run));
  ASSIGN_OR_RETURN(const Client client, Client::Connect(common.connect));
  const ClosedAtEnd close(client);
  const Caller module_file{.file = run.module.c_str()};
  CompileOptions compile_options;
  compile_options.describe = true;
  ASSIGN_OR_RETURN(const Executable executable, client.Compile(*module, compile_options, module_file));
  ASSIGN_OR_RETURN(const CompileResult compiled, executable.Describe(module_file));
  RETURN_IF_ERROR(CheckDevices(client, *module, executable));
  RETURN_IF_ERROR(CheckArguments(client, *module, executable));
  ASSIGN_OR_RETURN(const ExecuteProfile profile, Measure(client, *module, executable, run, module_file));
  if (common.json) {
    Json json = {{"module", module->name()},
                 {"daemon", client.daemon()},
                 {"device", run.device},
                 {"persistent", compiled.persistent},
                 {"runs", run.repeat}};
    json.update(ProfileToJson(profile));
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Show(absl::StrFormat("%s: %d runs, %.1f us (the mean of the middle half)\n", module->name(), run.repeat,
                       Us(profile.run_ns)));
  PrintMachine(profile);
  if (compiled.persistent)
    Show("lines: none, because the plan is from the compile cache of an earlier daemon (--compile-cache)\n");
  PrintSteps(profile, static_cast<size_t>(options.limit));
  PrintKinds(profile);
  return absl::OkStatus();
}

}  // namespace hlod::cli
