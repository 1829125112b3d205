// XLA and the programs of tensors: XLA's own parser, verifier and compiler accept the module of each recorded
// operation, and it returns what hlod's daemon returns.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "common/base/system/file.h"
#include "common/hlo/elements/npy.h"
#include "common/hlo/proto/codec.h"
#include "tests/support/python.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

using nlohmann::json;

class XlaRows : public TensorTest {
 protected:
  void SetUp() override {
    TensorTest::SetUp();
    std::string name = (std::filesystem::temp_directory_path() / "xla-rows-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    TensorTest::TearDown();
  }

  // Writes a program with its arguments and the daemon's results. Returns false when no result is lazy on the
  // device.
  bool Write(const std::string& name, const std::vector<Tensor>& results) {
    std::vector<Tensor> lazy, arguments;
    for (const Tensor& result : results) {
      if (result.defined() && result.state() == TensorState::kLazy) lazy.push_back(result);
    }
    if (lazy.empty()) return false;
    const std::unique_ptr<Module> module = Lower(lazy, &arguments);
    const std::filesystem::path folder = folder_ / std::to_string(count_++);
    std::filesystem::create_directory(folder);
    json description = {{"name", name}, {"arguments", json::array()}, {"results", json::array()}};
    EXPECT_TRUE(WriteFile((folder / "module.pb").string(), hlo::Serialize(*module)).ok());
    const auto write = [&](const std::vector<Tensor>& tensors, const char* list, const char* prefix) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const Literal literal = tensors[i].ToLiteral();
        description[list].push_back(std::string(hlo::Name(literal.shape().type)));
        const std::string file = (folder / (prefix + std::to_string(i) + ".npy")).string();
        EXPECT_TRUE(hlo::WriteNpy(file, literal).ok());
      }
    };
    write(arguments, "arguments", "argument");
    write(lazy, "results", "result");
    std::ofstream(folder / "program.json") << description;
    return true;
  }

  std::filesystem::path folder_;
  int count_ = 0;
};

// Acceptance row LT17. Runs every operation of the recorded cases once: its cases are tried in turn until one
// yields a program.
TEST_F(XlaRows, EveryProgramIsValidInXlaAndGivesTheSame) {
  const std::optional<std::string> python = PythonWith("numpy, jax, ml_dtypes");
  if (!python.has_value()) GTEST_SKIP() << kNoPython << "numpy, jax, ml_dtypes";
  std::map<std::string, int> written;  // The number of modules written per operation and variant.
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(SourceDir() / "tests/unit/client/tensor/operation/cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const json record = json::parse(line);
      const std::string op = record.at("op"), name = op + "." + record.at("variant").get<std::string>();
      const auto binding = AllBindings().find(op);
      if (binding == AllBindings().end() || written[name] > 0) continue;
      try {
        Arguments arguments(record, binding->second.parameters, device());
        const Results results = binding->second.call(arguments);
        written[name] += Write(name, results.tensors) ? 1 : 0;
      } catch (const Error&) {
        // OperationTest checks whether the call works.
      } catch (const std::runtime_error&) {
      }
    }
  }
  EXPECT_GT(count_, 200);
  const std::string report = (folder_ / "report").string();
  const std::string command = *python + " " +
                              (SourceDir() / "tests/unit/client/tensor/xla_check.py").string() + " " +
                              folder_.string() + " >" + report + " 2>&1";
  EXPECT_EQ(system(command.c_str()), 0) << ReadFile(report).value();
}

}  // namespace
}  // namespace hlod
