// The subcommands of hloctl, one function per subcommand. Parsing of the command line is in main.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlod/runtime/client.h"

namespace hlod::cli {

// The options that every subcommand accepts.
struct CommonOptions {
  ConnectOptions connect;
  bool json = false;
};

// The number of rows that hloctl asks an account for. The daemon merges the rows beyond it into sums, which
// stay exact.
inline constexpr int kAccountRowsMax = 200'000;

// Returns a usage error: the command line does not fit the program that it names. Exit code 2.
absl::Status UsageError(std::string_view text);
bool IsUsageError(const absl::Status& status);

// Ends the session and waits for the daemon's acknowledgement: the process may exit right after, and a
// goodbye that was not sent would leave the daemon waiting for this client.
class ClosedAtEnd {
 public:
  explicit ClosedAtEnd(const Client& client) : client_(client) {}
  ~ClosedAtEnd() { client_.Close().IgnoreError(); }
  ClosedAtEnd(const ClosedAtEnd&) = delete;
  ClosedAtEnd& operator=(const ClosedAtEnd&) = delete;

 private:
  const Client& client_;
};

// The options for a StableHLO program that leaves sizes, values or the entry open. ParseReadOptions parses
// them.
struct StablehloOptions {
  std::vector<std::string> sizes;   // The sizes of arguments, as "N=8,3" for argument N.
  std::vector<std::string> values;  // The integers of arguments, as "N=4,8" for argument N.
  std::string entry;                // The entry function; empty: @main, or the only public one.
};

struct RunOptions {
  std::string module;                   // The path of an HLO or StableHLO file.
  std::vector<std::string> arguments;   // .npy files, in order; "N=FILE" for parameter N.
  std::vector<int> placeholders;        // Parameters that become placeholders.
  std::optional<uint64_t> random_seed;  // The seed of the parameters without a file; nullopt: zeros.
  StablehloOptions stablehlo;           // The sizes and values of `arguments` are added.
  std::vector<std::string> infeed;      // .npy files, in order; "C=FILE" for recvs of channel C.
  std::vector<std::string> outfeed;     // The number of values to print; "C=N": N sends of channel C.
  std::string output;                   // Folder for .npy results; empty: they are printed.
  int repeat = 1;
  int device = 0;
  bool abstract = false;
  double deadline_seconds = 0;       // 0: no deadline.
  std::string mesh;                  // "data=4,model=2"; empty: the module's own, or none.
  std::string partitioner = "auto";  // "shardy", "gspmd" or "auto".
  bool shards = false;               // Results in parts, as the devices hold them.
};
absl::Status Run(const CommonOptions& common, const RunOptions& options);

struct ProfileOptions {
  RunOptions run;  // `repeat` is the number of measured runs, after one that is not counted.
  int limit = 40;  // The number of steps in the table.
};
// Prints the time of each step of a module's plan.
absl::Status ProfileModule(const CommonOptions& common, const ProfileOptions& options);

struct ConvertOptions {
  std::string input, output;  // File paths. The extension of `output` selects the form.
  StablehloOptions stablehlo;
};
// Writes a module in another form.
absl::Status Convert(const CommonOptions& common, const ConvertOptions& options);

struct PartitionOptions {
  std::string module;                // The path of an HLO or StableHLO file.
  std::string mesh;                  // "data=4,model=2"; empty: the module's own.
  int64_t devices = 0;               // The number of devices when there is no mesh; 0: the module's.
  std::string partitioner = "auto";  // "shardy", "gspmd" or "auto".
  std::string output;                // A file as Convert writes it; empty: none.
  bool explain = false;              // List the largest arrays with their shardings.
  double seconds = 300;
};
// Partitions a module by its shardings.
absl::Status Partition(const CommonOptions& common, const PartitionOptions& options);

struct CheckFormOptions {
  std::string module;  // The path of an HLO or StableHLO file.
  StablehloOptions stablehlo;
};
// check-module: prints a summary of a module that can be read and is well-formed.
absl::Status CheckForm(const CommonOptions& common, const CheckFormOptions& options);

struct CheckOptions {
  std::string module;                // An HLO or StableHLO file; empty: `program` is checked.
  std::vector<std::string> program;  // The program's name and its arguments.
  std::string preflight;             // A folder with the preflight logs of a run, which is checked; or empty.
  StablehloOptions stablehlo;
  int64_t steps = 0;    // The program ends after this many steps; 0: by itself.
  int64_t devices = 0;  // The number of devices that the program finds; 0: as many as the target has chips.
  // The replacement for values that do not exist: "0", "1", "random"; empty: the program stops there.
  std::string stand_in;
  std::string target;  // The target, such as "v5p:128"; empty: none.
  std::string mesh;    // The mesh that the module is divided over; empty: the module's own.
  std::string partitioner = "auto";
  std::vector<std::string> shard;  // Rules for the shardings of arguments, "REGEX=SPEC".
  bool search = false;             // Try the standard shardings, and print a table.
  std::string chips;           // A TOML file with further chips; empty: none.
  std::string budget;          // A TOML file with limits; empty: none.
  bool update_budget = false;  // Write the measured values to `budget` instead of comparing.
  std::string junit;           // JUnit XML file to write; empty: none.
  bool github = false;         // Print annotations for GitHub Actions to stderr.
  std::string workspace;       // The folder to which files in annotations are relative.
};
enum class CheckOutcome {
  kPassed,      // Within its budget, and may fit its target.
  kFailed,      // Over its budget, or does not fit its target.
  kIncomplete,  // A program stopped before the end of step `steps`, without a failure.
  kUnknown,     // Nothing could partition the module, and it may or may not fit its target.
};
// Prints what a module or a program costs and needs. A module needs no daemon.
absl::StatusOr<CheckOutcome> Check(const CommonOptions& common, const CheckOptions& options);

// Prints the graphs of a PyTorch/XLA program from its dumps (client/analysis/torch_xla/torch_xla_dump.h).
absl::Status TorchXlaGraphs(const CommonOptions& common, const std::vector<std::string>& dumps);

struct ListOptions {
  uint64_t session = 0;
  int limit = 1000;
  std::string by;  // The view, for lists with several views; empty: row by row.
};
absl::Status ListDevices(const CommonOptions& common);
absl::Status ListBuffers(const CommonOptions& common, const ListOptions& options);
absl::Status ListExecutables(const CommonOptions& common, const ListOptions& options);
absl::Status ListSessions(const CommonOptions& common, const ListOptions& options);
absl::Status ListTransfers(const CommonOptions& common, const ListOptions& options);
// Prints sums of transfers by options.by (transfers --by VIEW).
absl::Status AddUpTransfers(const CommonOptions& common, const ListOptions& options);
absl::Status ListCompiles(const CommonOptions& common, const ListOptions& options);
// Lists the programs that ran.
absl::Status ListGraphs(const CommonOptions& common, const ListOptions& options);
struct RunReportOptions {
  std::string path;
  bool allow_incomplete = false;
};
// Prints the graphs that the program of a profile ran, the graph breaks, and what those cost.
absl::Status ReportRun(const CommonOptions& common, const RunReportOptions& options);
struct TopOptions {
  bool once = false;
  double seconds = 2;  // The time between two frames.
  int frames = 0;      // 0: run until interrupted.
};
absl::Status Top(const CommonOptions& common, const TopOptions& options);
absl::Status ShowStats(const CommonOptions& common);

// Prints the daemon's cluster: its members, their links, and who has gone.
absl::Status ShowCluster(const CommonOptions& common);
struct WaitOptions {
  int size = 0;  // The number of members to wait for; 0: --cluster-size of the coordinator.
  double seconds = 60;
};
// Waits until the cluster has that many members, all linked with the daemon. DEADLINE_EXCEEDED says who is
// missing.
absl::Status WaitForCluster(const CommonOptions& common, const WaitOptions& options);
struct KeysOptions {
  std::string cluster;
  std::vector<std::string> daemons;  // Names, which are the hosts by which others call them.
  std::string folder;
  int days = 365;  // The time for which the certificates are valid.
};
// Makes an authority (ca.pem, ca.key), a certificate and key per daemon, and one for clients (client.pem) in
// the folder. An authority that is there signs the new ones. Fails before it writes if a daemon has a key
// there.
absl::Status MakeClusterKeys(const CommonOptions& common, const KeysOptions& options);
// Times `count` launches without work over all members.
absl::Status TryCluster(const CommonOptions& common, int count);

// Says what is missing or wrong on this machine: the daemon that programs find, the one that they start,
// processor, memory, limits, jaxlib. kFailed when something is wrong.
absl::StatusOr<CheckOutcome> Examine(const CommonOptions& common);

// Measures `count` round trips of the wire, at least one.
absl::Status Ping(const CommonOptions& common, int count);

}  // namespace hlod::cli
