// The command line of hloctl: a table of subcommands, each with its options and what it does with them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"

namespace hlod::cli {

// Runs a subcommand whose options are parsed.
using Action = std::function<absl::StatusOr<CheckOutcome>(const CommonOptions&)>;

struct Command {
  const char* name;
  const char* help;
  // Adds the subcommand's options to `command` and returns what to run once they are parsed. `program` holds
  // the words after `--`, which only `check` uses.
  Action (*add)(CLI::App& command, const std::vector<std::string>& program);
};

// The options of each subcommand (options_*.cc).
Action AddRun(CLI::App& command, const std::vector<std::string>& program);
Action AddProfile(CLI::App& command, const std::vector<std::string>& program);
Action AddCheck(CLI::App& command, const std::vector<std::string>& program);
Action AddConvert(CLI::App& command, const std::vector<std::string>& program);
Action AddPartition(CLI::App& command, const std::vector<std::string>& program);
Action AddCheckModule(CLI::App& command, const std::vector<std::string>& program);
Action AddReplay(CLI::App& command, const std::vector<std::string>& program);
Action AddReport(CLI::App& command, const std::vector<std::string>& program);
Action AddDevices(CLI::App& command, const std::vector<std::string>& program);
Action AddBuffers(CLI::App& command, const std::vector<std::string>& program);
Action AddExecutables(CLI::App& command, const std::vector<std::string>& program);
Action AddSessions(CLI::App& command, const std::vector<std::string>& program);
Action AddTransfers(CLI::App& command, const std::vector<std::string>& program);
Action AddCompiles(CLI::App& command, const std::vector<std::string>& program);
Action AddGraphs(CLI::App& command, const std::vector<std::string>& program);
Action AddStats(CLI::App& command, const std::vector<std::string>& program);
Action AddTop(CLI::App& command, const std::vector<std::string>& program);
Action AddPing(CLI::App& command, const std::vector<std::string>& program);
Action AddCluster(CLI::App& command, const std::vector<std::string>& program);
Action AddDoctor(CLI::App& command, const std::vector<std::string>& program);
Action AddHelp(CLI::App& command, const std::vector<std::string>& program);

// Returns the action that runs a function on options that the parser fills.
template <typename Options>
Action ActionOf(std::shared_ptr<const Options> options,
                absl::Status (*run)(const CommonOptions&, const Options&)) {
  return [options, run](const CommonOptions& common) -> absl::StatusOr<CheckOutcome> {
    if (const absl::Status status = run(common, *options); !status.ok()) return status;
    return CheckOutcome::kPassed;
  };
}

// Accepts whole numbers from `least` to `most`.
CLI::Validator WholeNumber(int64_t least, uint64_t most = INT32_MAX);
// Refuses empty values of all options of a command and of its subcommands: a script whose variable is not set
// gives one, and no option has a use for it.
void RefuseEmptyValues(CLI::App& command);
// Accepts finite numbers that are not negative.
CLI::Validator Seconds();

// The options that every command on a StableHLO program has.
void AddStablehloOptions(CLI::App& command, StablehloOptions& options);

extern const char kFooter[];
// Returns the text of `hloctl help json`.
std::string JsonKeys();

}  // namespace hlod::cli
