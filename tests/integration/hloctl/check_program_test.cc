// hloctl check -- PROGRAM as typed: a program that trains, unchanged, and programs that end in other ways.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/integration/support/process.h"
#include "tests/support/python.h"
#include "tests/support/shell.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

// The bytes of train_program's model: two matrices and two biases of floats.
constexpr int64_t kWeights = 4 * (2 * 4096 * 1024 + 4096 + 1024);
constexpr int64_t kBatch = 4 * 512 * 1024;

class CheckProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("check-program-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `options` are placed before --, `words` after train_program.
  Output Check(const std::string& options, const std::string& words = "",
               const std::string& streams = "2>&1") {
    return Type("check " + options + " -- " + Beside("train_program") + " " + words, streams);
  }
  Output Type(const std::string& words, const std::string& streams = "2>&1") {
    return RunShell(Beside("../bin/hloctl") + " " + words + " " + streams);
  }
  nlohmann::json CheckJson(const std::string& options, const std::string& words = "", int code = 0) {
    const Output output = Check("--json " + options, words, "2>/dev/null");
    EXPECT_EQ(output.code, code) << output.text;
    nlohmann::json json = nlohmann::json::parse(output.text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << output.text;
    return json;
  }
  std::string File(const char* name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // Returns the line number of the line in train_program.cc that ends with the comment.
  std::string LineOf(const std::string& comment) {
    std::ifstream source(SourceDir() / "tests/integration/support/train_program.cc");
    std::string line;
    for (int number = 1; std::getline(source, line); ++number) {
      if (line.find("// " + comment) != std::string::npos)
        return "train_program.cc:" + std::to_string(number);
    }
    return "no such line";
  }

  std::filesystem::path folder_;
};

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nin: " << text;
}

TEST_F(CheckProgram, PassesAndSaysWhatTheMemoryIsFor) {
  const nlohmann::json json = CheckJson("--target h100");
  EXPECT_TRUE(json["passed"]);
  EXPECT_EQ(json["fit"], "fits");
  EXPECT_EQ(json["steps"], 3);
  const nlohmann::json& parts = json["peak_parts"];
  EXPECT_EQ(parts["weights"], kWeights);
  EXPECT_NEAR(parts["optimizer state"].get<double>() / kWeights, 2, 1e-5)
      << "two moments, a count: " << parts;
  // A layer's update needs its own gradient alone, which is free before the next layer's is made.
  EXPECT_GE(parts["gradients"].get<double>(), 4 * 4096 * 1024) << parts;
  EXPECT_GT(parts["activations"].get<double>(), 0) << parts;
  double sum = 0;
  for (const auto& [name, bytes] : parts.items()) sum += bytes.get<double>();
  EXPECT_NEAR(sum, json["peak_bytes"]["low"].get<double>(), 1) << json;
  EXPECT_EQ(json["upload_calls"], 3);
  EXPECT_EQ(json["upload_bytes"], 3 * kBatch);
  EXPECT_EQ(json["unsent_bytes"], 3 * kBatch) << "no batch is sent";
  EXPECT_EQ(json["download_calls"], 0);
  EXPECT_TRUE(json["graph_breaks"].empty()) << json["graph_breaks"];
}

TEST_F(CheckProgram, TheTextNamesTheParts) {
  const Output output = Check("--target h100");
  EXPECT_EQ(output.code, 0) << output.text;
  for (const char* part : {"done", "3 steps", "weights", "gradients", "optimizer state", "activations",
                           "1 chip: fits", "verdict          passed"})
    ExpectContains(output.text, part);
}

// Weights and moments belong to the line of the optimizer's step, and none to that of Sync(), which ran it
// all.
TEST_F(CheckProgram, ArraysAtThePeakStandAtTheLinesThatMadeThem) {
  const nlohmann::json json = CheckJson("");
  std::set<std::string> lines;
  for (const nlohmann::json& array : json["largest"]) {
    const std::string line = array["line"];
    lines.insert(line);
    EXPECT_EQ(line.substr(0, 17), "train_program.cc:") << array;
    if (array["part"] == "optimizer state") EXPECT_EQ(line, LineOf("step line")) << array;
  }
  EXPECT_TRUE(lines.contains(LineOf("step line"))) << json["largest"];
  EXPECT_FALSE(lines.contains(LineOf("sync line"))) << json["largest"];
  EXPECT_EQ(json["peak_line"], LineOf("sync line")) << "what ran the program";
}

// The two weights and two biases of train_program have no shardings: only arrays that programs compute are
// divided.
TEST_F(CheckProgram, SaysWhatAChipIsLikelyToHold) {
  const nlohmann::json json = CheckJson("--target v5p:4");
  const nlohmann::json &likely = json["likely_bytes"], &peak = json["peak_bytes"];
  ASSERT_TRUE(likely.is_object()) << json;
  EXPECT_GT(likely["low"], peak["low"]);
  EXPECT_LE(likely["low"], likely["high"]);
  EXPECT_LE(likely["high"], peak["high"]);
  EXPECT_FALSE(CheckJson("--target v5p:1").contains("likely_bytes"));
  ExpectContains(Check("--target v5p:4").text, "where shardings are carried through");
}

// Arrays have 4 MiB. Two weights are whole on each chip; x, x w and the result are divided into quarters.
TEST_F(CheckProgram, OfAModuleSaysItToo) {
  const std::string module = File("m.hlo", R"(HloModule m
ENTRY e {
  x = f32[1024,1024] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[1024,1024] parameter(1)
  v = f32[1024,1024] parameter(2)
  h = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[1024,1024] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  const auto check = [&](const std::string& target) {
    setenv("HLOD_PYTHON", "/nowhere/python3", 1);  // Nothing can partition it.
    const Output output = Type("check --json --target " + target + " " + module, "2>/dev/null");
    unsetenv("HLOD_PYTHON");
    EXPECT_EQ(output.code, 0) << output.text;
    return nlohmann::json::parse(output.text, nullptr, false);
  };
  const nlohmann::json likely = check("v5p:4")["likely_bytes"];
  EXPECT_EQ(likely["low"], 11 << 20) << likely;
  EXPECT_EQ(likely["high"], 11 << 20) << likely;
  EXPECT_FALSE(check("v5p:1").contains("likely_bytes"));
}

// The next check removes what a killed check left in $TMPDIR.
TEST_F(CheckProgram, AKilledCheckLeavesNothingForLong) {
  const std::string temporary = (folder_ / "tmp").string();
  std::filesystem::create_directory(temporary);
  const auto folders = [&] { return std::distance(std::filesystem::directory_iterator(temporary), {}); };
  Process check({"/bin/sh", "-c",
                 "TMPDIR=" + temporary + " exec " + Beside("../bin/hloctl") +
                     " check -- sh -c 'echo started; sleep 5'"});
  EXPECT_EQ(check.ReadLine(), "started");
  EXPECT_EQ(folders(), 2) << "the daemon's and the records'";
  check.Kill();
  EXPECT_TRUE(check.WaitForExit(absl::Seconds(60)).has_value());
  EXPECT_EQ(folders(), 2);
  setenv("TMPDIR", temporary.c_str(), 1);
  EXPECT_EQ(Check("").code, 0);
  unsetenv("TMPDIR");
  EXPECT_EQ(folders(), 0);
}

TEST_F(CheckProgram, FailsByMemory) {
  const std::string chips =
      File("chips.toml", "[chips.tiny]\nmemory_bytes = 64e6\nbandwidth = 1e9\nflops = 1e9\n");
  const Output output = Check("--target tiny --chips " + chips);
  EXPECT_EQ(output.code, 4) << output.text;
  ExpectContains(output.text, "does not fit");
  ExpectContains(output.text, "verdict          FAILED");
}

TEST_F(CheckProgram, FailsByBudget) {
  const Output over = Check("--budget " + File("budget.toml", "upload_bytes = 100\nexecutes = 3\n"));
  EXPECT_EQ(over.code, 4) << over.text;
  ExpectContains(over.text, "upload_bytes 6.00 MiB is over 100 bytes");
  const Output loose = Check("--budget " + File("budget.toml", "upload_bytes = \"1GiB\"\n"));
  EXPECT_EQ(loose.code, 0) << loose.text;
  ExpectContains(loose.text, "loose: upload_bytes");
  const Output odd = Check("--budget " + File("budget.toml", "uploads = 1\n"));
  EXPECT_EQ(odd.code, 1) << odd.text;
  ExpectContains(odd.text, "uploads cannot be limited");
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST_F(CheckProgram, ABudgetOfSecondsNeedsATarget) {
  const Output output = Check("--budget " + File("seconds.toml", "step_seconds = 1\n"));
  EXPECT_EQ(output.code, 1) << output.text;
  EXPECT_EQ(output.text, "hloctl: The budget limits step_seconds, which has no value here: give --target.\n");
}

// The program is the suite, each limit a test case; an exceeded limit names the line to blame.
TEST_F(CheckProgram, WritesJUnit) {
  const std::string junit = (folder_ / "check.xml").string();
  const Output output = Check("--target h100 --junit " + junit + " --budget " +
                              File("budget.toml", "upload_bytes = 100\ngraph_breaks = 0\nexecutes = 3\n"));
  EXPECT_EQ(output.code, 4) << output.text;
  const std::string xml = Read(junit), data = LineOf("data line");
  ExpectContains(xml, "<testsuite name=\"train_program\" tests=\"4\" failures=\"1\">");
  ExpectContains(xml, "<testcase classname=\"train_program\" name=\"fits h100:1\"/>");
  ExpectContains(xml, "name=\"executes\"/>");
  ExpectContains(xml, "name=\"graph_breaks\"/>");
  ExpectContains(xml, "train_program.cc\" line=\"" + data.substr(data.find(':') + 1) +
                          "\"><failure message=\"upload_bytes 6.00 MiB is over 100 bytes\"/>");
  // A run that stopped before its first step has not passed.
  const Output stopped = Check("--junit " + junit, "item_before_step");
  EXPECT_EQ(stopped.code, 5) << stopped.text;
  ExpectContains(Read(junit), "failures=\"1\"");
  const std::string stop = LineOf("stop line");
  ExpectContains(Read(junit), "train_program.cc\" line=\"" + stop.substr(stop.find(':') + 1) +
                                  "\"><failure message=\"stopped after 0 steps: ");
}

TEST_F(CheckProgram, AnnotatesForGithub) {
  const std::string budget = File("budget.toml", "upload_bytes = 100\ndownload_calls = 1\nexecutes = 100\n");
  const Output output =
      Check("--stand-in 0 --github --workspace " + SourceDir().string() + " --budget " + budget, "item",
            "2>&1 >/dev/null");
  EXPECT_EQ(output.code, 4) << output.text;
  const auto line = [&](const char* comment) {
    const std::string text = LineOf(comment);
    return "file=tests/integration/support/train_program.cc,line=" + text.substr(text.find(':') + 1) + ",";
  };
  ExpectContains(output.text, "::error " + line("data line") + "title=hlod%3A upload_bytes::train_program: ");
  ExpectContains(output.text, "::error " + line("item line") + "title=hlod%3A download_calls::");
  ExpectContains(output.text, "::warning " + line("sync line") + "title=hlod%3A executes::");
  EXPECT_EQ(Check("--github", "", "2>&1 >/dev/null").text, "") << "what passes has no annotation";
}

TEST_F(CheckProgram, UpdatesTheBudget) {
  const std::string budget =
      File("budget.toml", "# what a step may cost\nupload_bytes = 100\nexecutes = 1\n");
  const std::string update = "--update-budget --budget " + budget;
  EXPECT_EQ(Check(update).code, 0);
  ExpectContains(Read(budget), "# what a step may cost\nupload_bytes = ");
  const Output output = Check("--budget " + budget);
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_EQ(output.text.find("loose"), std::string::npos) << output.text;
  // A new file limits every value that is not zero.
  const std::string fresh = (folder_ / "fresh.toml").string();
  EXPECT_EQ(Check("--update-budget --budget " + fresh).code, 0);
  for (const char* limit : {"peak_bytes", "flops", "upload_calls = 3", "compiles", "executes"})
    ExpectContains(Read(fresh), limit);
  EXPECT_EQ(Check("--budget " + fresh).code, 0);
  // A part of a run does not measure the whole.
  const std::string before = Read(budget);
  EXPECT_EQ(Check(update, "item_before_step").code, 5);
  EXPECT_EQ(Read(budget), before);
  EXPECT_EQ(Check("--update-budget").code, 2) << "which file?";
  ExpectContains(Check(update, "item_before_step").text, "was not written: the run stopped after 0 steps");
  // Neither does a program without steps.
  const Output stepless = Check(update, "never_steps");
  EXPECT_EQ(stepless.code, 1) << stepless.text;
  EXPECT_EQ(stepless.text.find("passed"), std::string::npos) << stepless.text;
  ExpectContains(stepless.text, "verdict          none: The program ");
  ExpectContains(stepless.text, "call hlod::Sync() at the end of each.");
  ExpectContains(stepless.text, budget + " was not written.");
  EXPECT_EQ(Read(budget), before);
}

// `check` and `run` both need the daemon's program.
TEST_F(CheckProgram, WithoutADaemonToStartTheExitCodeSaysSo) {
  const std::string command = "HLOD_DAEMON=/nowhere/hlod HLOD_ADDRESS= XDG_RUNTIME_DIR=/nowhere ";
  const auto code = [&](const std::string& words) {
    return WEXITSTATUS(
        std::system((command + Beside("../bin/hloctl") + " " + words + " 2>/dev/null").c_str()));
  };
  EXPECT_EQ(code("check -- " + Beside("train_program")), 3);
  EXPECT_EQ(code("ping"), 3);
}

TEST_F(CheckProgram, EndsAfterTheSteps) {
  const nlohmann::json json = CheckJson("--steps 2");
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["upload_calls"], 2);
}

TEST_F(CheckProgram, StopsWhereAValueDecidesSomething) {
  const Output before = Check("--target h100", "item_before_step");
  EXPECT_EQ(before.code, 5) << before.text;
  ExpectContains(before.text, "stopped at ");
  ExpectContains(before.text, "passed as far as it came: no step ended");
  ExpectContains(before.text, LineOf("stop line"));
  ExpectContains(before.text, "f32[]");
  // After a step the verdict holds for one step.
  const nlohmann::json after = CheckJson("--target h100", "item");
  ExpectContains(after["stopped_at"], LineOf("item line"));
  EXPECT_EQ(after["steps"], 1);
  CheckJson("--steps 2", "item", 5);
}

TEST_F(CheckProgram, GoesOnWithStandInsAndSaysSo) {
  const nlohmann::json json = CheckJson("--stand-in 1", "item");
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["stand_ins"], 3);
  EXPECT_EQ(json["download_calls"], 3);
  EXPECT_EQ(json["download_bytes"], 12);
  ExpectContains(json["text"], "STAND-INS        3 values");
  ExpectContains(json["text"], "passed, with stand-ins");
  EXPECT_EQ(CheckJson("--stand-in random", "item")["steps"], 3);
  EXPECT_EQ(CheckJson("--stand-in 0", "item")["steps"], 3);
  // A read before Step() cuts the step in two: that is a graph break, at its line.
  const nlohmann::json cut = CheckJson("--stand-in 0", "item_before_step");
  ASSERT_EQ(cut["graph_breaks"].size(), 1) << cut["graph_breaks"];
  EXPECT_EQ(cut["graph_breaks"][0]["cause"], "item");
  EXPECT_EQ(cut["graph_breaks"][0]["calls"], 3);
  ExpectContains(cut["graph_breaks"][0]["line"], LineOf("stop line"));
}

TEST_F(CheckProgram, PrintingShowsThePlaceholderAndGoesOn) {
  const Output output = Check("", "prints");
  EXPECT_EQ(output.code, 0) << output.text;
  ExpectContains(output.text, "loss tensor(placeholder f32[] made at ");
  ExpectContains(output.text, "done");
}

TEST_F(CheckProgram, SmallValuesAreReal) {
  const nlohmann::json json = CheckJson("", "small");
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["stand_ins"], 0);
  EXPECT_EQ(json["download_calls"], 2);
}

// 405,853,388,800 parameters, as in Llama 3.1. At 16 bytes each they take 6.49 TB: with the activations they
// exceed 64 chips of 102.8 GB. Whether they fit 128 depends on the partitioner.
TEST_F(CheckProgram, AStepOf405BillionParametersDoesNotFit64ChipsAndMayFit128) {
  const auto check = [&](const std::string& target, int code) {
    const Output output =
        Type("check --json --steps 2 --target " + target + " -- " + Beside("../bin/example_llama_405b"),
             "2>/dev/null");
    EXPECT_EQ(output.code, code) << output.text;
    return nlohmann::json::parse(output.text, nullptr, false);
  };
  const nlohmann::json fits = check("v5p:128", 6), too_few = check("v5p:64", 4);
  const double weights = 4 * 405853388800.0 / 128;
  const nlohmann::json& parts = fits["peak_parts"];
  // On TPU 126 vectors take the space of 128.
  EXPECT_NEAR(parts["weights"].get<double>() / weights, 1, 1e-3) << parts;
  EXPECT_NEAR(parts["optimizer state"].get<double>() / weights, 2, 2e-3) << parts;
  EXPECT_GT(parts["gradients"].get<double>(), 0.99 * weights) << parts;
  // At least the inputs of all layers: 126 of [256,2048,16384] in bf16.
  EXPECT_GT(parts["activations"].get<double>(), 126.0 * 256 * 2048 * 16384 * 2 / 128) << parts;
  EXPECT_NEAR(too_few["peak_parts"]["weights"].get<double>() / weights, 2, 2e-3);
  EXPECT_EQ(too_few["fit"], "does not fit");
  EXPECT_EQ(fits["peak_step"], 2) << "not where the weights are made";
  EXPECT_EQ(fits["unsent_bytes"], fits["upload_bytes"]);
}

// XLA's partitioner divides the step, and the figures are one chip's. Of the weights 67,338,240 are divided
// among four chips (two embeddings of 128256 x 256; two layers with 2 of 256 x 256, 2 of 256 x 128 and 3 of
// 256 x 832), and 1,280 of norms are on each; there are two moments of each.
TEST_F(CheckProgram, AProgramOnAMeshIsJudgedByOneChip) {
  const std::optional<std::string> python = PythonWith("jaxlib");
  if (!python.has_value()) GTEST_SKIP() << "There is no jaxlib.";
  setenv("HLOD_PYTHON", python->c_str(), 1);
  const std::string program = Beside("../bin/example_llama_405b") +
                              " --layers 2 --dim 256 --batch 8 --sequence 64 --mesh data=2,model=2";
  const Output output = Type("check --json --steps 2 --target v4:4 -- " + program, "2>/dev/null");
  const nlohmann::json json = nlohmann::json::parse(output.text, nullptr, false);
  const Output other = Type("check --steps 2 --target v4:8 -- " + program);
  unsetenv("HLOD_PYTHON");
  EXPECT_EQ(output.code, 0) << output.text;
  const nlohmann::json& parts = json["peak_parts"];
  const double weights = 4 * (67338240.0 / 4 + 1280);
  EXPECT_NEAR(parts["weights"].get<double>() / weights, 1, 0.01) << parts;
  EXPECT_NEAR(parts["optimizer state"].get<double>() / weights, 2, 0.02) << parts;
  EXPECT_EQ(json["executes"], 2);  // The weights, and a step.
  ExpectContains(other.text, "divides its tensors among 4 devices; --target has 8 chips");
}

TEST_F(CheckProgram, SaysWhatIsWrongWithAProgram) {
  const struct {
    const char *words, *says;
  } kOdd[] = {{"exits_early", "ended with exit code 7 before it connected"},
              {"exits_late", "ended with exit code 3 after 3 steps"},
              {"killed", "was ended by signal 9"},
              {"never_connects", "never connected"},
              {"never_runs", "connected and never ran anything"},
              {"never_steps", "never ended a step"}};
  for (const auto& [words, says] : kOdd) {
    const Output output = Check("", words);
    EXPECT_EQ(output.code, 1) << words << output.text;
    ExpectContains(output.text, says);
  }
  const Output missing = Type("check -- /nowhere/train");
  EXPECT_EQ(missing.code, 1) << missing.text;
  ExpectContains(missing.text, "The program /nowhere/train cannot be run: No such file or directory.");
  EXPECT_EQ(
      nlohmann::json::parse(Type("--json check -- /nowhere/train", "2>/dev/null").text)["error"]["code"],
      "NOT_FOUND");
}

TEST_F(CheckProgram, TheCommandLineIsOneOrTheOther) {
  EXPECT_EQ(Type("check --").code, 2);
  EXPECT_EQ(Type("check some.hlo -- " + Beside("train_program")).code, 2);
  EXPECT_EQ(Type("check --steps 2 some.hlo").code, 2);
  EXPECT_EQ(Type("check --stand-in 7 -- " + Beside("train_program")).code, 2);
}

}  // namespace
}  // namespace hlod
