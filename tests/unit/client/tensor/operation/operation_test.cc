// Compares every operation, on the host and on a device, with what PyTorch returned for the same arguments
// (generate.py).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "client/tensor/dispatch/operation.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/operation/bindings.h"
#include "tests/unit/client/tensor/operation/compare.h"
#include "tests/unit/client/tensor/operation/coverage.h"
#include "tests/unit/client/tensor/operation/gradient.h"

namespace hlod {
namespace {

using nlohmann::json;

struct Case {
  std::string name;  // As in operations.json: "div.floor_rounding".
  std::string line;  // The place of the record, for example "d.json:17".
  json record;
};

// Returns all recorded cases whose operation has a binding; with HLOD_OPERATION=NAME, those of that
// operation.
const std::vector<Case>& BoundCases() {
  static const auto* const kCases = [] {
    auto* cases = new std::vector<Case>();
    const char* only = std::getenv("HLOD_OPERATION");
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(OperationFolder() / "cases"))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
      std::ifstream file(path);
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        json record = json::parse(line);
        const std::string op = record.at("op"), variant = record.at("variant");
        if (BindingOf(record) == nullptr || (only != nullptr && op != only)) continue;
        cases->push_back({variant.empty() ? op : op + "." + variant,
                          path.filename().string() + ":" + std::to_string(number), std::move(record)});
      }
    }
    return cases;
  }();
  return *kCases;
}

struct Attempt {
  const Case* of = nullptr;
  std::optional<Results> results;
  std::string failure;  // Empty when the results are as recorded.
};

void Start(Attempt& run, const Device& device) {
  const Binding& binding = *BindingOf(run.of->record);
  try {
    Arguments arguments(run.of->record, binding.parameters, device);
    run.results.emplace(binding.call(arguments));
    arguments.End();
  } catch (const std::exception& error) {
    run.failure = error.what();
  }
}
void Finish(Attempt& run) {
  if (!run.failure.empty()) return;
  try {
    const Binding& binding = *BindingOf(run.of->record);
    run.failure = Difference(run.of->record.at("result"), *run.results, binding.slack);
  } catch (const std::exception& error) {
    run.failure = error.what();
  }
  run.results.reset();
}

// Records many cases and runs them as one program; when it fails, runs each case alone.
std::vector<Attempt> RunAll(const Device& device) {
  constexpr size_t kBatch = 32;
  std::vector<Attempt> runs;
  for (const Case& one : BoundCases()) runs.push_back({&one});
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
      const bool recorded = runs[i].failure.empty();
      Finish(runs[i]);
      if (recorded && !runs[i].failure.empty() && !(device == Device())) together = false;
    }
    if (together) continue;
    for (size_t i = begin; i < end; ++i) {
      runs[i].failure.clear();
      Start(runs[i], device);
      Finish(runs[i]);
    }
  }
  return runs;
}

// Returns the operations that are known to fail.
std::set<std::string> KnownToFail() {
  std::set<std::string> names;
  for (const CoverageRow& row : ReadCoverage()) {
    if (row.state == "failing") names.insert(row.name);
  }
  return names;
}

class Operation : public TensorTest {
 protected:
  // Fails with the first failure of each operation, except those known to fail.
  void ExpectAsRecorded(const std::vector<Attempt>& runs) {
    const std::set<std::string> known = KnownToFail();
    for (const Attempt& run : runs) {
      if (run.failure.empty()) continue;
      const std::string text = run.of->line + ": " + run.failure;
      failures_.emplace(run.of->name, text);
      if (known.count(run.of->name) == 0) ADD_FAILURE() << run.of->name << ": " << text;
    }
  }
  inline static std::map<std::string, std::string> failures_;
};

TEST_F(Operation, OnTheHostGivesPyTorchsResults) { ExpectAsRecorded(RunAll(Device())); }

TEST_F(Operation, OnADeviceGivesPyTorchsResults) { ExpectAsRecorded(RunAll(device())); }

