// hloctl run: runs one module, from a file to its results.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "client/cli/commands.h"
#include "client/cli/module/load_module.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "client/cli/run/participants.h"
#include "client/cli/run/run_program.h"
#include "client/cli/run/sharding_devices.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/text/printable.h"
#include "common/hlo/elements/npy.h"
#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"

namespace hlod::cli {
namespace {

constexpr int64_t kPrintedElementsMax = 1000;

// Shows "7 of 100" on a terminal, and does not print into a pipe.
class Progress {
 public:
  explicit Progress(int total) : total_(total), shown_(total > 1 && isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  void Show(int done) {
    if (!shown_ || absl::Now() < next_) return;
    next_ = absl::Now() + absl::Milliseconds(100);
    std::fprintf(stderr, "\r%d of %d", done, total_);
  }

 private:
  const int total_;
  const bool shown_;
  absl::Time next_ = absl::InfinitePast();
};

// Prints a value or writes it to a file. `name` is the label, such as "result 0"; `file` is the file's name
// without ".npy".
absl::StatusOr<Json> Deliver(const Buffer& buffer, const std::string& name, const std::string& file,
                             const RunOptions& options, bool json) {
  std::string shape = hlo::ToStringNoLayout(buffer.shape());
  Json entry = {{"shape", shape}, {"placeholder", buffer.is_placeholder()}};
  if (buffer.is_placeholder()) {
    if (!json) std::printf("%s: %s, a placeholder\n", name.c_str(), shape.c_str());
    return entry;
  }
  if (buffer.shape().IsToken()) {
    if (!json) std::printf("%s: token[]\n", name.c_str());
    return entry;
  }
  ASSIGN_OR_RETURN(const Literal value,
                   buffer.ToLiteral(options.output.empty() ? Cause::kPrint : Cause::kSave,
                                    Caller{.file = options.module.c_str()}));
  if (buffer.shape().HasDynamicDimension()) {
    shape = hlo::ToStringNoLayout(value.shape()) + " of " + shape;
    entry["value_shape"] = hlo::ToStringNoLayout(value.shape());
  }
  if (!options.output.empty()) {
    const std::string path = (std::filesystem::path(options.output) / (file + ".npy")).string();
    RETURN_IF_ERROR(hlo::WriteNpy(path, value));
    entry["file"] = path;
    if (!json) std::printf("%s: %s in %s\n", name.c_str(), shape.c_str(), path.c_str());
    return entry;
  }
  const bool small = value.element_count() <= kPrintedElementsMax;
  if (json) {
    if (small) {
      ASSIGN_OR_RETURN(entry["value"], ToJson(value));
    }
    return entry;
  }
  std::printf("%s: %s %s\n", name.c_str(), shape.c_str(),
              small ? hlo::ToText(value).c_str() : "(too long to print; use --output)");
  return entry;
}

// Prints or writes one result. `participant` is its participant; nullopt when the program has only one.
absl::StatusOr<Json> DeliverResult(const Buffer& buffer, size_t index, std::optional<size_t> participant,
                                   const RunOptions& options, bool json) {
  const std::string whose = participant.has_value() ? absl::StrFormat("participant %d ", *participant) : "";
  const std::string folder = participant.has_value() ? absl::StrFormat("participant%d.", *participant) : "";
  ASSIGN_OR_RETURN(Json entry, Deliver(buffer, absl::StrFormat("%sresult %d", whose, index),
                                       absl::StrFormat("%sresult%d", folder, index), options, json));
  entry["index"] = index;
  if (participant.has_value()) entry["participant"] = *participant;
  return entry;
}

// Prints or writes the values that each participant sent while it ran.
absl::StatusOr<Json> DeliverGiven(const std::vector<RunChannels>& channels, const RunOptions& options,
                                  bool json) {
  Json delivered = Json::array();
  for (size_t m = 0; m < channels.size(); ++m) {
    const std::string whose = channels.size() > 1 ? absl::StrFormat("participant%d.", m) : "";
    for (const auto& [name, buffer] : channels[m].given()) {
      ASSIGN_OR_RETURN(Json entry, Deliver(buffer, whose + name, whose + name, options, json));
      entry["name"] = whose + name;
      delivered.push_back(std::move(entry));
    }
  }
  return delivered;
}

// Returns the results to deliver: with --shards, the parts of divided ones by participant.
std::vector<Buffer> Delivered(const std::vector<Buffer>& results, const RunOptions& options) {
  if (!options.shards || results.empty() || results[0].shards().empty()) return results;
  std::vector<Buffer> parts;
  for (size_t m = 0; m < results[0].shards().size(); ++m) {
    for (const Buffer& result : results) parts.push_back(result.shards()[m]);
  }
  return parts;
}

// A program of several participants that was divided by hand gives its results per participant anyway.
absl::Status CheckShards(const Executable& executable, size_t participants, const RunOptions& options) {
  if (!options.shards || executable.mesh() != nullptr || participants > 1) return absl::OkStatus();
  return InvalidArgument(
      "--shards: %s runs whole on one device, so that its results have no parts. A module with shardings is "
      "divided on a daemon of enough devices; any other one with --mesh, as in --mesh data=4.",
      options.module);
}

absl::Status MakeFolder(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return InvalidArgument("Folder %s cannot be created: %s.", folder, error.message());
  return absl::OkStatus();
}

// Compiles the module for --mesh. Without that option, a module with shardings is divided among the devices
// of its own mesh if the daemon has as many, and compiled whole, with a line on stderr, if that fails.
absl::StatusOr<Executable> Compile(const Client& client, const Module& module, const RunOptions& options,
                                   const Caller& caller) {
  CompileOptions compile{.describe = true, .partitioner = options.partitioner};
  const bool is_wanted = !options.mesh.empty() && options.mesh != "none";
  if (options.mesh == "own") {
    compile.mesh.emplace();
  } else if (is_wanted) {
    absl::StatusOr<Mesh> mesh = Mesh::Parse(options.mesh);
    if (!mesh.ok()) return UsageError(FromAbsl(mesh.status().message()));
    compile.mesh = *std::move(mesh);
  } else if (const int64_t devices = ShardingDevices(module); options.mesh.empty() && devices > 1 &&
                                                              devices <= client.device_count() &&
                                                              IsPartitioningWanted()) {
    compile.mesh.emplace();
  }
  if (!compile.mesh.has_value()) return client.Compile(module, compile, caller);
  const auto divide = [&]() -> absl::StatusOr<Executable> {
    const StablehloOptions& stablehlo = options.stablehlo;
    // Sizes that were chosen here are in the module only. One device runs the module as it is.
    if (!stablehlo.sizes.empty() || !stablehlo.values.empty() || !stablehlo.entry.empty() ||
        compile.mesh->device_count() == 1)
      return client.Compile(module, compile, caller);
    ASSIGN_OR_RETURN(const std::string program, ReadFile(options.module));
    return client.CompileSerialized(program, compile, caller);
  };
  absl::StatusOr<Executable> divided = divide();
  if (divided.ok() || is_wanted) return divided;
  // The user did not ask for the division, so its failure is only a warning.
  std::fprintf(stderr, "%s is computed whole, on one device: %s\n", Printable(module.name()).c_str(),
               std::string(FromAbsl(divided.status().message())).c_str());
  compile.mesh.reset();
  return client.Compile(module, compile, caller);
}

// The runs of a program: their times in ascending order, and the results of the last one.
struct Runs {
  std::vector<int64_t> us;
  std::vector<Buffer> results;
};

// Runs the program as often as the options say.
absl::StatusOr<Runs> Repeat(const Executable& executable, const RunOptions& options,
                            Participants& participants, const Caller& caller) {
  ExecuteOptions execute;
  execute.abstract = options.abstract;
  if (executable.mesh() == nullptr) execute.device = options.device;
  execute.deadline = absl::Seconds(options.deadline_seconds);
  Runs runs;
  Progress progress(options.repeat);
  for (int i = 0; i < std::max(1, options.repeat); ++i) {
    progress.Show(i);
    RETURN_IF_ERROR(participants.Open(caller));
    const absl::Time start = absl::Now();
    ASSIGN_OR_RETURN(Execution execution, executable.Start(participants.arguments(), execute, caller));
    RETURN_IF_ERROR(execution.done.Await());
    runs.us.push_back(absl::ToInt64Microseconds(absl::Now() - start));
    runs.results = std::move(execution.results);
    RETURN_IF_ERROR(participants.CheckGiven());
  }
  std::sort(runs.us.begin(), runs.us.end());
  return runs;
}

void PrintTimes(const Module& module, const CompileResult& compiled, const std::vector<int64_t>& run_us) {
  std::printf("%s: compiled in %d us%s, %d steps (%d reference), ran %zu times, median %d us\n",
              Printable(module.name()).c_str(), static_cast<int>(compiled.compile_us),
              compiled.persistent ? " (persistent cache)"
              : compiled.cached   ? " (cached)"
                                  : "",
              static_cast<int>(compiled.steps), static_cast<int>(compiled.reference_steps), run_us.size(),
              static_cast<int>(run_us[run_us.size() / 2]));
}

}  // namespace

absl::Status Run(const CommonOptions& common, const RunOptions& options) {
  ASSIGN_OR_RETURN(const ReadOptions read, ReadOptionsOf(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(options.module, read));
  RETURN_IF_ERROR(CheckSizes(*module, options));
  RETURN_IF_ERROR(MakeFolder(options.output));
  ASSIGN_OR_RETURN(const Client client, Client::Connect(common.connect));
  const ClosedAtEnd close(client);
  // Errors and the ledger name the module's file.
  const Caller module_file{.file = options.module.c_str()};
  ASSIGN_OR_RETURN(const Executable executable, Compile(client, *module, options, module_file));
  ASSIGN_OR_RETURN(const CompileResult compiled, executable.Describe(module_file));
  RETURN_IF_ERROR(CheckDevices(client, *module, executable));
  RETURN_IF_ERROR(CheckArguments(client, *module, executable));
  ASSIGN_OR_RETURN(Participants participants, Participants::Make(client, *module, executable, options));
  RETURN_IF_ERROR(CheckShards(executable, participants.channels().size(), options));
  ASSIGN_OR_RETURN(const Runs runs, Repeat(executable, options, participants, module_file));

  Json delivered = Json::array();
  const std::vector<Buffer> results = Delivered(runs.results, options);
  const bool is_whole = executable.mesh() != nullptr && !options.shards;
  const size_t lists = is_whole ? 1 : participants.channels().size(), each = results.size() / lists;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::optional<size_t> participant = lists > 1 ? std::optional(i / each) : std::nullopt;
    ASSIGN_OR_RETURN(Json entry, DeliverResult(results[i], i % each, participant, options, common.json));
    delivered.push_back(std::move(entry));
  }
  ASSIGN_OR_RETURN(Json given, DeliverGiven(participants.channels(), options, common.json));
  ASSIGN_OR_RETURN(const SessionStats stats, client.Stats(module_file));
  if (!common.json) {
    PrintTimes(*module, compiled, runs.us);
    return absl::OkStatus();
  }
  const Json json = {{"module", module->name()},
                     {"daemon", client.daemon()},
                     {"device", options.device},
                     {"mesh", executable.mesh() == nullptr ? "" : executable.mesh()->ToString()},
                     {"argument_shardings", executable.argument_shardings()},
                     {"result_shardings", executable.result_shardings()},
                     {"compile", ToJson(compiled)},
                     {"run",
                      {{"count", runs.us.size()},
                       {"min_us", runs.us.front()},
                       {"median_us", runs.us[runs.us.size() / 2]},
                       {"max_us", runs.us.back()}}},
                     {"results", std::move(delivered)},
                     {"given", std::move(given)},
                     {"stats", ToJson(stats)}};
  Show(Dump(json) + "\n");
  return absl::OkStatus();
}

}  // namespace hlod::cli
