// Options of the commands on files that a program wrote: replay, report.
#include <map>
#include <memory>

#include "client/cli/options/command_line.h"
#include "client/cli/reports.h"

namespace hlod::cli {

Action AddReplay(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<ReplayOptions>();
  command.add_option("log", options->log, "Command log (HLOD_COMMAND_LOG) to replay")->required();
  const std::map<std::string, ReplayData> replay_data = {{"zeros", ReplayData::kZeros},
                                                         {"random", ReplayData::kRandom},
                                                         {"placeholder", ReplayData::kPlaceholder}};
  command
      .add_option_function<std::string>(
          "--data", [=](const std::string& name) { options->data = replay_data.at(name); },
          "Data in place of the contents of tensors: zeros, random, placeholder")
      ->check(CLI::IsMember({"zeros", "random", "placeholder"}));
  command.add_flag("--incomplete", options->allow_incomplete, "Accept an incomplete command log");
  return ActionOf<ReplayOptions>(options, &Replay);
}

Action AddReport(CLI::App& command, const std::vector<std::string>&) {
  const auto options = std::make_shared<ReportOptions>();
  command.add_option("run", options->run, "Profile to report on")->required();
  command.add_option("-o,--output", options->output, "Write the page to this HTML file");
  command.add_option("--trace", options->trace, "Write a trace for Perfetto to this file");
  command.add_option("--command-log", options->log,
                     "Command log (HLOD_COMMAND_LOG) of the same run, for the costs of its programs");
  command.add_option("--target", options->target, "Draw the roofline of this CHIP: v5p, h100, ...");
  command.add_option("--chips", options->chips, "TOML file of further chips, as for check");
  command.add_flag("--incomplete", options->allow_incomplete, "Accept an incomplete profile");
  return ActionOf<ReportOptions>(options, &Report);
}

}  // namespace hlod::cli
