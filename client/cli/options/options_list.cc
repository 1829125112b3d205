// Options of the commands that show what a daemon holds and has done, and of help.
#include <memory>

#include "client/cli/options/command_line.h"
#include "client/cli/print/table.h"

namespace hlod::cli {
namespace {

using OptionWords = const std::vector<std::string>&;

// The options of a list that limit it, as bits.
enum ListFlags : int { kRows = 1, kSession = 2 };

std::shared_ptr<ListOptions> AddListOptions(CLI::App& command, int limits) {
  const auto options = std::make_shared<ListOptions>();
  if (limits & kSession) {
    command.add_option("--session", options->session, "List only this session's rows")
        ->check(WholeNumber(1, UINT64_MAX));
  }
  if (limits & kRows) {
    command.add_option("--limit", options->limit, "Maximum number of rows")
        ->check(WholeNumber(1))
        ->capture_default_str();
  }
  return options;
}

// Returns the action that runs a function without options.
Action PlainActionOf(absl::Status (*run)(const CommonOptions&)) {
  return [run](const CommonOptions& common) -> absl::StatusOr<CheckOutcome> {
    if (const absl::Status status = run(common); !status.ok()) return status;
    return CheckOutcome::kPassed;
  };
}

}  // namespace

Action AddDevices(CLI::App&, OptionWords) { return PlainActionOf(&ListDevices); }
Action AddStats(CLI::App&, OptionWords) { return PlainActionOf(&ShowStats); }
Action AddBuffers(CLI::App& command, OptionWords) {
  return ActionOf<ListOptions>(AddListOptions(command, kRows | kSession), &ListBuffers);
}
Action AddExecutables(CLI::App& command, OptionWords) {
  return ActionOf<ListOptions>(AddListOptions(command, kRows), &ListExecutables);
}
Action AddSessions(CLI::App& command, OptionWords) {
  return ActionOf<ListOptions>(AddListOptions(command, kRows), &ListSessions);
}
Action AddCompiles(CLI::App& command, OptionWords) {
  return ActionOf<ListOptions>(AddListOptions(command, kRows | kSession), &ListCompiles);
}
Action AddTransfers(CLI::App& command, OptionWords) {
  const auto options = AddListOptions(command, kRows | kSession);
  command.add_option("--by", options->by, "Sum by line, step, cause, direction, name or session");
  return ActionOf<ListOptions>(options, &ListTransfers);
}

Action AddGraphs(CLI::App& command, OptionWords) {
  const auto list = AddListOptions(command, kRows | kSession);
  const auto profile = std::make_shared<RunReportOptions>();
  const auto dumps = std::make_shared<std::vector<std::string>>();
  CLI::Option* const from_torch_xla = command.add_option(
      "--from-torch-xla", *dumps,
      "Files that PyTorch/XLA wrote: XLA_SAVE_TENSORS_FILE, PT_XLA_DEBUG_FILE, XLA_METRICS_FILE");
  command.add_option("--by", list->by, "Sum by program (the default), line, step or session")
      ->excludes(from_torch_xla);
  CLI::Option* const file = command
                                .add_option("PROFILE", profile->path,
                                            "Profile ($HLOD_PROFILE) to report on in place of the daemon: "
                                            "graphs, breaks with their cost, recompiles")
                                ->excludes(from_torch_xla);
  // They select rows of the daemon.
  for (const char* const option : {"--session", "--limit", "--by"})
    file->excludes(command.get_option(option));
  for (const char* const option : {"--session", "--limit"})
    from_torch_xla->excludes(command.get_option(option));
  command.add_flag("--incomplete", profile->allow_incomplete, "Accept an incomplete profile")->needs(file);
  return [=](const CommonOptions& common) -> absl::StatusOr<CheckOutcome> {
    const absl::Status status = !profile->path.empty() ? ReportRun(common, *profile)
                                : dumps->empty()       ? ListGraphs(common, *list)
                                                       : TorchXlaGraphs(common, *dumps);
    if (!status.ok()) return status;
    return CheckOutcome::kPassed;
  };
}

Action AddTop(CLI::App& command, OptionWords) {
  const auto options = std::make_shared<TopOptions>();
  command.add_flag("--once", options->once, "Print one frame and exit");
  command.add_option("--seconds", options->seconds, "Seconds between two frames")
      ->check(Seconds())
      ->capture_default_str();
  command.add_option("--frames", options->frames, "Exit after N frames; 0: run until interrupted")
      ->check(WholeNumber(0))
      ->capture_default_str();
  return ActionOf<TopOptions>(options, &Top);
}

Action AddPing(CLI::App& command, OptionWords) {
  const auto count = std::make_shared<int>(10);
  command.add_option("--count", *count, "Number of round trips")
      ->check(WholeNumber(1))
      ->capture_default_str();
  return [count](const CommonOptions& common) -> absl::StatusOr<CheckOutcome> {
    if (const absl::Status status = Ping(common, *count); !status.ok()) return status;
    return CheckOutcome::kPassed;
  };
}

Action AddCluster(CLI::App& command, OptionWords) {
  const auto wait = std::make_shared<WaitOptions>();
  const auto count = std::make_shared<int>(100);
  CLI::App* const waits = command.add_subcommand("wait", "Wait until the cluster has its members");
  waits
      ->add_option("--size", wait->size,
                   "Number of members; without it, what the coordinator was started for (--cluster-size)")
      ->check(WholeNumber(1));
  waits->add_option("--seconds", wait->seconds, "Time to wait")->check(Seconds())->capture_default_str();
  CLI::App* const tries = command.add_subcommand("try", "Time launches without work over all members");
  tries->add_option("--count", *count, "Number of launches")->check(WholeNumber(1))->capture_default_str();
  const auto keys = std::make_shared<KeysOptions>();
  CLI::App* const makes_keys =
      command.add_subcommand("keys", "Make an authority, and certificates for daemons and clients");
  makes_keys->add_option("daemon", keys->daemons, "Hosts of the daemons, as others call them")->required();
  makes_keys->add_option("--cluster", keys->cluster, "Name of the cluster (hlod --cluster)")->required();
  makes_keys->add_option("--out", keys->folder, "Folder; an authority that it has signs the new ones")
      ->required();
  makes_keys
      ->add_option("--days", keys->days, "Days for which they are valid; ten times as many for the authority")
      ->check(CLI::Range(1, 36500))
      ->capture_default_str();
  command.require_subcommand(0, 1);
  command.fallthrough();
  return [=](const CommonOptions& common) -> absl::StatusOr<CheckOutcome> {
    const absl::Status status = waits->parsed()        ? WaitForCluster(common, *wait)
                                : makes_keys->parsed() ? MakeClusterKeys(common, *keys)
                                : tries->parsed()      ? TryCluster(common, *count)
                                                       : ShowCluster(common);
    if (!status.ok()) return status;
    return CheckOutcome::kPassed;
  };
}

Action AddDoctor(CLI::App&, OptionWords) { return &Examine; }

Action AddHelp(CLI::App& command, OptionWords) {
  command.add_option("topic", "json: the keys of --json")->required()->check(CLI::IsMember({"json"}));
  return [](const CommonOptions&) -> absl::StatusOr<CheckOutcome> {
    Show(JsonKeys() + "\n");
    return CheckOutcome::kPassed;
  };
}

}  // namespace hlod::cli
