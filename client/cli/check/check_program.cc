// hloctl check -- PROGRAM: prints what a program would need, from a run without its large arrays.
#include "client/cli/check/check_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "client/analysis/preflight/divided_programs.h"
#include "client/analysis/preflight/preflight.h"
#include "client/analysis/preflight/verdict.h"
#include "client/cli/check/check_mesh.h"
#include "client/cli/print/analysis_json.h"
#include "client/cli/print/table.h"
#include "client/partition/mesh.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/system/temporary_folder.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/shardy.h"
#include "hlod/testing.h"

extern char** environ;

namespace hlod::cli {
namespace {

using analysis::RunReport;

// While an instance exists, Ctrl-C ends the program alone: this process still has to stop the daemon and
// remove the folder.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &before_);
  }
  ~IgnoredInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;

 private:
  struct sigaction before_ = {};
};

// Runs the program until it ends. Returns its exit code, or the negative number of the signal that ended it.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& words, const std::string& abstract,
                               bool output_to_stderr) {
  std::vector<std::string> variables = {"HLOD_ABSTRACT=" + abstract};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("HLOD_ABSTRACT=")) variables.emplace_back(*variable);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };
  std::vector<std::string> arguments = words;
  const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output_to_stderr) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::fflush(nullptr);
  const IgnoredInterrupt interrupt;
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0].c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return NotFound("The program %s cannot be run: %s.", words[0], std::strerror(error));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Internal("The program %s was lost: %s.", words[0], std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

absl::StatusOr<std::vector<analysis::PreflightLog>> ReadRecords(const std::string& folder) {
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> files;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder))
    files.emplace_back(entry.last_write_time(), entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<analysis::PreflightLog> records;
  for (const auto& [time, path] : files) {
    ASSIGN_OR_RETURN(records.emplace_back(), analysis::ReadPreflightLog(path));
  }
  return records;
}

Json LinesJson(const std::vector<analysis::RunLine>& rows) {
  Json list = Json::array();
  for (const analysis::RunLine& row : rows)
    list.push_back(
        {{"cause", row.cause}, {"line", ShortText(row.line)}, {"bytes", row.bytes}, {"calls", row.calls}});
  return list;
}

Json RunReportJson(const RunReport& report) {
  Json programs = Json::array();
  for (const analysis::RunProgram& program : report.programs) {
    programs.push_back({{"name", program.report.name},
                        {"line", ShortText(program.line)},
                        {"instructions", program.report.instructions},
                        {"flops", program.report.cost.total.flops},
                        {"recompiled", program.recompiled},
                        {"runs", program.runs}});
  }
  Json parts = Json::object(), largest = Json::array();
  for (size_t part = 0; part < analysis::kParts; ++part)
    parts[std::string(Name(static_cast<analysis::Part>(part)))] = report.peak.parts[part];
  for (const analysis::RunArray& array : report.peak.largest) {
    largest.push_back({{"part", Name(array.part)},
                       {"name", array.name},
                       {"line", ShortText(array.line)},
                       {"shape", array.shape},
                       {"bytes", array.bytes}});
  }
  Json json = {{"program", report.program},
               {"sessions", report.sessions},
               {"devices", report.devices},
               {"steps", report.steps},
               {"step_program", report.step_program},
               {"recompiles", report.recompiles()},
               {"executes", report.executes},
               {"programs", std::move(programs)},
               {"upload_bytes", report.upload_bytes},
               {"upload_calls", report.upload_calls},
               {"unsent_bytes", report.unsent_bytes},
               {"download_bytes", report.download_bytes},
               {"download_calls", report.download_calls},
               {"transfers", LinesJson(report.transfers)},
               {"graph_breaks", LinesJson(report.breaks)},
               {"refused", LinesJson(report.refused)},
               {"stand_ins", report.stand_ins},
               {"stopped_at", ShortText(report.stopped_at)},
               {"stopped_why", report.stopped_why},
               {"flops", report.flops},
               {"traffic_bytes", ToJson(report.traffic)},
               {"peak_bytes", ToJson(report.peak.bytes)},
               {"peak_parts", std::move(parts)},
               {"peak_program", report.peak.program},
               {"peak_line", ShortText(report.peak.line)},
               {"peak_step", report.peak.step},
               {"largest", std::move(largest)},
               {"arrays", report.peak.arrays},
               {"simulated_peak_bytes", report.simulated_peak_bytes},
               {"fit", Name(report.fit())},
               {"findings", ToJson(report.findings)},
               {"passed", report.passed()},
               {"text", ToText(report)}};
  if (report.target.has_value()) {
    json["target"] = ToJson(*report.target);
    json["step_seconds"] = ToJson(report.step_seconds);
    if (report.target->count > 1) json["likely_bytes"] = ToJson(report.peak.likely);
  }
  return json;
}

// The programs that the text shows what they exchange; --json has all.
constexpr size_t kDividedShown = 3;

