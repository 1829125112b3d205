// Compares the gradient of every operation, on the host and on a device, with PyTorch's autograd
// (generate_gradients.py): for the recorded cases, and at 0, at equal elements, at 1e2 and 1e30.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/str_format.h"
#include "common/base/text/strings.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/operation/bindings.h"
#include "tests/unit/client/tensor/operation/coverage.h"
#include "tests/unit/client/tensor/operation/gradient.h"

namespace hlod {
namespace {

using nlohmann::json;

struct Case {
  std::string name, where;
  json record;     // The JSON of the case, with "args" and "kwargs".
  json gradients;  // One gradient per floating tensor among the arguments.
};

std::vector<json> Lines(const std::filesystem::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

const std::vector<Case>& Cases() {
  static const auto* const kCases = [] {
    auto* cases = new std::vector<Case>();
    const char* only = std::getenv("HLOD_OPERATION");
    std::map<std::string, std::vector<json>> files;
    int number = 0;
    for (json& line : Lines(OperationFolder() / "gradients/cases.json")) {
      ++number;
      const std::string op = line.at("op"), variant = line.at("variant");
      if (BindingOf(line) == nullptr || (only != nullptr && op != only)) continue;
      Case one{variant.empty() ? op : op + "." + variant,
               "gradients:" + std::to_string(number),
               {},
               line.at("gradients")};
      if (line.contains("case")) {
        const std::string where = line.at("case");
        const size_t colon = where.find(':');
        std::vector<json>& file = files[where.substr(0, colon)];
        if (file.empty()) file = Lines(OperationFolder() / "cases" / where.substr(0, colon));
        one.record = file.at(std::stoul(where.substr(colon + 1)) - 1);
        if (one.record.at("op") != op) throw std::runtime_error(where + " is not a case of " + op);
      } else {
        one.record = std::move(line);
      }
      cases->push_back(std::move(one));
    }
    return cases;
  }();
  return *kCases;
}

// Appends the floating tensors in the order of generate_gradients.py.
void Leaves(const json& value, std::vector<const json*>& leaves) {
  if (IsArray(value)) {
    if (value.at("type") == "f32" || value.at("type") == "f64") leaves.push_back(&value);
  } else if (value.is_array()) {
    for (const json& one : value) Leaves(one, leaves);
  }
}
std::vector<const json*> LeavesOf(const json& record) {
  std::vector<const json*> leaves;
  Leaves(record.at("args"), leaves);
  for (const auto& [name, value] : record.at("kwargs").items()) Leaves(value, leaves);
  return leaves;
}

// Returns the sum of all elements, element i times cos(i).
Tensor Weighted(const Tensor& x) {
  const Tensor weights = Cos(Arange(0, x.numel(), 1, {.type = kF64, .device = x.device()})).Reshape(x.dims());
  return Sum(x.To(kF64) * weights);
}
Tensor Total(const Results& results) {
  Tensor total;
  const auto add = [&](const Tensor& x) {
    const Tensor term = Weighted(x);
    total = total.defined() ? total + term : term;
  };
  for (const Tensor& result : results.tensors) {
    if (!result.requires_grad()) continue;
    if (hlo::IsComplex(result.dtype())) {
      add(Real(result));
      add(Imag(result));
    } else {
      add(result);
    }
  }
  return total;
}

struct Attempt {
  const Case* of = nullptr;
  std::vector<std::pair<const json*, Tensor>> gradients;  // Pairs of the expected and the computed gradient.
  std::string failure;
};

void Start(Attempt& run, const Device& device) {
  run.failure.clear();
  run.gradients.clear();
  const Binding& binding = *BindingOf(run.of->record);
  try {
    const std::vector<const json*> leaves = LeavesOf(run.of->record);
    std::set<const json*> wanted;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!run.of->gradients.at(i).is_null()) wanted.insert(leaves[i]);
    }
    Arguments arguments(run.of->record, binding.parameters, device);
    arguments.RequireGradients(wanted);
    const Results results = binding.call(arguments);
    const Tensor total = Total(results);
    if (total.defined()) total.Backward();
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (run.of->gradients[i].is_null()) continue;
      const auto leaf = arguments.leaves().find(leaves[i]);
      if (leaf == arguments.leaves().end()) throw std::runtime_error("an argument was not used");
      run.gradients.emplace_back(&run.of->gradients[i], leaf->second.Grad());
    }
  } catch (const std::exception& error) {
    run.failure = error.what();
  }
}

