// hloctl: runs HLO modules on a daemon, and shows what a daemon holds and has done.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/json.h"
#include "client/cli/reports.h"
#include "client/cli/table.h"
#include "common/base/error.h"
#include "common/base/file.h"

namespace {

// Exit codes.
constexpr int kDone = 0;
constexpr int kRefused = 1;     // The daemon, the program on it, or a file refused.
constexpr int kUsage = 2;       // The command line is wrong.
constexpr int kNoDaemon = 3;    // There is no daemon, or it ended.
constexpr int kFailed = 4;      // The checked module or program did not pass.
constexpr int kIncomplete = 5;  // The checked program stopped too early to pass.

constexpr char kFooter[] = R"(
hloctl connects to the daemon at --address, else at $HLOD_ADDRESS, else to the user's running daemon; `run`,
`replay` and `ping` start a private one when there is none. `check`, `check-module`, `convert` and
`graphs --from-torch-xla` do not need a daemon.

Exit codes:
  0  Done.
  1  The daemon refused, or a file or the output could not be read or written, or a module is not well-formed.
     For `check -- PROGRAM` also: the program could not be run, ended with another exit code than 0, never
     connected, or never ended a step.
  2  The command line is wrong.
  3  There is no daemon, or it ended.
  4  The module or program that `check` checks exceeds its budget or does not fit its target.
  5  The program that `check` ran asked for a value that does not exist before the end of its first step, or of
     step --steps, and nothing failed before that.

JSON keys (--json; sizes in bytes, times in microseconds):
  amount       bytes calls
  origin       file line function
  session part host_to_device device_to_host device_to_device (amounts) compiles compile_cache_hits
               persistent_cache_hits compile_us executes execute_us queue_us refused_reads failed_commands
               live_bytes peak_bytes live_buffers placeholders simulated_live_bytes simulated_peak_bytes
               program_bytes inline_argument_bytes aborted_bytes replayed_commands rows (transfers)
  run          module daemon device compile{digest cached persistent compile_us argument_bytes output_bytes
               alias_bytes temporary_bytes steps reference_steps reference_opcodes} run{count min_us median_us max_us}
               results[index shape placeholder (file | value)] stats (a session part)
  replay       recording client complete commands failed not_read recorded_us replayed_us programs (the sum of compiles and
               cache hits) stats (a session part)
  convert      module computations instructions parameters result (shapes) file bytes
  check-module module computations instructions parameters result (shapes)
  check        module instructions cost cost_once (flops transcendentals bytes; of all iterations of a loop, or of one)
               costliest[name op_name source shape flops] unknown_loops unknown_calls fused unfused (total_bytes argument_bytes result_bytes alias_bytes temporary_bytes
               at largest[kind name op_name source last_use shape bytes]) peak_bytes{low high} traffic_bytes{low high}
               fit findings[metric value limit over text] passed text, with --target: target{chip count usable_bytes}
               step_seconds{low high}, on several chips: likely_bytes{low high}
  check -- ... program sessions steps executes programs[name line instructions flops runs] upload_bytes upload_calls
               unsent_bytes download_bytes download_calls transfers[cause line bytes calls] graph_breaks[cause line
               bytes calls] stand_ins stopped_at stopped_why flops traffic_bytes{low high} peak_bytes{low high}
               peak_parts{weights gradients "optimizer state" inputs activations other} peak_program peak_line peak_step
               largest[part name line shape bytes] arrays simulated_peak_bytes fit findings passed text target step_seconds
               likely_bytes (as of a module); the program's own output goes to stderr
  graphs --from-torch-xla
               graphs[hash name made_by cause{text break advice} at{file line function} nodes inputs outputs compiles
               executions sizes] lazy_graphs dynamo_graphs places[at cause graphs compiles executions]
               recompiles[at name from to difference[added line]] unexpected_executions compile execute (count seconds)
               cache_hits cache_misses syncs host_to_device device_to_host (calls bytes seconds)
               fallbacks[operator calls] advice problems; null: no dump says it
  report       run totals memory transfers graphs compiles programs chip (see client/report/report.h)
  devices      devices[ordinal kind capacity_bytes used_bytes peak_bytes temporary_bytes buffers placeholders
               queued_executes cpu_features]
  buffers      buffers[session handle device shape bytes state origin] total
  executables  executables[digest name instructions steps fused_steps library_steps movement_steps
               reference_steps reference_opcodes slow_steps temporary_bytes compile_us executes execute_us sessions]
  sessions     sessions[session client pid state age_us stats (a session part)]
  transfers    transfers[cause direction bytes calls origin step session device] total
  transfers --by  by transfers[key host_to_device device_to_host device_to_device (amounts)] host_to_device
               device_to_host device_to_device (amounts of all rows)
  compiles     compiles[session program digest origin step reason why outcome at_us compile_us instructions
               program_bytes code_bytes argument_bytes output_bytes alias_bytes temporary_bytes count others] total
  graphs       by graphs[key program executes queue run {min_us max_us sum_us} peak_bytes] executes execute_us
  graphs RUN   graphs[program name cause origin nodes inputs outputs compiles cache_hits executes compile queue
               execute {total_us mean_us min_us max_us} host_to_device_bytes device_to_host_bytes number_bytes] breaks[stage
               cause operation origin value times host_to_device_bytes device_to_host_bytes held_bytes
               host_to_device_calls device_to_host_calls fusion_lost_bytes times_us saves_graphs saves_executes saves_us
               remedy] recompiles[reason why program nearest origin step
               compile_us] steps compiles cache_hits executes host_to_device device_to_host times wall_us
  top          one document per frame: stats (as below) devices sessions (as above) programs (as graphs)
  stats        version epoch pid uptime_us sessions sessions_ended host_memory_bytes side_memory_bytes
               side_memory_bytes_max resident_bytes wire_bytes_in wire_bytes_out totals (a session part)
  ping         daemon address count min_us median_us max_us
  an error     error{code kind message handle shape}; also for a wrong command line
A result's `value` is nested lists, one level per dimension, of numbers: of true and false for pred, of
[real, imaginary] for complex types. JSON has no NaN and no infinity: they are "nan", "inf" and "-inf". A result
of more than 1000 elements has no `value`: --output writes results of any size to files.

.npy files: bf16 and f8 types travel as raw bits (uint16, uint8), sub-byte integers as int8 and uint8.)";

