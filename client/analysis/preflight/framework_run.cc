// Finds the steps, and the purposes of arrays, by the program that computes most.
#include "client/analysis/preflight/framework_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "client/analysis/module/cost.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod::analysis {
namespace {

// A program's parameters: their names, and which of them are arrays of floating-point numbers.
struct Parameter {
  std::string name;
  bool is_float = false;
};

struct Program {
  std::string name;
  double flops = 0;
  int64_t runs = 0;
  std::vector<Parameter> parameters;
};

Program Describe(const hlo::Module& module) {
  Program program = {.name = module.name(), .flops = CostOf(module).total.flops};
  const hlo::Computation& entry = module.entry();
  for (const hlo::NodeId parameter : entry.parameters()) {
    const hlo::Notes* const notes = entry.notes(parameter);
    const hlo::Shape& shape = entry[parameter].shape();
    program.parameters.push_back({notes == nullptr ? "" : notes->metadata.op_name,
                                  shape.IsArray() && !shape.dims.empty() && hlo::IsFloat(shape.type)});
  }
  return program;
}

// Returns true for the names that optimizers' state has: a part of the name ("s[0].mu['w']" has s, 0, mu and w) is
// a field of Optax's states, or begins or goes on as programs call such state ("opt_state", "momentum").
bool NamesOptimizerState(std::string_view name) {
  static constexpr std::string_view kFields[] = {"mu", "nu", "trace", "sum_of_squares", "velocity", "v_row", "v_col"};
  const auto is_in_part = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && is_in_part(name[end])) ++end;
    const std::string_view part = name.substr(begin, end - begin);
    if (part.starts_with("opt") || part.find("moment") != std::string_view::npos ||
        std::find(std::begin(kFields), std::end(kFields), part) != std::end(kFields)) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

// Returns the parameters of the step that are state: in a later run they take a result of an earlier one, or
// the same array. With one run it cannot be told, and all are taken for it that another program has made.
// `handed_on` is given, for each result that becomes a parameter's array in the next run, that parameter.
std::set<int> StateOf(const std::vector<const v1::PreflightExecute*>& runs,
                      const std::set<uint64_t>& uploaded, std::map<int, int>& handed_on) {
  std::set<int> state;
  for (size_t run = 1; run < runs.size(); ++run) {
    const v1::PreflightExecute &before = *runs[run - 1], &now = *runs[run];
    for (int i = 0; i < now.arguments_size(); ++i) {
      const auto& results = before.results();
      const auto found = std::find(results.begin(), results.end(), now.arguments(i));
      if (found != results.end()) handed_on[static_cast<int>(found - results.begin())] = i;
      const bool kept = i < before.arguments_size() && before.arguments(i) == now.arguments(i);
      if (found != results.end() || kept) state.insert(i);
    }
  }
  if (runs.size() != 1) return state;
  for (int i = 0; i < runs[0]->arguments_size(); ++i) {
    if (!uploaded.contains(runs[0]->arguments(i))) state.insert(i);
  }
  return state;
}

}  // namespace

absl::StatusOr<FrameworkRun> ReadFrameworkRun(const PreflightLog& record) {
  std::map<std::string, Program> programs;
  std::set<uint64_t> uploaded;
  for (const v1::PreflightEvent& event : record.events) {
    if (event.has_program() && !programs.contains(event.program().digest())) {
      ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> module,
                       hlo::FromSerialized(event.program().module()));
      programs[event.program().digest()] = Describe(*module);
    }
    if (event.has_execute()) ++programs[event.execute().digest()].runs;
    if (event.has_buffer() && event.buffer().cause() != 0) uploaded.insert(event.buffer().handle());
  }
  FrameworkRun framework;
  std::map<std::string, double> flops;
  for (const auto& [digest, program] : programs)
    flops[program.name] += program.flops * static_cast<double>(program.runs);
  const auto most = std::max_element(flops.begin(), flops.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == flops.end() || most->second <= 0) return framework;
  for (const auto& [digest, program] : programs) {
    if (program.name == most->first) framework.step_digests.insert(digest);
  }
  std::vector<const v1::PreflightExecute*> runs;
  for (const v1::PreflightEvent& event : record.events) {
    if (event.has_execute() && framework.step_digests.contains(event.execute().digest()))
      runs.push_back(&event.execute());
  }
  std::map<int, int> handed_on;
  const std::set<int> state = StateOf(runs, uploaded, handed_on);
  const auto describe = [&](const v1::PreflightExecute& run, uint64_t handle, int parameter) {
    const std::vector<Parameter>& parameters = programs[run.digest()].parameters;
    if (parameter >= static_cast<int>(parameters.size())) return;
    const Parameter& named = parameters[static_cast<size_t>(parameter)];
    FrameworkRun::Array& array = framework.arrays[handle];
    array.name = named.name;
    if (!state.contains(parameter)) return;
    if (NamesOptimizerState(named.name)) array.role = "optimizer";
    else if (named.is_float) array.role = "weight";
  };
  for (const v1::PreflightExecute* const run : runs) {
    for (const auto& [result, parameter] : handed_on) {
      if (result < run->results_size()) describe(*run, run->results(result), parameter);
    }
    for (int i = 0; i < run->arguments_size(); ++i) describe(*run, run->arguments(i), i);
  }
  return framework;
}

}  // namespace hlod::analysis