std::string ToText(const std::vector<analysis::DividedProgram>& divided) {
  std::string text;
  for (size_t i = 0; i < std::min(divided.size(), kDividedShown); ++i) {
    const analysis::MeshReport& report = divided[i].report;
    absl::StrAppend(&text, "on the mesh ", partition::MeshText(report.mesh), ", one run of ",
                    report.device.name, " (of ", divided[i].runs, "):\n", ExchangeText(report));
  }
  return text;
}

Json RunReportJson(const RunReport& report, const std::vector<analysis::DividedProgram>& divided) {
  Json json = RunReportJson(report);
  Json programs = Json::array();
  for (const analysis::DividedProgram& program : divided) {
    Json row = {{"name", program.report.device.name}, {"runs", program.runs}};
    AddMesh(program.report, row);
    programs.push_back(std::move(row));
  }
  json["divided"] = std::move(programs);
  if (report.network.has_value()) {
    json["network_bytes"] = report.network->bytes;
    json["network_us"] = report.network->seconds * 1e6;
  }
  return json;
}

// Returns an error when the run failed or measured nothing; OK when its verdict counts.
absl::Status CheckRun(const std::string& program, int code, const RunReport& report) {
  const std::string after =
      report.sessions == 0 ? "before it connected" : absl::StrFormat("after %d steps", report.steps);
  if (code < 0) return Aborted("The program %s was ended by signal %d %s.", program, -code, after);
  if (code != 0) return Aborted("The program %s ended with exit code %d %s.", program, code, after);
  if (report.sessions == 0) {
    return FailedPrecondition(
        "The program %s never connected to the daemon. A JAX or PyTorch/XLA program needs the package hlod in its "
        "Python and JAX_PLATFORMS=hlod (PJRT_DEVICE=HLOD for PyTorch/XLA); a C++ program must use libhlod "
        "(Client::Connect(), DefaultDevice()).",
        program);
  }
  if (!report.failures.empty()) {
    return FailedPrecondition("The program %s ran, but the daemon refused one of its commands: %s", program,
                              report.failures.front());
  }
  if (report.executes == 0 && report.stopped_why.empty())
    return FailedPrecondition("The program %s connected and never ran anything.", program);
  if (report.steps == 0 && report.stopped_why.empty()) {
    return FailedPrecondition(
        "The program %s never ended a step: it called neither Sync() nor, between executes, StepMark(). "
        "Costs are measured per step: call hlod::Sync() at the end of each.",
        program);
  }
  return absl::OkStatus();
}

// Prints the report, writes the files that the options name, and returns the verdict.
absl::StatusOr<CheckOutcome> Conclude(const CommonOptions& common, const CheckOptions& options,
                                      const std::string& program, const RunReport& report,
                                      const std::vector<analysis::DividedProgram>& divided) {
  // A run that stopped early does not measure the whole program.
  const bool incomplete = report.incomplete(options.steps);
  if (options.update_budget && !incomplete)
    RETURN_IF_ERROR(analysis::UpdateBudget(options.budget, ValuesOf(report)));
  if (options.update_budget && incomplete) {
    ShowError(absl::StrCat("hloctl: ", options.budget, " was not written: the run stopped after ",
                           report.steps, " steps, which do not measure the whole program.\n"));
  }
  if (common.json) Show(Dump(RunReportJson(report, divided)) + "\n");
  else Show(ToText(report) + ToText(divided));
  const std::vector<analysis::CheckResult> verdicts = analysis::VerdictsOf(report, options.steps);
  // The suite's name omits the process's id, which would make every run another suite.
  const std::string suite = std::filesystem::path(program).filename().string();
  if (!options.junit.empty()) RETURN_IF_ERROR(WriteFile(options.junit, ToJUnit(suite, verdicts)));
  if (options.github) ShowError(ToGithub(suite, verdicts, options.workspace));
  if (report.unknown()) return CheckOutcome::kUnknown;
  if (!report.passed()) return CheckOutcome::kFailed;
  return incomplete ? CheckOutcome::kIncomplete : CheckOutcome::kPassed;
}

}  // namespace

namespace {

// Returns the number of devices that the recorded programs were divided among by a mesh of theirs; 1 when
// they were not.
absl::StatusOr<int64_t> DevicesOfMesh(const std::vector<analysis::PreflightLog>& sessions) {
  int64_t devices = 1;
  for (const analysis::PreflightLog& session : sessions) {
    for (const v1::PreflightEvent& event : session.events) {
      if (!event.has_program()) continue;
      ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, hlo::FromSerialized(event.program().module()));
      if (hlo::IsShare(*module)) devices = std::max<int64_t>(devices, module->config.partition_count);
    }
  }
  return devices;
}

// Returns the target that a run's figures are compared with: those of a program that XLA divided are one
// chip's already. FAILED_PRECONDITION when its mesh has another number of devices than the target.
absl::StatusOr<std::optional<analysis::Target>> TargetOfRun(std::optional<analysis::Target> target,
                                                            int64_t devices, const std::string& program) {
  if (!target.has_value() || devices == 1) return target;
  if (target->count != 1 && target->count != devices) {
    return FailedPrecondition("The program %s divides its tensors among %d devices; --target has %d chips.",
                              program, devices, target->count);
  }
  target->count = 1;
  target->shape.clear();
  return target;
}

