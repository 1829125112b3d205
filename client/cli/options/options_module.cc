// Options of the commands on modules: run, profile, check, convert, check-module.
#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/cli/options/command_line.h"

namespace hlod::cli {

CLI::Validator WholeNumber(int64_t least, uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        int64_t negative = 0;
        uint64_t number = 0;
        const bool is_negative = absl::SimpleAtoi(text, &negative) && negative < 0;
        const bool fits = is_negative ? negative >= least
                                      : absl::SimpleAtoi(text, &number) && number <= most &&
                                            (least <= 0 || number >= static_cast<uint64_t>(least));
        return fits ? std::string()
                    : absl::StrFormat("\"%s\" is not a whole number from %d to %d", text, least, most);
      },
      "", "WholeNumber");
}

void RefuseEmptyValues(CLI::App& command) {
  for (CLI::Option* const option : command.get_options()) {
    option->check(
        [](const std::string& text) { return text.empty() ? "the value is empty" : std::string(); });
  }
  for (CLI::App* const subcommand : command.get_subcommands([](CLI::App*) { return true; }))
    RefuseEmptyValues(*subcommand);
}

CLI::Validator Seconds() {
  return CLI::Validator(
      [](std::string& text) {
        double seconds = 0;
        if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds) && seconds >= 0) return std::string();
        return "\"" + text + "\" is not a number of seconds from 0 on";
      },
      "", "Seconds");
}

void AddStablehloOptions(CLI::App& command, StablehloOptions& options) {
  command
      .add_option("--size", options.sizes,
                  "N=8,3: sizes of argument N, where a StableHLO program leaves them open")
      ->allow_extra_args(false);
  command
      .add_option("--value", options.values,
                  "N=4,8: integers in argument N, where sizes in a StableHLO program depend on them")
      ->allow_extra_args(false);
  command.add_option("--entry", options.entry, "Entry function of a StableHLO program, instead of @main");
}

