// Parses the command line. The only file that includes CLI11, which takes long to compile.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "common/base/text/strings.h"
#include "server/config.h"

namespace hlod {

namespace {

constexpr int kUsage = 2;
constexpr char kFooter[] =
    "\nExit codes:\n"
    "  0  Ended by SIGTERM, SIGINT or SIGHUP, or with its client.\n"
    "  1  Could not start.\n"
    "  2  The command line, the configuration, or a file that it names is wrong.";

}  // namespace

CommandLine ParseCommandLine(int argc, char** argv, std::string_view version) {
  CLI::App app(
      "hlod, the XLA device daemon: owns devices, their memory and programs, and accounts for every "
      "byte.",
      "hlod");
  app.set_version_flag("--version", std::string(version));
  app.footer(kFooter);
  app.get_formatter()->column_width(36);
  std::string file;
  CLI::Option* const config =
      app.add_option("--config", file, "TOML file of the same keys, with _ for -; flags override it")
          ->type_name("FILE");
  std::map<const ConfigKey*, std::vector<std::string>> given;
  for (const ConfigKey& key : ConfigKeys()) {
    std::string text = key.text;
    if (!key.standard.empty()) text += " [" + key.standard + "]";
    CLI::Option* option = app.add_option_function<std::vector<std::string>>(
        FlagOf(key.name), [&](const std::vector<std::string>& values) { given[&key] = values; }, text);
    option->type_name("")->expected(1);
    if (key.list) option->take_all();
  }

  CommandLine line;
  app.add_flag(
      "--measure-products", line.measure_products,
      "Measure matrix products by each library on this machine, print the table with the library that "
      "programs use for each, and end; heeds --threads and --cpu-features");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    line.finished = true;
    if (e.get_exit_code() == 0) {  // --help and --version.
      line.exit_code = app.exit(e);
    } else {  // CLI11 has an exit code per kind of mistake; hlod has one for all.
      std::cerr << "hlod: " << e.what() << "\nRun with --help for more information.\n";
      line.exit_code = kUsage;
    }
    return line;
  }
  absl::Status status;
  if (config->count() > 0) status = ReadConfigFile(file, line.config);
  for (const auto& [key, values] : given) {
    if (!status.ok()) break;
    // The flags replace the values of the file.
    if (key->name == "listen") line.config.listen.clear();
    if (key->name == "kernel_library") line.config.kernel_libraries.clear();
    for (const std::string& value : values) {
      if (const absl::Status set = key->set(line.config, value); !set.ok()) {
        status = absl::InvalidArgumentError(absl::StrCat(FlagOf(key->name), ": ", set.message(), "."));
      }
    }
  }
  if (status.ok()) status = CheckLimits(line.config.limits);
  if (!status.ok()) {
    std::cerr << "hlod: " << status.message() << "\n";
    line.finished = true;
    line.exit_code = kUsage;
  }
  return line;
}

}  // namespace hlod
