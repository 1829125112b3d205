// hloctl: runs HLO modules on a daemon, and shows what a daemon holds and has done.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/options/command_line.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/error.h"
#include "common/base/system/file.h"
#include "common/rpc/credentials.h"
#include "common/rpc/endpoint.h"

namespace {

// Exit codes.
constexpr int kDone = 0;
constexpr int kRefused = 1;     // The daemon, the program on it, or a file refused.
constexpr int kUsage = 2;       // The command line is wrong.
constexpr int kNoDaemon = 3;    // There is no daemon, or it ended.
constexpr int kFailed = 4;      // The checked module or program did not pass.
constexpr int kIncomplete = 5;  // The checked program stopped too early to pass.
constexpr int kUnknown = 6;     // The checked module could not be partitioned.

constexpr hlod::cli::Command kCommands[] = {
    {"run", "Run a module", &hlod::cli::AddRun},
    {"profile", "Run a module, and time each step of its plan beside the speed of the machine",
     &hlod::cli::AddProfile},
    {"check",
     "Estimate the costs and needs of a module without running it; or, with -- PROGRAM, run a program "
     "without its large arrays, and report what it needs",
     &hlod::cli::AddCheck},
    {"partition", "Divide a module by its shardings among the devices of a mesh, by XLA's own partitioner",
     &hlod::cli::AddPartition},
    {"convert", "Write a module in another form", &hlod::cli::AddConvert},
    {"check-module", "Check that a module can be read and is well-formed", &hlod::cli::AddCheckModule},
    {"replay", "Run a recorded session again (HLOD_COMMAND_LOG=FILE ./program records one)",
     &hlod::cli::AddReplay},
    {"report", "Write a run as a page (HLOD_PROFILE=FILE ./program records one)", &hlod::cli::AddReport},
    {"devices", "List the devices and their memory", &hlod::cli::AddDevices},
    {"buffers", "List the live buffers, largest first", &hlod::cli::AddBuffers},
    {"executables", "List the compiled programs", &hlod::cli::AddExecutables},
    {"sessions", "List the sessions", &hlod::cli::AddSessions},
    {"transfers", "List the transfers in the ledger", &hlod::cli::AddTransfers},
    {"compiles", "List the compilations, and why each program was not in the cache", &hlod::cli::AddCompiles},
    {"graphs",
     "List the programs that ran, with their times; or the graphs that a program made, and where and why "
     "they end",
     &hlod::cli::AddGraphs},
    {"stats", "Print the daemon's totals", &hlod::cli::AddStats},
    {"top", "Show what the daemon does, live", &hlod::cli::AddTop},
    {"ping", "Measure the wire's round trip", &hlod::cli::AddPing},
    {"cluster", "List the daemons of the daemon's cluster, wait for them, or time launches over all of them",
     &hlod::cli::AddCluster},
    {"doctor", "Say what is missing or wrong on this machine, and what to do", &hlod::cli::AddDoctor},
    {"help", "Print the keys of --json: hloctl help json", &hlod::cli::AddHelp},
};

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

// Reads the PEM file that an option names into `text`, and checks that it has what `check` looks for.
// Commands that do not connect check it, too.
absl::Status ReadOption(const char* option, const CLI::Option& given, const std::string& path,
                        absl::FunctionRef<absl::Status(const std::string&)> check, std::string& text) {
  if (given.count() == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> bytes = hlod::ReadFile(path);
  if (!bytes.ok()) return hlod::cli::UsageError(absl::StrCat(option, ": ", bytes.status().message()));
  if (bytes->empty()) return hlod::cli::UsageError(absl::StrCat(option, ": file ", path, " is empty."));
  text = *bytes;
  if (const absl::Status status = check(text); !status.ok())
    return hlod::cli::UsageError(absl::StrCat(option, ": file ", path, ": ", status.message(), "."));
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

// Ends with `code`, unless the output could not be written.
int Finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "hloctl: The output could not be written.\n");
  return code == kDone ? kRefused : code;
}

// The flags that all commands share: how to reach the daemon, and how to print.
struct ConnectionFlags {
  hlod::cli::CommonOptions common;