// Prints an error to stderr for people, and with --json to stdout, too. Returns the exit code.
int Report(const absl::Status& status, bool json) {
  if (status.ok()) return kDone;
  const hlod::ErrorDetails error = hlod::ErrorOf(status);
  if (json) hlod::cli::Show(hlod::cli::Dump(hlod::cli::ErrorToJson(status)) + "\n");
  hlod::cli::ShowError("hloctl: " + error.text + "\n");
  if (hlod::cli::IsUsageError(status)) return kUsage;
  const bool gone = error.kind == hlod::ErrorKind::kLostSession || error.kind == hlod::ErrorKind::kDraining ||
                    status.code() == absl::StatusCode::kUnavailable;
  return gone ? kNoDaemon : kRefused;
}

// Returns what is wrong with the command line, in a sentence.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  if (app.get_subcommands().empty()) {
    for (const std::string& word : app.remaining()) {
      if (!word.starts_with('-')) return "There is no command \"" + word + "\"; `hloctl --help` lists them.";
    }
  }
  return std::string(error.what()) + "\nRun with --help for more information.";
}

// Reads the PEM file that an option names into `text`.
absl::Status ReadOption(const char* option, const CLI::Option& given, const std::string& path,
                        std::string& text) {
  if (given.count() == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> bytes = hlod::ReadFile(path);
  if (!bytes.ok()) return hlod::cli::UsageError(absl::StrCat(option, ": ", bytes.status().message()));
  if (bytes->empty()) return hlod::cli::UsageError(absl::StrCat(option, ": file ", path, " is empty."));
  text = *bytes;
  return absl::OkStatus();
}

bool HasFlag(int argc, char** argv, const std::string& flag) {
  return std::any_of(argv + 1, argv + argc, [&](const std::string argument) {
    return argument == flag || argument.starts_with(flag + "=");
  });
}

// Reads the token from its file. A flag precedes an environment variable, and of two variables the file's
// precedes.
absl::Status ReadTokenFile(int argc, char** argv, const CLI::Option& given, const std::string& path,
                           std::string& token) {
  const bool named = HasFlag(argc, argv, "--token");
  if (named && HasFlag(argc, argv, "--token-file"))
    return hlod::cli::UsageError("--token-file excludes --token.");
  if (given.count() == 0 || named) return absl::OkStatus();
  const absl::StatusOr<std::string> secret = hlod::ReadSecretFile(path);
  if (!secret.ok()) return hlod::cli::UsageError(absl::StrCat("--token-file: ", secret.status().message()));
  token = *secret;
  return absl::OkStatus();
}

// Accepts whole numbers from `least` on. Text that is not a number is reported by the option's conversion.
CLI::Validator AtLeast(int64_t least) {
  return CLI::Validator(
      [least](std::string& text) {
        int64_t number = 0;
        if (!absl::SimpleAtoi(text, &number) || number >= least) return std::string();
        return text + " is less than " + std::to_string(least);
      },
      "", "AtLeast");
}

std::string CheckSeconds(const std::string& text) {
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds) && seconds >= 0) return "";
  return text + " is not a number of seconds";
}