namespace {

// Adds the options of the commands that run a module: its arguments, and where it runs.
void AddRunOptions(CLI::App& command, RunOptions& options) {
  command.add_option("module", options.module, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  AddStablehloOptions(command, options.stablehlo);
  command
      .add_option(
          "--arg", options.arguments,
          "Argument from a .npy FILE, in parameter order; N=FILE: for parameter N; M:N=FILE: for parameter N "
          "of participant M (a replica and partition) alone. Parameters without a file are zeros")
      ->allow_extra_args(false);
  command
      .add_option(
          "--infeed", options.infeed,
          "Array from a .npy FILE for the program's next infeed; C=FILE: for its next recv of channel C from "
          "the host. Each run receives all of them")
      ->allow_extra_args(false);
  command
      .add_option("--outfeed", options.outfeed,
                  "Print N values that the program outfeeds; C=N: N values that it sends to the host "
                  "through channel C")
      ->allow_extra_args(false);
  command
      .add_option("--random", options.random_seed,
                  "Fill parameters without a file with random values from this seed instead of zeros")
      ->check(WholeNumber(0, UINT64_MAX));
  command.add_option("--repeat", options.repeat, "Number of runs")
      ->check(WholeNumber(1))
      ->capture_default_str();
  command.add_option("--device", options.device, "Ordinal of the device to run on")
      ->check(WholeNumber(0))
      ->capture_default_str();
  command.add_option("--deadline", options.deadline_seconds, "Maximum seconds per run; 0: unlimited")
      ->check(Seconds())
      ->capture_default_str();
}

}  // namespace

Action AddRun(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<RunOptions>();
  AddRunOptions(command, *options);
  command.add_option("--placeholder", options->placeholders, "Make parameter N a placeholder")
      ->allow_extra_args(false)
      ->check(WholeNumber(0));
  command.add_flag("--abstract", options->abstract,
                   "Accept placeholders as arguments; results that depend on them become placeholders");
  command.add_option(
      "--output", options->output,
      "Write results to this folder as resultN.npy; for several participants, participantM.resultN.npy");
  command.add_option("--mesh", options->mesh,
                     "Axes of the devices that the module is divided among by its shardings, as in "
                     "data=4,model=2; own: the module's own mesh; none: run it whole. Without it, a module "
                     "with shardings is divided if the daemon has enough devices. Arguments are cut, and "
                     "results are assembled");
  command
      .add_option("--partitioner", options->partitioner,
                  "shardy or gspmd; auto: the one whose shardings the module has")
      ->check(CLI::IsMember({"auto", "shardy", "gspmd"}))
      ->capture_default_str();
  command.add_flag(
      "--shards", options->shards,
      "Print or write the parts of a divided module's results per participant, instead of assembling them");
  return ActionOf<RunOptions>(options, &Run);
}

Action AddProfile(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<ProfileOptions>();
  options->run.repeat = 10;
  AddRunOptions(command, options->run);
  command.add_option("--limit", options->limit, "Maximum number of steps in the table")
      ->check(WholeNumber(1))
      ->capture_default_str();
  return ActionOf<ProfileOptions>(options, &ProfileModule);
}

Action AddConvert(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<ConvertOptions>();
  command.add_option("in", options->input, "HLO (proto or text) or StableHLO (text or artifact)")->required();
  command
      .add_option("out", options->output,
                  "FILE.hlo or FILE.txt: HLO text; FILE.pb: HLO proto; FILE.mlir: StableHLO text")
      ->required();
  AddStablehloOptions(command, options->stablehlo);
  return ActionOf<ConvertOptions>(options, &Convert);
}

Action AddPartition(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<PartitionOptions>();
  command.add_option("module", options->module, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  command.add_option("--mesh", options->mesh,
                     "Axes of the devices, as in data=4,model=2; without it the module's own mesh");
  command.add_option("--devices", options->devices, "Number of devices of a module that names no mesh")
      ->check(WholeNumber(1, INT64_MAX));
  command
      .add_option("--partitioner", options->partitioner,
                  "shardy or gspmd; auto: the one whose shardings the module has")
      ->check(CLI::IsMember({"auto", "shardy", "gspmd"}))
      ->capture_default_str();
  command.add_option("-o,--output", options->output,
                     "Write each device's module to this file, in a form that convert writes");
  command.add_flag("--explain", options->explain,
                   "List the largest arrays, the axes that divide them, and their lines");
  command.add_option("--seconds", options->seconds, "Maximum time")->check(Seconds())->capture_default_str();
  return ActionOf<PartitionOptions>(options, &Partition);
}

Action AddCheckModule(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<CheckFormOptions>();
  command.add_option("module", options->module, "HLO (proto or text) or StableHLO (text or artifact)")
      ->required();
  AddStablehloOptions(command, options->stablehlo);
  return ActionOf<CheckFormOptions>(options, &CheckForm);
}

Action AddCheck(CLI::App& command, const std::vector<std::string>& program) {
  const auto options = std::make_shared<CheckOptions>();
  options->program = program;
  command.add_option("module", options->module, "HLO (proto or text) or StableHLO (text or artifact)");
  AddStablehloOptions(command, options->stablehlo);
  command.add_option("--preflight", options->preflight,
                     "Folder with the preflight logs of a run, which is checked instead of a module");
  command
      .add_option(
          "--steps", options->steps,
          "End the program after N Sync()s, or, if JAX or PyTorch/XLA runs it, N runs of the program that "
          "computes most")
      ->check(WholeNumber(1, INT64_MAX));
  command
      .add_option(
          "--devices", options->devices,
          "Number of devices that the program finds; without it one, or as many as the target has chips")
      ->check(WholeNumber(1, INT64_MAX));
  command
      .add_option(
          "--stand-in", options->stand_in,
          "Values for the program to read in place of those that do not exist: 0, 1 or random; without this "
          "option the program ends at such a read")
      ->check(CLI::IsMember({"0", "1", "random"}));
  command.add_option(
      "--target", options->target,
      "Chips that the module or program should fit, with the error bar of the estimate: CHIP, CHIP:COUNT or "
      "CHIP:TORUS, such as h100, v5p:128, v5p:4x4x8");
  command.add_option(
      "--mesh", options->mesh,
      "Axes that the chips are arranged in, as in data=16,model=8: the module is partitioned for "
      "them, and one chip is judged; without it the module's own mesh");
  command.add_option("--partitioner", options->partitioner, "shardy or gspmd, as for partition")
      ->check(CLI::IsMember({"auto", "shardy", "gspmd"}))
      ->capture_default_str();
  command.add_option(
      "--shard", options->shard,
      "REGEX=SPEC: divide each argument whose name matches REGEX as SPEC states, instead of as the module "
      "does: \"wq=None,data\" or \"embedding=P('model', ('data', 'pipe'))\". A result that takes over an "
      "argument's memory is divided like it. May be repeated");
  command.add_flag(
      "--search", options->search,
      "Try the standard shardings (data, FSDP, tensor, sequence, and combinations) over --mesh, or "
      "over every mesh of the target's chips, and print a table, best first");
  command.add_option("--chips", options->chips,
                     "TOML file of further chips: [chips.NAME] with memory_bytes, "
                     "usable_bytes, bandwidth, flops, tiled");
  command.add_option("--budget", options->budget,
                     "TOML file of limits: peak_bytes = \"80GiB\", flops = 1e15, ...; the low end "
                     "of an estimated range is compared");
  command.add_flag("--update-budget", options->update_budget,
                   "Write the measured values into the --budget file instead of comparing with it");
  command.add_option("--junit", options->junit, "Write the verdicts to this file as JUnit XML");
  command.add_flag("--github", options->github, "Print annotations for GitHub Actions to stderr");
  command
      .add_option("--workspace", options->workspace, "Folder that file names in annotations are relative to")
      ->envname("GITHUB_WORKSPACE");
  return [options](const CommonOptions& common) { return Check(common, *options); };
}

}  // namespace hlod::cli
