// Measures how fast the engine compiles and runs the modules that JAX lowered (tests/conformance/jax): prints
// one line per module, and the geometric means. compare.py reads the output of `--json` and compares two
// builds, or this one and XLA.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/hlo/proto/codec.h"
#include "server/engine/plan/plan.h"
#include "tests/bench/engine/measure.h"
#include "tests/conformance/case.h"

namespace hlod::bench {
namespace {

struct Figures {
  double compile_us = 0, run_us = 0;
};

absl::Status Fail(std::string_view what, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", std::string(what).c_str(), status.ToString().c_str());
  return status;
}

absl::Status Measure(const std::string& name, double budget_us, Figures& figures) {
  const absl::StatusOr<testing::Case> jax = testing::LoadCase(name);
  if (!jax.ok()) return Fail(name, jax.status());
  const auto module = hlo::FromSerialized(jax->module_proto, {.for_execution = true});
  if (!module.ok()) return Fail(name, module.status());
  auto plan = engine::Compile(**module);
  if (!plan.ok()) return Fail(name, plan.status());
  figures.compile_us = MedianTime(budget_us, 5, [&] { plan = engine::Compile(**module); });

  std::vector<Bytes> memory;
  std::vector<const std::byte*> arguments;
  std::vector<std::byte*> results;
  for (const hlo::Literal& argument : jax->arguments) {
    memory.push_back(MakeBytes(static_cast<int64_t>(argument.bytes().size())));
    std::memcpy(memory.back().get(), argument.bytes().data(), argument.bytes().size());
    arguments.push_back(memory.back().get());
  }
  for (size_t r = 0; r < (*plan)->results().size(); ++r) {
    const int alias = (*plan)->aliases()[r];
    if (alias < 0) memory.push_back(MakeBytes(hlo::ByteSize((*plan)->results()[r]).value_or(0)));
    results.push_back(alias < 0 ? memory.back().get() : const_cast<std::byte*>(arguments[alias]));
  }
  const Bytes temporary = MakeBytes((*plan)->memory().temporary_bytes);
  engine::RunContext context;
  const auto run = [&] { return (*plan)->Run(arguments, results, temporary.get(), context); };
  if (absl::Status status = run(); !status.ok()) return Fail(name, status);
  figures.run_us = MedianTime(budget_us, 5, [&] { (void)run(); });
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  bool json = false;
  double budget_us = 20'000;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--json") json = true;
    else if (flag == "--only" && i + 1 < argc) only = argv[++i];
    else if (flag == "--budget-ms" && i + 1 < argc) budget_us = 1000 * std::atof(argv[++i]);
    else {
      std::fprintf(stderr, "usage: corpus_bench [--json] [--only PART_OF_A_NAME] [--budget-ms N]\n");
      return 2;
    }
  }
  double compile_logs = 0, run_logs = 0;
  int count = 0, failures = 0;
  if (json) std::printf("{");
  for (const std::string& name : testing::CaseNames()) {
    if (name.find(only) == std::string::npos) continue;
    Figures figures;
    if (!Measure(name, budget_us, figures).ok()) {
      ++failures;
      continue;
    }
    if (json) {
      std::printf("%s\n\"%s\": {\"compile_us\": %.3f, \"run_us\": %.3f}", count == 0 ? "" : ",", name.c_str(),
                  figures.compile_us, figures.run_us);
    } else {
      std::printf("%-44s compile %10.1f us   run %10.1f us\n", name.c_str(), figures.compile_us,
                  figures.run_us);
    }
    compile_logs += std::log(figures.compile_us);
    run_logs += std::log(figures.run_us);
    ++count;
  }
  if (json) std::printf("\n}\n");
  else if (count > 0)
    std::printf("geometric mean of %d: compile %.1f us, run %.1f us\n", count, std::exp(compile_logs / count),
                std::exp(run_logs / count));
  return failures == 0 && count > 0 ? 0 : 1;
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) { return hlod::bench::Main(argc, argv); }