// `program` holds the words after `--`, for check.
int Main(int argc, char** argv, const std::vector<std::string>& program, bool json) {
  using namespace hlod;
  using namespace hlod::cli;
  CLI::App app(
      "Runs HLO and StableHLO modules on hlod, the XLA device daemon, and shows what the daemon holds and "
      "has done.",
      "hloctl");
  app.require_subcommand(1);
  app.set_version_flag("--version", "hloctl " HLOD_VERSION);
  app.footer(kFooter);
  app.fallthrough();

  CommonOptions common;
  std::string ca_file, certificate_file, key_file, token_file;
  app.add_option("--address", common.connect.address, "Address of the daemon: unix:PATH or HOST:PORT");
  app.add_flag("--json", common.json, "Print JSON");
  std::string record;
  app.add_option("--record", record,
                 "Record the session's commands into this file, without the contents of tensors");
  CLI::Option* const token =
      app.add_option("--token-file", token_file,
                     "File with the token for a daemon that requires one; no other user "
                     "may be able to read it")
          ->envname("HLOD_TOKEN_FILE");
  app.add_option("--token", common.connect.token,
                 "The token itself, visible to everybody in the list of processes")
      ->envname("HLOD_TOKEN");
  CLI::Option* const ca =
      app.add_option("--tls-ca", ca_file, "PEM file of the certificates to trust; turns TLS on");
  CLI::Option* const certificate =
      app.add_option("--tls-cert", certificate_file, "PEM file of the client's certificate");
  CLI::Option* const key = app.add_option("--tls-key", key_file, "PEM file of the client's key");

  const auto add_stablehlo = [](CLI::App* command, StablehloOptions& options) {
    command
        ->add_option("--size", options.sizes,
                     "N=8,3: sizes of argument N, where a StableHLO program leaves them open")
        ->allow_extra_args(false);
    command
        ->add_option("--value", options.values,
                     "N=4,8: integers in argument N, where sizes in a StableHLO program depend on them")
        ->allow_extra_args(false);
    command->add_option("--entry", options.entry, "Entry function of a StableHLO program, instead of @main");
  };
  RunOptions run;
  CLI::App* const run_command = app.add_subcommand("run", "Run a module");
  run_command->add_option("module", run.module, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  add_stablehlo(run_command, run.stablehlo);
  run_command
      ->add_option(
          "--arg", run.arguments,
          "Argument from a .npy FILE, in parameter order; N=FILE: for parameter N; M:N=FILE: for parameter N "
          "of participant M (a replica and partition) alone. Parameters without a file are zeros")
      ->allow_extra_args(false);
  run_command
      ->add_option(
          "--infeed", run.infeed,
          "Array from a .npy FILE for the program's next infeed; C=FILE: for its next recv of channel C from "
          "the host. Each run receives all of them")
      ->allow_extra_args(false);
  run_command
      ->add_option("--outfeed", run.outfeed,
                   "Print N values that the program outfeeds; C=N: N values that it sends to the host "
                   "through channel C")
      ->allow_extra_args(false);
  run_command->add_option(
      "--random", run.random_seed,
      "Fill parameters without a file with random values from this seed instead of zeros");
  run_command->add_option("--placeholder", run.placeholders, "Make parameter N a placeholder")
      ->allow_extra_args(false);
  run_command->add_flag("--abstract", run.abstract,
                        "Accept placeholders as arguments; results that depend on them become placeholders");
  run_command->add_option(
      "--output", run.output,
      "Write results to this folder as resultN.npy; for several participants, memberM.resultN.npy");
  run_command->add_option("--repeat", run.repeat, "Number of runs")->check(AtLeast(1))->capture_default_str();
  run_command->add_option("--device", run.device, "Ordinal of the device to run on")
      ->check(AtLeast(0))
      ->capture_default_str();
  run_command->add_option("--deadline", run.deadline_seconds, "Maximum seconds per run; 0: unlimited")
      ->check(CLI::Validator([](std::string& text) { return CheckSeconds(text); }, "", "Seconds"))
      ->capture_default_str();

  CheckOptions check;
  check.program = program;
  CLI::App* const check_command =
      app.add_subcommand("check",
                         "Estimate what a module costs and needs, without running it; or, after --, "
                         "what a program needs, run without its large arrays");
  check_command->add_option("module", check.module, "HLO (proto or text) or StableHLO (text or artifact)");
  add_stablehlo(check_command, check.stablehlo);
  check_command->add_option("--steps", check.steps, "End the program after N Sync()s")->check(AtLeast(1));
  check_command
      ->add_option(
          "--stand-in", check.stand_in,
          "Values for the program to read in place of those that do not exist: 0, 1 or random; without this "
          "option the program ends at such a read")
      ->check(CLI::IsMember({"0", "1", "random"}));
  check_command->add_option("--target", check.target,
                            "CHIP or CHIP:COUNT that the module or program should fit: v5p:128, h100, ...");
  check_command->add_option("--chips", check.chips,
                            "TOML file of further chips: [chips.NAME] with memory_bytes, "
                            "usable_bytes, bandwidth, flops, tiled");
  check_command->add_option("--budget", check.budget,
                            "TOML file of limits: peak_bytes = \"80GiB\", flops = 1e15, ...; the low end "
                            "of an estimated range is compared");
  check_command->add_flag("--update-budget", check.update_budget,
                          "Write the measured values into the --budget file instead of comparing with it");
  check_command->add_option("--junit", check.junit, "Write the verdicts to this file as JUnit XML");
  check_command->add_flag("--github", check.github, "Print annotations for GitHub Actions to stderr");
  check_command
      ->add_option("--workspace", check.workspace, "Folder that file names in annotations are relative to")
      ->envname("GITHUB_WORKSPACE");

  ConvertOptions convert;
  CLI::App* const convert_command = app.add_subcommand("convert", "Write a module in another form");
  convert_command->add_option("in", convert.input, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  convert_command
      ->add_option("out", convert.output,
                   "FILE.hlo or FILE.txt: HLO text; FILE.pb: HLO proto; FILE.mlir: StableHLO text")
      ->required();
  add_stablehlo(convert_command, convert.stablehlo);
  CheckFormOptions check_form;
  CLI::App* const check_form_command =
      app.add_subcommand("check-module", "Check that a module can be read and is well-formed");
  check_form_command
      ->add_option("module", check_form.module, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  add_stablehlo(check_form_command, check_form.stablehlo);

  ReplayOptions replay;
  CLI::App* const replay_command =
      app.add_subcommand("replay", "Run a recorded session again (HLOD_RECORD=FILE ./program records one)");
  replay_command->add_option("recording", replay.recording, "Recording to replay")->required();
  const std::map<std::string, ReplayData> replay_data = {{"zeros", ReplayData::kZeros},
                                                         {"random", ReplayData::kRandom},
                                                         {"placeholder", ReplayData::kPlaceholder}};
  replay_command
      ->add_option("--data", replay.data,
                   "Data in place of the contents of tensors: zeros, random, placeholder")
      ->transform(CLI::CheckedTransformer(replay_data));
  replay_command->add_flag("--incomplete", replay.allow_incomplete, "Accept an incomplete recording");

  ReportOptions report;
  CLI::App* const report_command =
      app.add_subcommand("report", "Write a run as a page (HLOD_RUN=FILE ./program records one)");
  report_command->add_option("run", report.run, "Run file to report on")->required();
  report_command->add_option("-o,--output", report.output, "Write the page to this HTML file");
  report_command->add_option("--trace", report.trace, "Write a trace for Perfetto to this file");
  report_command->add_option("--recording", report.recording,
                             "Recording (HLOD_RECORD) of the same run, for the costs of its programs");
  report_command->add_option("--target", report.target, "Draw the roofline of this CHIP: v5p, h100, ...");
  report_command->add_option("--chips", report.chips, "TOML file of further chips, as for check");
  report_command->add_flag("--incomplete", report.allow_incomplete, "Accept an incomplete run file");

  ListOptions list;
  CLI::App* const devices = app.add_subcommand("devices", "List the devices and their memory");
  CLI::App* const buffers = app.add_subcommand("buffers", "List the live buffers, largest first");
  CLI::App* const executables = app.add_subcommand("executables", "List the compiled programs");
  CLI::App* const sessions = app.add_subcommand("sessions", "List the sessions");
  CLI::App* const transfers = app.add_subcommand("transfers", "List the transfers in the ledger");
  CLI::App* const compiles =
      app.add_subcommand("compiles", "List what was compiled, and why it was not in the cache");
  CLI::App* const graphs = app.add_subcommand("graphs",
                                              "List the programs that ran, with their times; or the graphs "
                                              "that a program made, and where and why they "
                                              "end");
  std::vector<std::string> dumps;
  CLI::Option* const from_torch_xla = graphs->add_option(
      "--from-torch-xla", dumps,
      "Files that PyTorch/XLA wrote: XLA_SAVE_TENSORS_FILE, PT_XLA_DEBUG_FILE, XLA_METRICS_FILE");
  CLI::App* const stats = app.add_subcommand("stats", "Print the daemon's totals");
  transfers->add_option("--by", list.by, "Sum by line, step, cause, direction, name or session");
  graphs->add_option("--by", list.by, "Sum by program (the default), line, step or session")
      ->excludes(from_torch_xla);
  RunReportOptions run_report;
  CLI::Option* const run_file = graphs
                                    ->add_option("RUN", run_report.path,
                                                 "Run file ($HLOD_RUN) to report on in place of the daemon: "
                                                 "graphs, breaks with their cost, recompiles")
                                    ->excludes(from_torch_xla);
  graphs->add_flag("--incomplete", run_report.allow_incomplete, "Accept an incomplete run file")
      ->needs(run_file);
  TopOptions top;
  CLI::App* const top_command = app.add_subcommand("top", "Show what the daemon does, live");
  top_command->add_flag("--once", top.once, "Print one frame and exit");
  top_command->add_option("--seconds", top.seconds, "Seconds between two frames")
      ->check(CLI::Validator([](std::string& text) { return CheckSeconds(text); }, "", "Seconds"))
      ->capture_default_str();
  top_command->add_option("--frames", top.frames, "Exit after N frames; 0: run until interrupted")
      ->check(AtLeast(0))
      ->capture_default_str();
  for (CLI::App* const command : {buffers, transfers, compiles, graphs}) {
    command->add_option("--session", list.session, "List only this session's rows");
  }
  for (CLI::App* const command : {buffers, executables, sessions, transfers, compiles, graphs}) {
    command->add_option("--limit", list.limit, "Maximum number of rows")
        ->check(AtLeast(1))
        ->capture_default_str();
  }
  int count = 10;
  CLI::App* const ping = app.add_subcommand("ping", "Measure the wire's round trip");
  ping->add_option("--count", count, "Number of round trips")->check(AtLeast(1))->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version.
    return Report(UsageError(Explain(app, error)), json);
  }
  TlsOptions& tls = common.connect.tls;
  absl::Status status = ReadOption("--tls-ca", *ca, ca_file, tls.root_certificates);
  if (status.ok()) status = ReadOption("--tls-cert", *certificate, certificate_file, tls.certificate);
  if (status.ok()) status = ReadOption("--tls-key", *key, key_file, tls.key);
  if (status.ok()) status = ReadTokenFile(argc, argv, *token, token_file, common.connect.token);
  if (!status.ok()) return Report(status, json);
  common.connect.name = "hloctl";
  if (!record.empty()) setenv("HLOD_RECORD", record.c_str(), /*overwrite=*/1);

  if (run_command->parsed()) status = Run(common, run);
  if (convert_command->parsed()) status = Convert(common, convert);
  if (check_form_command->parsed()) status = CheckForm(common, check_form);
  CheckOutcome outcome = CheckOutcome::kPassed;
  if (check_command->parsed()) {
    const absl::StatusOr<CheckOutcome> checked = Check(common, check);
    status = checked.status();
    outcome = checked.value_or(CheckOutcome::kPassed);
  }
  if (replay_command->parsed()) status = Replay(common, replay);
  if (report_command->parsed()) status = Report(common, report);
  if (devices->parsed()) status = ListDevices(common);
  if (buffers->parsed()) status = ListBuffers(common, list);
  if (executables->parsed()) status = ListExecutables(common, list);
  if (sessions->parsed()) status = ListSessions(common, list);
  if (transfers->parsed()) status = ListTransfers(common, list);
  if (compiles->parsed()) status = ListCompiles(common, list);
  if (graphs->parsed()) {
    if (!run_report.path.empty()) status = ReportRun(common, run_report);
    else status = dumps.empty() ? ListGraphs(common, list) : TorchXlaGraphs(common, dumps);
  }
  if (top_command->parsed()) status = Top(common, top);
  if (stats->parsed()) status = ShowStats(common);
  if (ping->parsed()) status = Ping(common, count);
  int code = Report(status, json);
  if (code == kDone && outcome == CheckOutcome::kFailed) code = kFailed;
  if (code == kDone && outcome == CheckOutcome::kIncomplete) code = kIncomplete;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "hloctl: The output could not be written.\n");
  return code == kDone ? kRefused : code;
}

}  // namespace

int main(int argc, char** argv) {
  // gRPC's own lines on stderr would repeat in other words what our errors say.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // The words after `--` belong to the program to check.
  std::vector<std::string> program;
  char** const end = std::find_if(argv + 1, argv + argc, [](std::string_view word) { return word == "--"; });
  const bool is_check = std::any_of(argv + 1, end, [](std::string_view word) { return word == "check"; });
  if (is_check && end != argv + argc) {
    program.assign(end + 1, argv + argc);
    argc = static_cast<int>(end - argv);
  }
  // Read before the rest, so that errors of the command line are printed in the same form.
  const bool json =
      std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "--json"; });
  try {
    return Main(argc, argv, program, json);
  } catch (const std::exception& error) {  // Thrown by the libraries for the command line and JSON.
    return Report(hlod::cli::UsageError(error.what()), json);
  }
}
