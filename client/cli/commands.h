// What hloctl does, one function a subcommand, free of the command line's parsing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlod/client.h"

namespace hlod::cli {

// What every subcommand takes.
struct CommonOptions {
  ConnectOptions connect;
  bool json = false;
};

// The command line does not fit the program it names: a usage error.
absl::Status UsageError(std::string_view text);
bool IsUsageError(const absl::Status& status);

// Ends the session and waits for the daemon's word on it: the process may end right after, and a goodbye that
// was not sent would leave the daemon waiting for this client.
class ClosedAtEnd {
 public:
  explicit ClosedAtEnd(const Client& client) : client_(client) {}
  ~ClosedAtEnd() { client_.Close().IgnoreError(); }
  ClosedAtEnd(const ClosedAtEnd&) = delete;
  ClosedAtEnd& operator=(const ClosedAtEnd&) = delete;

 private:
  const Client& client_;
};

// What is said of a StableHLO program that leaves something open; ParseReadOptions reads it.
struct StablehloOptions {
  std::vector<std::string> sizes;   // "N=8,3": of argument N.
  std::vector<std::string> values;  // "N=4,8": the numbers that argument N has.
  std::string entry;                // A function; empty: @main, or the only public one.
};

struct RunOptions {
  std::string module;                   // File: HLO or StableHLO.
  std::vector<std::string> arguments;   // .npy files, in order; "N=FILE" for parameter N.
  std::vector<int> placeholders;        // Parameters that become placeholders.
  std::optional<uint64_t> random_seed;  // The others: random instead of zeros.
  StablehloOptions stablehlo;           // Sizes and values of `arguments` are taken, too.
  std::vector<std::string> infeed;      // .npy files, in order; "C=FILE" for recvs of channel C.
  std::vector<std::string> outfeed;     // So many values are printed; "C=N" of sends of channel C.
  std::string output;                   // Folder for .npy results; empty: printed.
  int repeat = 1;
  int device = 0;
  bool abstract = false;
  double deadline_seconds = 0;  // 0: none.
};
absl::Status Run(const CommonOptions& common, const RunOptions& options);

struct ConvertOptions {
  std::string input, output;       // Files: what they hold, and what the name says.
  StablehloOptions stablehlo;
};
// A module in another form.
absl::Status Convert(const CommonOptions& common, const ConvertOptions& options);

struct CheckFormOptions {
  std::string module;              // File: HLO or StableHLO.
  StablehloOptions stablehlo;
};
// check-module: prints what a module is, if it can be read and is well-formed.
absl::Status CheckForm(const CommonOptions& common, const CheckFormOptions& options);

struct CheckOptions {
  std::string module;                // File: HLO or StableHLO; empty: a program is checked ...
  std::vector<std::string> program;  // ... its name and its arguments.
  StablehloOptions stablehlo;
  int64_t steps = 0;                 // After which the program is ended; 0: it ends by itself.
  std::string stand_in;        // For values that do not exist: "0", "1", "random"; empty: it ends there.
  std::string target;          // "v5p:128"; empty: none.
  std::string chips;           // TOML file of further chips; empty: none.
  std::string budget;          // TOML file of limits; empty: none.
  bool update_budget = false;  // Rewrite it to what was measured instead of comparing.
  std::string junit;           // JUnit XML file to write; empty: none.
  bool github = false;         // Annotations for GitHub Actions, to stderr;
  std::string workspace;       // their files relative to this folder.
};
enum class CheckOutcome {
  kPassed,      // It does not exceed its budget, and may fit its target.
  kFailed,      // It does, or does not.
  kIncomplete,  // Nothing failed, and a program stopped before the steps that were asked for.
};
// Prints what a module or a program costs and needs. A module takes no daemon.
absl::StatusOr<CheckOutcome> Check(const CommonOptions& common, const CheckOptions& options);

// What these dumps of PyTorch/XLA say about a program's graphs (client/analysis/torch_xla_dump.h).
absl::Status TorchXlaGraphs(const CommonOptions& common, const std::vector<std::string>& dumps);

struct ListOptions {
  uint64_t session = 0;
  int limit = 1000;
  std::string by;  // A view, where there are several; empty: row by row.
};
absl::Status ListDevices(const CommonOptions& common);
absl::Status ListBuffers(const CommonOptions& common, const ListOptions& options);
absl::Status ListExecutables(const CommonOptions& common, const ListOptions& options);
absl::Status ListSessions(const CommonOptions& common, const ListOptions& options);
absl::Status ListTransfers(const CommonOptions& common, const ListOptions& options);
// transfers --by VIEW, which `options` names.
absl::Status AddUpTransfers(const CommonOptions& common, const ListOptions& options);
absl::Status ListCompiles(const CommonOptions& common, const ListOptions& options);
// Programs that ran.
absl::Status ListGraphs(const CommonOptions& common, const ListOptions& options);
struct RunReportOptions {
  std::string path;
  bool allow_incomplete = false;
};
// What graphs the program of a run file ran, what broke them and what that cost.
absl::Status ReportRun(const CommonOptions& common, const RunReportOptions& options);
struct TopOptions {
  bool once = false;
  double seconds = 2;  // Between two frames.
  int frames = 0;      // 0: until it is stopped.
};
absl::Status Top(const CommonOptions& common, const TopOptions& options);
absl::Status ShowStats(const CommonOptions& common);

// Round trips of the wire; at least one.
absl::Status Ping(const CommonOptions& common, int count);

}  // namespace hlod::cli