// Returns the lines of a dump that are of files of the library: "stft.cc:67".
std::set<std::string> LibraryLines(const std::string& dump) {
  std::set<std::string> lines;
  static const std::regex kLine("[(, ]([A-Za-z0-9_]+[.](?:cc|h)):([0-9]+)");
  for (std::sregex_iterator at(dump.begin(), dump.end(), kLine), end; at != end; ++at) {
    const std::string file = (*at)[1];
    if (!file.starts_with("bindings") && file != "arguments.cc" && file != "arguments.h") {
      lines.insert(file + ":" + (*at)[2].str());
    }
  }
  return lines;
}

// The parts of an operation belong to the line that called it: in errors, reports and the ledger.
TEST_F(Operation, EveryInstructionHasTheCallersLine) {
  std::map<std::string, int> seen;
  std::map<std::string, std::set<std::string>> wrong;
  for (const Case& one : BoundCases()) {
    if (++seen[one.name] > 3) continue;
    const Binding& binding = *BindingOf(one.record);
    try {
      Arguments arguments(one.record, binding.parameters, device());
      const Results results = binding.call(arguments);
      for (const Tensor& result : results.tensors) {
        if (!result.defined() || result.device() == Device()) continue;
        wrong[one.name].merge(LibraryLines(Dump(result)));
      }
      arguments.End();
    } catch (const std::exception&) {
      continue;  // The comparison above names what fails.
    }
  }
  for (const auto& [name, lines] : wrong) {
    for (const std::string& line : lines) ADD_FAILURE() << name << " records " << line;
  }
}

// The reasons why operations of PyTorch's table are not in hlod.
const std::map<std::string, std::string>& NotThere() {
  static const auto* const kReasons = new std::map<std::string, std::string>{
      {"chalf", "XLA has no complex numbers of two halves: c64 is the least"},
      {"linalg.ldl_factor",
       "XLA has no symmetric indefinite factorization: linalg::Lu and Solve take such matrices"},
      {"linalg.ldl_factor_ex", "as linalg.ldl_factor"},
      {"linalg.ldl_solve", "as linalg.ldl_factor; linalg::Solve"},
      {"nn.functional.batch_norm.without_cudnn", "a setting of CUDA's library; BatchNorm is compared above"},
      {"nn.functional.triplet_margin_with_distance_loss",
       "there as TripletMarginWithDistanceLoss; a function cannot be recorded: a test of Loss"},
      {"resize_", "a tensor keeps its size: Reshape; Narrow and Pad make others"},
      {"resize_as_", "as resize_"},
  };
  return *kReasons;
}

// The reasons why rows of hlod's table have no binding.
const std::map<std::string, std::string>& RowsWithoutCases() {
  static const auto* const kRows = new std::map<std::string, std::string>{
      {"copy_", "in place: the tests of InPlace"},
      {"full", "not in PyTorch's table"},
      {"fft.fftfreq", "not in PyTorch's table: the tests of Fourier"},
      {"fft.rfftfreq", "not in PyTorch's table: the tests of Fourier"},
      {"rand", "random: the tests of Random"},
      {"randn", "random: the tests of Random"},
      {"uniform", "random: the tests of Random"},
      {"randint", "random: the tests of Random"},
      {"randperm", "random: the tests of Random"},
      {"rand_like", "random: the tests of Random"},
      {"randn_like", "random: the tests of Random"},
      {"randint_like", "random: the tests of Random"},
      {"bernoulli", "random: the tests of Random"},
      {"normal", "random: the tests of Random"},
      {"multinomial", "random: the tests of Random"},
      {"exponential", "random: the tests of Random"},
      {"gamma", "random: the tests of Random"},
      {"beta", "random: the tests of Random"},
      {"poisson", "random: the tests of Random"},
      {"categorical", "random: the tests of Random"},
      {"gumbel", "random: the tests of Random"},
      {"truncated_normal", "random: the tests of Random"},
      {"nn.functional.gumbel_softmax", "random: the tests of Random"},
      {"random_key", "as JAX: the tests of RandomKeys"},
      {"nn.functional.fold", "the tests of Movement"},
      {"index", "the tests of Movement"},
      {"fill_diagonal_", "the tests of Movement"},
      {"nn.functional.rms_norm", "the tests of Network"},
      {"nn.functional.scaled_dot_product_attention", "the tests of Network"},
      {"nn.functional.dropout", "random: the tests of Network and of RandomLayers"},
      {"nn.functional.rrelu", "random: the tests of RandomLayers"},
  };
  return *kRows;
}