  void Add(CLI::App& app) {
    app.add_option("--address", common.connect.address, "Address of the daemon: unix:PATH or HOST:PORT");
    app.add_flag("--json", common.json, "Print JSON");
    app.add_option("--command-log", record, "Write the session's commands, without contents, to this file");
    token = app.add_option("--token-file", token_file,
                           "File with the token for a daemon that requires one; no other user "
                           "may be able to read it")
                ->envname("HLOD_TOKEN_FILE");
    app.add_option("--token", common.connect.token,
                   "The token itself, visible to everybody in the list of processes")
        ->envname("HLOD_TOKEN");
    ca = app.add_option("--tls-ca", ca_file, "PEM file of the certificates to trust; turns TLS on");
    certificate = app.add_option("--tls-cert", certificate_file, "PEM file of the client's certificate");
    key = app.add_option("--tls-key", key_file, "PEM file of the client's key");
  }

  // Reads the files that the parsed flags name into `common`.
  absl::Status Finish(int argc, char** argv) {
    hlod::TlsOptions& tls = common.connect.tls;
    const auto is_key_of = [&](const std::string& text) {
      return hlod::rpc::CheckKey(text, tls.certificate);
    };
    if ((certificate->count() == 0) != (key->count() == 0))
      return hlod::cli::UsageError("--tls-cert and --tls-key belong together: give both or neither.");
    absl::Status status =
        ReadOption("--tls-ca", *ca, ca_file, hlod::rpc::CheckCertificates, tls.root_certificates);
    if (status.ok()) {
      status = ReadOption("--tls-cert", *certificate, certificate_file, hlod::rpc::CheckCertificates,
                          tls.certificate);
    }
    if (status.ok()) status = ReadOption("--tls-key", *key, key_file, is_key_of, tls.key);
    if (status.ok()) status = ReadTokenFile(argc, argv, *token, token_file, common.connect.token);
    // A wrong address is a mistake on the command line; "private" is a daemon of the command's own.
    if (const std::string& address = common.connect.address;
        status.ok() && !address.empty() && address != "private") {
      if (const absl::Status parsed = hlod::rpc::ParseEndpoint(address).status(); !parsed.ok())
        status = hlod::cli::UsageError(absl::StrCat("--address: ", parsed.message()));
    }
    if (!status.ok()) return status;
    common.connect.name = "hloctl";
    if (!record.empty()) setenv("HLOD_COMMAND_LOG", record.c_str(), /*overwrite=*/1);
    return status;
  }

  std::string record, ca_file, certificate_file, key_file, token_file;
  CLI::Option *token = nullptr, *ca = nullptr, *certificate = nullptr, *key = nullptr;
};

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
  app.set_help_all_flag("--help-all", "Print this help with the options of every command and exit");
  app.footer(kFooter);
  app.fallthrough();

  ConnectionFlags connection;
  connection.Add(app);
  std::vector<std::pair<CLI::App*, Action>> commands;
  for (const Command& command : kCommands) {
    CLI::App* const parser = app.add_subcommand(command.name, command.help);
    commands.emplace_back(parser, command.add(*parser, program));
  }
  RefuseEmptyValues(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version.
    return Report(UsageError(Explain(app, error)), json);
  }
  CommonOptions& common = connection.common;
  if (const absl::Status status = connection.Finish(argc, argv); !status.ok()) return Report(status, json);

  const auto chosen = std::find_if(commands.begin(), commands.end(),
                                   [](const auto& command) { return command.first->parsed(); });
  const absl::StatusOr<CheckOutcome> outcome = chosen->second(common);
  if (!outcome.ok()) return Finish(Report(outcome.status(), json));
  switch (*outcome) {
    case CheckOutcome::kPassed: return Finish(kDone);
    case CheckOutcome::kFailed: return Finish(kFailed);
    case CheckOutcome::kIncomplete: return Finish(kIncomplete);
    case CheckOutcome::kUnknown: return Finish(kUnknown);
  }
  return Finish(kDone);
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
  // Parsed before the rest, so that errors of the command line are printed in the same form.
  const bool json =
      std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "--json"; });
  try {
    return Main(argc, argv, program, json);
  } catch (const std::bad_alloc&) {
    return Report(absl::ResourceExhaustedError(
                      "This machine has too little memory for what the command reads or makes."),
                  json);
  } catch (const std::exception& error) {  // Thrown by the libraries for the command line and JSON.
    return Report(hlod::cli::UsageError(error.what()), json);
  }
}