// Follows a run. A program that XLA divided among devices is judged by what one of them does.
absl::StatusOr<RunReport> FollowOnAChip(const std::vector<analysis::PreflightLog>& sessions,
                                        const std::string& program,
                                        const std::optional<analysis::Target>& target,
                                        const analysis::Budget& budget,
                                        const std::vector<analysis::DividedProgram>& divided) {
  ASSIGN_OR_RETURN(const int64_t devices, DevicesOfMesh(sessions));
  ASSIGN_OR_RETURN(const std::optional<analysis::Target> chip, TargetOfRun(target, devices, program));
  ASSIGN_OR_RETURN(RunReport report,
                   analysis::FollowRun(sessions, chip, budget, analysis::NetworkOfStep(divided)));
  report.devices = devices;
  return report;
}

// Returns the target whose network joins the devices of a run's mesh; nullopt when there is none.
std::optional<analysis::Target> NetworkTargetOf(std::optional<analysis::Target> target, int64_t devices) {
  if (!target.has_value() || target->count != devices) return std::nullopt;
  return target;
}

// Returns the name of the program that was recorded, without its process.
std::string_view RecordedProgram(const std::vector<analysis::PreflightLog>& sessions) {
  const std::vector<v1::PreflightEvent>& events = sessions.front().events;
  if (events.empty() || !events[0].has_begin()) return "program";
  const std::string_view name = events[0].begin().program();
  return name.substr(0, name.find(" pid "));
}

}  // namespace

absl::StatusOr<CheckOutcome> CheckProgram(const CommonOptions& common, const CheckOptions& options,
                                          const std::optional<analysis::Target>& target,
                                          const analysis::Budget& budget) {
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("hloctl-run"));
  const std::string records = folder.path() + "/records";
  std::filesystem::create_directory(records);
  // A placeholder may be of any size, so the limit on buffers is out of the way.
  testing::DaemonOptions daemon_options;
  daemon_options.flags = {"--log-level", "warn", "--buffer-bytes-max", std::to_string(int64_t{1} << 50)};
  // The largest number of devices that the program's mesh may have.
  constexpr int64_t kDevicesMax = 1024;
  const int64_t chips = target.has_value() ? std::clamp<int64_t>(target->count, 1, kDevicesMax) : 1;
  const int64_t available = options.devices > 0 ? options.devices : chips;
  for (const std::string& flag : {std::string("--devices"), std::to_string(available)})
    daemon_options.flags.push_back(flag);
  ASSIGN_OR_RETURN(const testing::Daemon daemon, testing::Daemon::Start(daemon_options));
  std::string abstract = absl::StrCat("address=", daemon.address(), ",log=", records);
  if (options.steps > 0) absl::StrAppend(&abstract, ",steps=", options.steps);
  if (!options.stand_in.empty()) absl::StrAppend(&abstract, ",stand_in=", options.stand_in);
  ASSIGN_OR_RETURN(const int code, RunProgram(options.program, abstract, common.json));
  ASSIGN_OR_RETURN(const std::vector<analysis::PreflightLog> sessions, ReadRecords(records));
  ASSIGN_OR_RETURN(const int64_t devices, DevicesOfMesh(sessions));
  ASSIGN_OR_RETURN(const std::vector<analysis::DividedProgram> divided,
                   analysis::DividedProgramsOf(sessions, NetworkTargetOf(target, devices)));
  ASSIGN_OR_RETURN(RunReport report, FollowOnAChip(sessions, options.program[0], target, budget, divided));
  const absl::Status counts = CheckRun(options.program[0], code, report);
  if (!counts.ok()) {
    report.void_because = std::string(FromAbsl(counts.message()));
    if (!common.json && report.executes > 0) Show(ToText(report));
    if (options.update_budget) ShowError(absl::StrCat("hloctl: ", options.budget, " was not written.\n"));
    return counts;
  }
  return Conclude(common, options, options.program[0], report, divided);
}

absl::StatusOr<CheckOutcome> CheckLogs(const CommonOptions& common, const CheckOptions& options,
                                       const std::optional<analysis::Target>& target,
                                       const analysis::Budget& budget) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.preflight, error))
    return NotFound("--preflight names a folder of logs; %s is none.", options.preflight);
  ASSIGN_OR_RETURN(const std::vector<analysis::PreflightLog> sessions, ReadRecords(options.preflight));
  if (sessions.empty()) return NotFound("The folder %s has no preflight log.", options.preflight);
  const std::string program(RecordedProgram(sessions));
  ASSIGN_OR_RETURN(const std::vector<analysis::DividedProgram> divided,
                   analysis::DividedProgramsOf(sessions, std::nullopt));
  ASSIGN_OR_RETURN(RunReport report, FollowOnAChip(sessions, program, target, budget, divided));
  if (!report.failures.empty())
    report.void_because = absl::StrCat("the daemon refused a command: ", report.failures.front());
  return Conclude(common, options, program, report, divided);
}

}  // namespace hlod::cli
