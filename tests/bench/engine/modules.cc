// Measures how fast the engine compiles and runs the modules of a folder: NAME.hlo is a module's text,
// NAME.0, NAME.1 and so on its arguments, dense. Prints JSON for sweep.py, and with --results writes
// NAME.result.0 and so on; with --profile the times of the steps go to stderr.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "server/engine/contraction/cpu_features.h"
#include "server/engine/plan/plan.h"
#include "server/engine/plan/run_profile.h"
#include "tests/bench/engine/measure.h"

namespace hlod::bench {
namespace {

using Path = std::filesystem::path;

std::string ReadFile(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Options {
  double budget_us = 20'000;
  bool results = false;
  bool processor = false;  // Measures processor time instead of wall time.
  bool profile = false;    // Prints the steps.
  std::shared_ptr<engine::Assembler> assembler = nullptr;
};

struct Figures {
  double compile_us = 0, assemble_us = 0, run_us = 0;
  int64_t reference_steps = 0, fused_steps = 0, kernels = 0;
};

// Prints the steps of a run, the longest first.
void PrintProfile(const std::string& name, engine::RunProfile profile) {
  std::sort(profile.steps.begin(), profile.steps.end(),
            [](const engine::StepProfile& a, const engine::StepProfile& b) { return a.ns > b.ns; });
  std::fprintf(stderr, "%s: %.1f us\n", name.c_str(), static_cast<double>(profile.ns) / 1000);
  for (size_t i = 0; i < std::min<size_t>(profile.steps.size(), 12); ++i) {
    const engine::StepProfile& step = profile.steps[i];
    std::fprintf(stderr, "%12.1f us %6d runs  %s: %s\n", static_cast<double>(step.ns) / 1000,
                 static_cast<int>(step.runs), step.kind.c_str(), step.text.c_str());
  }
}

absl::StatusOr<Figures> Measure(const Path& base, const Options& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> module,
                   hlo::ParseModule(ReadFile(base.string() + ".hlo")));
  RETURN_IF_ERROR(hlo::Verify(*module));
  Figures figures;
  const Clock::time_point start = Clock::now();
  ASSIGN_OR_RETURN(const std::unique_ptr<engine::Plan> plan, engine::Compile(*module, {.assembler = options.assembler}));
  figures.compile_us = MicrosecondsSince(start);
  figures.reference_steps = plan->stats().reference_steps;
  figures.fused_steps = plan->stats().fused_steps;
  const Clock::time_point compiled = Clock::now();
  plan->AssembleNow();
  figures.assemble_us = MicrosecondsSince(compiled);
  figures.kernels = plan->kernels();

  std::vector<Bytes> memory;
  std::vector<const std::byte*> arguments;
  for (int i = 0;; ++i) {
    const Path path = base.string() + absl::StrFormat(".%d", i);
    if (!std::filesystem::exists(path)) break;
    const std::string bytes = ReadFile(path);
    memory.push_back(MakeBytes(static_cast<int64_t>(bytes.size())));
    std::memcpy(memory.back().get(), bytes.data(), bytes.size());
    arguments.push_back(memory.back().get());
  }
  std::vector<std::byte*> results;
  for (size_t r = 0; r < plan->results().size(); ++r) {
    memory.push_back(MakeBytes(hlo::ByteSize(plan->results()[r]).value_or(0)));
    results.push_back(memory.back().get());
  }
  const Bytes temporary = MakeBytes(plan->memory().temporary_bytes);
  engine::RunContext context;
  RETURN_IF_ERROR(plan->Run(arguments, results, temporary.get(), context));
  for (size_t r = 0; options.results && r < results.size(); ++r) {
    std::ofstream file(base.string() + absl::StrFormat(".result.%d", r), std::ios::binary);
    file.write(reinterpret_cast<const char*>(results[r]), hlo::ByteSize(plan->results()[r]).value_or(0));
  }
  if (options.profile) {
    engine::StepTimes times;
    context.times = &times;
    RETURN_IF_ERROR(plan->Run(arguments, results, temporary.get(), context));
    context.times = nullptr;
    PrintProfile(base.filename(), plan->Profile(times));
  }
  const auto run = [&] { (void)plan->Run(arguments, results, temporary.get(), context); };
  figures.run_us = options.processor ? MedianTime<ProcessorClock>(options.budget_us, 3, run)
                                     : MedianTime(options.budget_us, 3, run);
  return figures;
}

// Returns false if the command line is wrong.
bool ReadOptions(int argc, char** argv, Options& options, Path& folder) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--budget-ms" && i + 1 < argc) options.budget_us = 1000 * std::atof(argv[++i]);
    else if (flag == "--results") options.results = true;
    else if (flag == "--processor") options.processor = true;
    else if (flag == "--profile") options.profile = true;
    else if (flag == "--assemble") options.assembler = engine::MakeAssembler(engine::Assembling::kSecondRun);
    else if (flag == "--cpu-features" && i + 1 < argc && engine::LimitCpuFeatures(argv[i + 1]).ok()) ++i;
    else if (folder.empty() && flag.substr(0, 1) != "-") folder = flag;
    else return false;
  }
  return !folder.empty();
}

int Main(int argc, char** argv) {
  Options options;
  Path folder;
  if (!ReadOptions(argc, argv, options, folder)) {
    std::fprintf(stderr,
                 "usage: module_bench [--budget-ms N] [--results] [--processor] [--profile] "
                 "[--assemble] [--cpu-features LEVEL] FOLDER\n");
    return 2;
  }
  std::error_code error;
  std::printf("{");
  const char* separator = "\n";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".hlo") continue;
    Path base = entry.path();
    base.replace_extension();
    const absl::StatusOr<Figures> figures = Measure(base, options);
    if (!figures.ok()) {
      std::fprintf(stderr, "%s: %s\n", base.filename().c_str(), figures.status().ToString().c_str());
      continue;
    }
    std::printf("%s\"%s\": {\"compile_us\": %.3f, \"assemble_us\": %.3f, \"run_us\": %.3f, ", separator,
                base.filename().c_str(), figures->compile_us, figures->assemble_us, figures->run_us);
    std::printf("\"reference_steps\": %d, \"fused_steps\": %d, \"kernels\": %d}",
                static_cast<int>(figures->reference_steps), static_cast<int>(figures->fused_steps),
                static_cast<int>(figures->kernels));
    separator = ",\n";
  }
  std::printf("\n}\n");
  if (error) std::fprintf(stderr, "%s: %s\n", folder.c_str(), error.message().c_str());
  return error ? 1 : 0;
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) { return hlod::bench::Main(argc, argv); }