// Returns true within the tolerance; where PyTorch's gradient is NaN, any number passes.
bool IsNear(double expected, double actual, double slack) {
  if (std::isnan(expected)) return true;
  if (std::isinf(expected)) return actual == expected || (actual * expected > 0 && std::abs(actual) > 1e30);
  return std::abs(actual - expected) <= std::max(slack, 1.0) * (2e-5 + 3e-4 * std::abs(expected));
}

void Finish(Attempt& run) {
  if (!run.failure.empty()) return;
  const Binding& binding = *BindingOf(run.of->record);
  try {
    size_t number = 0;
    for (const auto& [expected, gradient] : run.gradients) {
      ++number;
      // An undefined gradient is zero.
      std::vector<double> actual(expected->size(), 0);
      if (gradient.defined()) actual = gradient.To(kF64).ToVector<double>();
      if (actual.size() != expected->size()) {
        run.failure = absl::StrFormat("%d elements instead of %d", actual.size(), expected->size());
      }
      for (size_t i = 0; i < expected->size() && run.failure.empty(); ++i) {
        const double wanted = DecodeNumber((*expected)[i]);
        if (IsNear(wanted, actual[i], binding.slack)) continue;
        run.failure =
            absl::StrFormat("gradient %d: element %d is %.7g instead of %.7g", number, i, actual[i], wanted);
      }
    }
  } catch (const std::exception& error) {
    run.failure = error.what();
  }
  run.gradients.clear();
}

// Records many cases and runs them as one program; when it fails, runs each case alone.
std::vector<Attempt> RunAll(const Device& device) {
  constexpr size_t kBatch = 32;
  std::vector<Attempt> runs;
  for (const Case& one : Cases()) runs.push_back({&one, {}, {}});
  for (size_t begin = 0; begin < runs.size(); begin += kBatch) {
    const size_t end = std::min(begin + kBatch, runs.size());
    for (size_t i = begin; i < end; ++i) Start(runs[i], device);
    bool together = true;
    try {
      Sync();
    } catch (const Error&) {
      together = false;
    }
    for (size_t i = begin; i < end; ++i) {
      if (!together) Start(runs[i], device);
      Finish(runs[i]);
    }
  }
  return runs;
}

// Returns the operations of ops.csv whose gradient is not "passing".
std::set<std::string> KnownToFail() {
  std::set<std::string> names;
  for (const CoverageRow& row : ReadCoverage()) {
    if (row.gradient != "passing") names.insert(row.name);
  }
  return names;
}

class OperationGradient : public TensorTest {
 protected:
  void ExpectAsRecorded(const Device& device) {
    const std::set<std::string> known = KnownToFail();
    std::multimap<std::string, std::string> failures;
    GradientStates(device, &failures);
    for (const auto& [name, failure] : failures) {
      if (known.count(name) == 0) ADD_FAILURE() << name << ": " << failure;
    }
    if (std::getenv("HLOD_SHOW_FAILURES") == nullptr) return;
    for (const auto& [name, failure] : failures) std::printf("%s: %s\n", name.c_str(), failure.c_str());
  }
};

TEST_F(OperationGradient, OnTheHostIsPyTorchs) { ExpectAsRecorded(Device()); }
TEST_F(OperationGradient, OnADeviceIsPyTorchs) { ExpectAsRecorded(device()); }

// A measurement: the gradients of most of PyTorch's operations pass.
TEST(GradientTable, AtLeast180OperationsPass) {
  const std::vector<CoverageRow> rows = ReadCoverage();
  EXPECT_GE(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.gradient == "passing"; }),
      180);
}

}  // namespace

std::map<std::string, GradientState> GradientStates(const Device& device,
                                                    std::multimap<std::string, std::string>* failures) {
  std::map<std::string, GradientState> states;
  const json counted = json::parse(std::ifstream(OperationFolder() / "gradients/operations.json"));
  for (const auto& [name, count] : counted.items()) {
    states[name] = count == "n/a"      ? GradientState{"n/a", ""}
                   : count.is_string() ? GradientState{"not compared", count.get<std::string>()}
                   : count == 0        ? GradientState{"not compared", "PyTorch's samples have none"}
                                       : GradientState{"missing", ""};
  }
  std::set<std::string> run;
  for (const Attempt& one : RunAll(device)) {
    GradientState& state = states[one.of->name];
    if (run.insert(one.of->name).second) state = {"passing", ""};
    if (one.failure.empty()) continue;
    if (failures != nullptr) failures->emplace(one.of->name, one.of->where + ": " + one.failure);
    if (state.state != "passing") continue;
    const bool missing = one.failure.find("no derivative") != std::string::npos ||
                         one.failure.find("no transpose rule") != std::string::npos;
    state = {missing ? "missing" : "failing", one.failure};
  }
  return states;
}

}  // namespace hlod