TEST(OperationTable, EveryRowHasABindingOrAReason) {
  std::set<std::string> bound;
  for (const auto& [name, binding] : AllBindings()) {
    bound.insert(name);
    bound.insert(name.substr(name.rfind('.') + 1));
  }
  for (const lazy::Operation* row : lazy::AllOperations()) {
    const bool excused = RowsWithoutCases().count(row->pytorch) != 0;
    EXPECT_TRUE(excused || bound.count(row->pytorch) != 0) << row->pytorch << " has no binding";
  }
}

TEST(OperationTable, NoOperationIsMissing) {
  for (const CoverageRow& row : ReadCoverage()) {
    EXPECT_NE(row.state, "missing") << row.name;
    EXPECT_EQ(row.state == "not", NotThere().count(row.name) != 0) << row.name;
  }
}

TEST(OperationTable, EveryBindingIsANameOfPyTorchsTable) {
  std::set<std::string> names;
  for (const json& row : json::parse(std::ifstream(OperationFolder() / "operations.json"))) {
    const std::string name = row.at("name");
    names.insert(name);
  }
  for (const auto& [name, binding] : AllBindings()) {
    const auto found = names.lower_bound(name);
    EXPECT_TRUE(found != names.end() && found->rfind(name, 0) == 0) << name;
  }
}

// HLOD_WRITE_COVERAGE=PATH writes the state of every operation of PyTorch's table to PATH, usually
// tests/unit/client/tensor/operation/ops.csv.
TEST_F(Operation, WritesCoverage) {
  const char* path = std::getenv("HLOD_WRITE_COVERAGE");
  if (path == nullptr) GTEST_SKIP() << "HLOD_WRITE_COVERAGE is not set";
  std::map<std::string, std::string> failures;
  std::set<std::string> run;
  for (const Device& on : {Device(), device()}) {
    for (const Attempt& one : RunAll(on)) {
      run.insert(one.of->name);
      if (!one.failure.empty()) failures.emplace(one.of->name, one.failure);
    }
  }
  std::ofstream file(path);
  const std::map<std::string, GradientState> gradients = GradientStates(device(), nullptr);
  const auto field = [](std::string text) {
    text = text.substr(0, 100);
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::replace(text.begin(), text.end(), ',', ';');
    return text;
  };
  file << "operation,state,why,gradient\n";
  for (const json& row : json::parse(std::ifstream(OperationFolder() / "operations.json"))) {
    const std::string name = row.at("name");
    std::string state = "missing,";
    if (const auto failed = failures.find(name); failed != failures.end()) {
      state = "failing," + field(failed->second);
    } else if (run.count(name) != 0) {
      state = "passing,";
    } else if (row.at("random").get<bool>()) {
      state = "not compared,random";
    } else if (const auto reason = NotThere().find(name); reason != NotThere().end()) {
      file << name << ",not," << field(reason->second) << ",n/a\n";
      continue;
    }
    file << name << "," << state << ",";
    if (const auto found = gradients.find(name); found != gradients.end()) {
      const auto& [gradient, why] = found->second;
      file << gradient << (why.empty() ? "" : ": " + field(why));
    } else {
      file << "n/a";
    }
    file << "\n";
  }
}

}  // namespace
}  // namespace hlod
