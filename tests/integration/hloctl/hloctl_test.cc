// hloctl as typed.
#include "tests/integration/support/hloctl.h"

#include <fstream>

#include "absl/strings/str_replace.h"
#include "common/base/text/printable.h"
#include "common/hlo/builder.h"
#include "hlod/observe/profile.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

TEST_F(Hloctl, RunsTextAndPrintsResults) {
  const Output output = Run("run " + File("two.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find("result 0: f32[4] {1, 1, 1, 1}"), std::string::npos) << output.text;
}

// Python's json module can read the output: numbers, and strings for values that JSON cannot write.
TEST_F(Hloctl, ResultsInJsonAreListsOfNumbers) {
  std::ofstream(folder_ / "values.hlo") << R"(
HloModule values
ENTRY main {
  a = f32[2,2] constant({{1, 0.1}, {nan, -inf}})
  b = s32[] constant(-7)
  c = pred[2] constant({1, 0})
  d = c64[1] constant({(1.5, inf)})
  e = f64[1] constant({0.1})
  f = u64[1] constant({18446744073709551615})
  g = f32[2,0] constant({{}, {}})
  h = bf16[1] constant({0.5})
  ROOT r = (f32[2,2], s32[], pred[2], c64[1], f64[1], u64[1], f32[2,0], bf16[1]) tuple(a, b, c, d, e, f, g, h)
})";
  const nlohmann::json json = RunJson("run " + File("values.hlo"));
  const char* const expected[] = {
      R"([[1.0, 0.1], ["nan", "-inf"]])", "-7",       "[true, false]", R"([[1.5, "inf"]])", "[0.1]",
      "[18446744073709551615]",           "[[], []]", "[0.5]"};
  ASSERT_EQ(json["results"].size(), std::size(expected)) << json;
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(json["results"][i]["value"], nlohmann::json::parse(expected[i])) << i;
  }
}

TEST_F(Hloctl, RunsAProtoOnNpyArgumentsAndWritesNpyResults) {
  const std::string module = CasesDir("jax") / "layer_norm_bf16";
  std::string arguments = "run " + module + "/module.pb --output " + File("out");
  for (int i = 0; i < 3; ++i) arguments += " --arg " + module + "/arg" + std::to_string(i) + ".npy";
  const nlohmann::json json = RunJson(arguments);
  ASSERT_TRUE(json.contains("results")) << json;
  EXPECT_TRUE(std::filesystem::exists(json["results"][0]["file"].get<std::string>())) << json;
  EXPECT_GT(json["stats"]["host_to_device"]["bytes"].get<int64_t>(), 0);
}

TEST_F(Hloctl, TheSameModuleInEachFormGivesTheSameResult) {
  const std::string folder = CasesDir("stablehlo") / "training_step";
  const std::string text = folder + "/module.mlir", artifact = folder + "/module.mlirbc";
  for (const char* form : {"step.hlo", "step.pb"}) {
    const Output converted = Run("convert " + text + " " + File(form));
    ASSERT_EQ(converted.code, 0) << converted.text;
  }
  ASSERT_EQ(Run("convert " + File("step.pb") + " " + File("again.txt")).code, 0);
  ASSERT_EQ(Run("convert " + File("step.pb") + " " + File("again.mlir")).code, 0);
  nlohmann::json first;
  for (const std::string& form :
       {text, artifact, File("step.hlo"), File("step.pb"), File("again.txt"), File("again.mlir")}) {
    const nlohmann::json json = RunJson("run " + form + " --random 7");
    ASSERT_TRUE(json.contains("results")) << form << ": " << json;
    if (first.is_null()) first = json["results"];
    EXPECT_EQ(json["results"], first) << form;
  }
}

TEST_F(Hloctl, ConvertSaysWhichFormsItWrites) {
  const Output artifact = Run("convert " + File("two.hlo") + " " + File("two.mlirbc"));
  EXPECT_EQ(artifact.code, 2);
  EXPECT_NE(artifact.text.find("artifacts can be read but not written"), std::string::npos) << artifact.text;
  const Output nameless = Run("convert " + File("two.hlo") + " " + File("two.json"));
  EXPECT_EQ(nameless.code, 2);
  EXPECT_NE(nameless.text.find("its extension is not a known form"), std::string::npos) << nameless.text;
  EXPECT_EQ(Run("convert " + File("none.hlo") + " " + File("two.pb")).code, 1);
}

TEST_F(Hloctl, CheckModuleSaysWhatAModuleIsOrWhatIsWrong) {
  const Output fine = Run("check-module " + File("two.hlo"));
  EXPECT_EQ(fine.code, 0);
  EXPECT_NE(fine.text.find("1 computations, "), std::string::npos) << fine.text;
  EXPECT_EQ(RunJson("check-module " + File("two.hlo"))["computations"], 1);
  std::ofstream(folder_ / "wrong.mlir")
      << "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
         "  %y = \"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>\n"
         "  return %y : tensor<2xf32>\n}\n";
  const Output wrong = Run("check-module " + File("wrong.mlir"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.text.find("wrong.mlir:2:8: stablehlo.transpose: It has no attribute permutation."),
            std::string::npos)
      << wrong.text;
  std::ofstream(folder_ / "shapes.hlo")
      << "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n";
  const Output shapes = Run("check-module " + File("shapes.hlo"));
  EXPECT_EQ(shapes.code, 1);
  EXPECT_NE(shapes.text.find("The stated shape (f32[3]) of negate differs"), std::string::npos)
      << shapes.text;
}

TEST_F(Hloctl, OpenSizesComeFromArgumentsOrFromTheCommandLine) {
  const std::string folder = CasesDir("stablehlo") / "symbolic_elementwise";
  const std::string module = folder + "/module.mlir";
  const Output open = Run("check-module " + module);
  EXPECT_EQ(open.code, 1);
  EXPECT_NE(open.text.find("Argument 0 is f32[?,3]: its size is not known"), std::string::npos) << open.text;
  const nlohmann::json sized = RunJson("check-module " + module + " --size 0=8,3");
  EXPECT_EQ(sized["parameters"], nlohmann::json({"f32[8,3]", "f32[3,3]"})) << sized;
  EXPECT_EQ(Run("check-module " + module + " --size 0:8").code, 2);
  const nlohmann::json run =
      RunJson("run " + module + " --arg " + folder + "/arg0.npy --arg " + folder + "/arg1.npy");
  EXPECT_EQ(run["results"].size(), 3) << run;
}

TEST_F(Hloctl, PlaceholdersAreRefusedUnlessAbstract) {
  const Output refused = Run("run " + File("two.hlo") + " --placeholder 0");
  EXPECT_EQ(refused.code, 1) << refused.text;
  EXPECT_NE(refused.text.find("placeholder"), std::string::npos) << refused.text;
  const nlohmann::json json = RunJson("run " + File("two.hlo") + " --placeholder 0 --abstract");
  EXPECT_TRUE(json["results"][0]["placeholder"].get<bool>()) << json;
  EXPECT_FALSE(json["results"][1]["placeholder"].get<bool>()) << json;
}

TEST_F(Hloctl, RepeatsAndPrintsNoProgressInAPipe) {
  const Output output = Run("run --repeat 20 --random 3 " + File("add.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_EQ(output.text.find('\r'), std::string::npos);
  EXPECT_EQ(RunJson("run --repeat 20 " + File("add.hlo"))["run"]["count"], 20);
}

TEST_F(Hloctl, ChecksAModuleWithoutRunningIt) {
  std::ofstream(folder_ / "tight.toml") << "flops = 1\n";
  std::ofstream(folder_ / "odd.toml") << "flop = 1\n";
  // Two numbers added to two.
  const nlohmann::json json = RunJson("check --target v5e " + File("add.hlo"));
  EXPECT_EQ(json["cost"]["flops"], 2) << json;
  EXPECT_EQ(json["fused"]["argument_bytes"], 2 * 1024) << "padded to tiles: " << json;
  EXPECT_EQ(json["fit"], "fits");
  const Output over = Run("check --budget " + File("tight.toml") + " " + File("add.hlo"));
  EXPECT_EQ(over.code, 4) << over.text;
  EXPECT_NE(over.text.find("FAILED: flops 2 is over 1"), std::string::npos) << over.text;
  const Output odd = Run("check --budget " + File("odd.toml") + " " + File("add.hlo"));
  EXPECT_EQ(odd.code, 1) << odd.text;
  EXPECT_NE(odd.text.find("flop cannot be limited; the nearest that can is flops"), std::string::npos)
      << odd.text;
  const Output chip = Run("check --target v5z " + File("add.hlo"));
  EXPECT_EQ(chip.code, 2) << chip.text;
  EXPECT_NE(chip.text.find("\"v5z\" is not known"), std::string::npos) << chip.text;
  EXPECT_EQ(RunJson("stats")["totals"]["executes"], 0);
}

TEST_F(Hloctl, ListsWhatTheDaemonHolds) {
  const Buffer x = Must(client_->device(0).Upload(Counting(1000)));
  const Executable add = Must(client_->CompileText(AddProgram(1000)));
  const Buffer sum = Must(add.Execute({x, x}))[0];
  ASSERT_OK(sum.ready().Await());
  ASSERT_OK(client_->Sync());
  const nlohmann::json device = RunJson("devices")["devices"][0];
  EXPECT_EQ(device["used_bytes"], 8000);
  const std::string level = device["cpu_features"][0];
  EXPECT_TRUE(level == "baseline" || level == "avx2" || level == "avx512") << level;
  EXPECT_NE(Run("devices").text.find(level), std::string::npos);
  const nlohmann::json buffers = RunJson("buffers");
  EXPECT_EQ(buffers["total"], 2);
  EXPECT_EQ(buffers["buffers"][0]["shape"], "f32[1000]");
  EXPECT_TRUE(buffers["buffers"][0]["origin"]["file"].get<std::string>().ends_with("hloctl_test.cc"));
  EXPECT_EQ(RunJson("executables")["executables"][0]["name"], "add");
  EXPECT_EQ(RunJson("sessions")["sessions"][0]["session"], client_->session_id());
  EXPECT_EQ(RunJson("transfers")["transfers"][0]["cause"], "upload");
  EXPECT_EQ(RunJson("stats")["totals"]["executes"], 1);
  EXPECT_GT(RunJson("ping")["median_us"].get<double>(), 0);
  for (const char* command :
       {"devices", "buffers", "executables", "sessions", "transfers", "stats", "ping"}) {
    const Output output = Run(command);
    EXPECT_EQ(output.code, 0) << command << output.text;
    EXPECT_FALSE(output.text.empty());
  }
}

// The comparison is by absolute value, which no fast sort supports.
TEST_F(Hloctl, SlowStepsOfAProgramAreListedWithTheirLines) {
  const Executable sorts = Must(client_->CompileText(R"(HloModule sorts
    f {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      x = f32[] abs(a)
      y = f32[] abs(b)
      ROOT less = pred[] compare(x, y), direction=LT
    }
    ENTRY e {
      p = f32[8] parameter(0)
      ROOT r = f32[8] sort(p), dimensions={0}, to_apply=f, metadata={source_file="model.cc" source_line=12}
    })"));
  const CompileResult described = Must(sorts.Describe());
  const std::string expected = "sort (model.cc:12): its comparator is not an order of keys";
  EXPECT_EQ(described.slow_steps, std::vector<std::string>({expected}));
  EXPECT_EQ(RunJson("executables")["executables"][0]["slow_steps"], nlohmann::json({expected}));
  const Output output = Run("executables");
  EXPECT_NE(output.text.find(expected), std::string::npos) << output.text;
  EXPECT_EQ(RunJson("compiles")["compiles"][0]["slow_steps"], nlohmann::json({expected}));
}

TEST_F(Hloctl, ProfileTimesTheStepsOfAModule) {
  std::ofstream(folder_ / "dots.hlo") << R"(HloModule dots
    ENTRY e {
      p = f32[64,64] parameter(0)
      d = f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0},
          metadata={source_file="model.py" source_line=3}
      ROOT r = f32[64,64] tanh(d), metadata={source_file="model.py" source_line=4}
    })";
  const nlohmann::json json = RunJson("profile " + File("dots.hlo") + " --random 7 --repeat 3");
  ASSERT_EQ(json["steps"].size(), 2u) << json;
  const nlohmann::json& dot = json["steps"][0];
  EXPECT_EQ(dot["kind"], "library");
  EXPECT_EQ(dot["lines"], nlohmann::json({"model.py:3"}));
  EXPECT_EQ(dot["flops"], 2.0 * 64 * 64 * 64);
  EXPECT_GT(dot["roofline"].get<double>(), 0);
  const std::string kind = json["steps"][1]["kind"];
  EXPECT_TRUE(kind == "assembled" || kind == "interpreted") << kind;
  EXPECT_EQ(json["steps"][1]["lines"], nlohmann::json({"model.py:4"}));
  EXPECT_EQ(json["runs"], 3);
  EXPECT_GT(json["machine"]["f32_flops"].get<double>(), 0);
  const Output output = Run("profile " + File("dots.hlo") + " --limit 1");
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find("GFLOP/s of f32 multiply-adds"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("(2 in all)"), std::string::npos) << output.text;
}

TEST_F(Hloctl, ProfileNamesTheRoutineOfALibraryStep) {
  std::ofstream(folder_ / "qr.hlo") << R"(HloModule qr
    ENTRY e {
      p = f32[64,64]{0,1} parameter(0)
      ROOT r = (f32[64,64]{0,1}, f32[64]) custom-call(p), custom_call_target="lapack_sgeqrf_ffi",
          api_version=API_VERSION_TYPED_FFI
    })";
  const nlohmann::json json = RunJson("profile " + File("qr.hlo") + " --random 7 --repeat 3");
  EXPECT_NE(json["steps"].dump().find("custom-call lapack_sgeqrf_ffi"), std::string::npos) << json;
}

// Sorts by absolute value, too.
constexpr const char* kSlowSort = R"(HloModule %s
    f {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      x = f32[] abs(a)
      y = f32[] abs(b)
      ROOT less = pred[] compare(x, y), direction=LT
    }
    ENTRY e {
      p = f32[8] parameter(0)
      ROOT r = f32[8] sort(p), dimensions={0}, to_apply=f, metadata={source_file="%s.cc" source_line=12}
    })";

// Nobody asks to describe the program, but the client learns of its slow step, and warns once though two
// programs have it.
TEST_F(Hloctl, ASlowStepIsWarnedOfOnce) {
  ::testing::internal::CaptureStderr();
  for (const char* name : {"first", "second"}) {
    const Executable sorts =
        Must(client_->CompileText(absl::StrReplaceAll(kSlowSort, {{"%s.cc", "warned.cc"}, {"%s", name}})));
    const Buffer zeros = Must(client_->device(0).Upload<float>(std::vector<float>(8), {8}));
    Must(Must(sorts.Execute({zeros}))[0].ToLiteral());
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::string expected = "sort (warned.cc:12): its comparator is not an order of keys";
  const size_t found = text.find(expected);
  ASSERT_NE(found, std::string::npos) << text;
  EXPECT_EQ(text.find(expected, found + 1), std::string::npos) << text;
}

TEST_F(Hloctl, SlowStepsAreInTheReportOfGraphs) {
  const std::string file = File("profile.jsonl");
  {
    const std::unique_ptr<ProfileFile> log = Must(ProfileFile::Open(file));
    const Executable sorts =
        Must(client_->CompileText(absl::StrReplaceAll(kSlowSort, {{"%s.cc", "graphs.cc"}, {"%s", "sorts"}})));
    const Buffer zeros = Must(client_->device(0).Upload<float>(std::vector<float>(8), {8}));
    Must(Must(sorts.Execute({zeros}))[0].ToLiteral());
    ASSERT_OK(log->Finish());
  }
  const nlohmann::json json = RunJson("graphs " + file);
  ASSERT_EQ(json["slow"].size(), 1u) << json;
  EXPECT_EQ(json["slow"][0]["what"], "sort (graphs.cc:12): its comparator is not an order of keys");
  EXPECT_EQ(json["slow"][0]["line"], "graphs.cc:12");
  EXPECT_EQ(json["slow"][0]["times"], 1);
  EXPECT_NE(Run("graphs " + file).text.find("sort (graphs.cc:12)"), std::string::npos);
}

// A growing length compiles one program per size: the line is reported once, with advice.
TEST_F(Hloctl, ALineThatCompilesAgainAndAgainIsWarnedOfOnce) {
  ::testing::internal::CaptureStderr();
  for (int length = 1; length <= 20; ++length) {
    Must(client_->CompileText(absl::StrCat("HloModule grows\nENTRY e {\n  p = f32[", length,
                                           "] parameter(0)\n  ROOT r = f32[", length, "] negate(p)\n}")));
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  const size_t found = text.find("hloctl_test.cc:");
  ASSERT_NE(found, std::string::npos) << text;
  EXPECT_NE(text.find("parameter 0 was f32["), std::string::npos) << text;
  EXPECT_NE(text.find("a mask in place of a slice that grows"), std::string::npos) << text;
  EXPECT_EQ(text.find("hloctl_test.cc:", text.find('\n')), std::string::npos) << text;
}

TEST_F(Hloctl, ExitCodesTellUsageFromRefusalFromNoDaemon) {
  EXPECT_EQ(Run("run").code, 2);
  EXPECT_EQ(Run("frobnicate").code, 2);
  EXPECT_EQ(Run("--help").code, 0);
  EXPECT_EQ(Run("run /nowhere.hlo").code, 1);
  EXPECT_EQ(RunJson("run /nowhere.hlo")["error"]["code"], "NOT_FOUND");
  daemon_->Kill(SIGKILL);
  ASSERT_TRUE(daemon_->WaitForExit(kPatience).has_value());
  EXPECT_EQ(Run("stats").code, 3);
  client_.reset();
}

TEST_F(Hloctl, SaysGoodbyeAlsoOverTcp) {
  testing::DaemonOptions options;
  options.tcp = true;
  StartDaemon(options);
  for (int i = 0; i < 10; ++i) {
    Output output;
    const std::string command =
        program_ + " --address " + daemon_->tcp_address() + " run " + File("add.hlo") + " >/dev/null";
    ASSERT_EQ(system(command.c_str()), 0);
    const nlohmann::json sessions = RunJson("sessions");
    ASSERT_EQ(sessions["sessions"].size(), 1u) << "run " << i << " left its session behind: " << sessions;
  }
}

TEST_F(Hloctl, AProgramThatJustEndsSaysGoodbyeOverTcp) {
  testing::DaemonOptions options;
  options.tcp = true;
  StartDaemon(options);
  const std::string leaver =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "crash_client").string();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(system((leaver + " " + daemon_->tcp_address() + " leave >/dev/null").c_str()), 0);
    const nlohmann::json sessions = RunJson("sessions");
    ASSERT_EQ(sessions["sessions"].size(), 1u) << "run " << i << " left its session behind: " << sessions;
  }
}

TEST_F(Hloctl, EveryOutcomeIsOneJsonObject) {
  for (const char* arguments : {"", "frobnicate", "run", "ping --count 0", "transfers --limit -1",
                                "run x --deadline nan", "--tls-ca /tmp ping", "--token a\xc3\xa9 ping"}) {
    const nlohmann::json json = RunJson(arguments);
    EXPECT_TRUE(json.is_object() && json["error"]["message"].is_string()) << arguments;
  }
  EXPECT_NE(Run("frobnicate").text.find("\"frobnicate\""), std::string::npos);
  EXPECT_NE(Run("ping --count 0").text.find("\"0\" is not a whole number from 1 to 2147483647"),
            std::string::npos);
}

TEST_F(Hloctl, FilesThatAreNoneAreNamed) {
  const Output folder = Run("run /tmp");
  EXPECT_EQ(folder.code, 1);
  EXPECT_NE(folder.text.find("File /tmp cannot be read: Is a directory."), std::string::npos) << folder.text;
  EXPECT_EQ(Run("run " + File("add.hlo") + " --arg .").code, 1);
  // The daemon is still there, so the exit code is 1: the output cannot be written.
  EXPECT_EQ(Run("run " + File("add.hlo") + " --output /proc/nothing").code, 1);
  EXPECT_EQ(Run("stats", ">/dev/full 2>&1").code, 1);
}

TEST_F(Hloctl, CredentialsAreCheckedBeforeTheyTravel) {
  ConnectOptions options;
  options.token = "abc\xc3\xa9";
  EXPECT_EQ(daemon_->Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
  options.token = "abc\n";
  EXPECT_EQ(daemon_->Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
  options.token.clear();
  options.tls.root_certificates = "garbage";
  EXPECT_EQ(daemon_->Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Hloctl, AWrongAddressIsAMistakeOnTheCommandLine) {
  const Output output = RunAt("foo", "ping");
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.text.find("hloctl: --address: Address (foo) is none of unix:PATH"), std::string::npos)
      << output.text;
}

TEST_F(Hloctl, ATokenComesFromAFileThatOthersCannotRead) {
  std::ofstream(folder_ / "token") << "secret\n";
  std::filesystem::permissions(folder_ / "token", std::filesystem::perms(0600));
  StartDaemon({.tcp = true, .flags = {"--token-file", File("token")}});
  EXPECT_EQ(RunAt(daemon_->tcp_address(), "ping").code, 1);
  EXPECT_EQ(RunAt(daemon_->tcp_address(), "ping --token-file " + File("token")).code, 0);
  EXPECT_EQ(RunAt(daemon_->tcp_address(), "ping --token secret --token-file " + File("token")).code, 2);
  // A flag overrides an environment variable.
  setenv("HLOD_TOKEN", "wrong", /*overwrite=*/1);
  EXPECT_EQ(RunAt(daemon_->tcp_address(), "ping --token-file " + File("token")).code, 0);
  EXPECT_EQ(RunAt(daemon_->tcp_address(), "ping --token=secret").code, 0);
  unsetenv("HLOD_TOKEN");
  std::filesystem::permissions(folder_ / "token", std::filesystem::perms(0644));
  const Output refused = RunAt(daemon_->tcp_address(), "ping --token-file " + File("token"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.text.find("others than its owner may read it"), std::string::npos) << refused.text;
}

// Names that another user chose for programs, files and clients reach the administrator's terminal, where
// control characters would be obeyed.
TEST_F(Hloctl, NothingThatOthersNamedIsPrintedRaw) {
  static constexpr char kEvil[] =
      "\x1b]0;owned\x07\x1b[2J\xc2\x9b"
      "2J\xe2\x80\xae\x7f\r\nforged row";
  const std::string evil = kEvil;
  const Caller caller{.file = kEvil, .line = 7, .function = kEvil};
  const Client client = Must(daemon_->Connect({.name = evil}));
  hlo::Module module(evil);
  hlo::Builder b(module, evil);
  const auto x = b.Parameter(0, Shape::Array(hlo::kF32, {2}), evil);
  ASSERT_OK(b.Build(x + x));
  const Executable program = Must(client.Compile(module, {}, caller));
  const Buffer one = Must(client.device(0).Upload(Literal::Vector<float>({1, 2}), Cause::kUpload, caller));
  const Buffer two = Must(program.Execute({one}, {}, caller))[0];
  ASSERT_OK(two.ToLiteral(Cause::kPrint, caller).status());
  for (const std::string command :
       {"buffers", "executables", "sessions", "transfers", "transfers --by line", "compiles", "graphs",
        "graphs --by line", "top --once", "stats", "devices"}) {
    for (const std::string json : {"", "--json "}) {
      const Output output = Run(json + command);
      EXPECT_EQ(output.code, 0) << output.text;
      EXPECT_EQ(output.text, PrintableLines(output.text)) << command;
      EXPECT_EQ(output.text.find("\nforged"), std::string::npos) << command;
    }
  }
  EXPECT_NE(Run("buffers").text.find("\\x1b]0;owned\\x07"), std::string::npos) << Run("buffers").text;
  EXPECT_NE(Run("graphs").text.find("\\x1b]0;owned\\x07"), std::string::npos) << Run("graphs").text;
  const std::string log = daemon_->log();
  EXPECT_EQ(log, PrintableLines(log));
}

TEST_F(Hloctl, ADaemonWithoutTlsIsToldAtOnce) {
  testing::DaemonOptions daemon;
  daemon.tcp = true;
  StartDaemon(daemon);
  ConnectOptions options;
  options.tls.enabled = true;
  options.timeout = kPatience;
  const absl::Time start = absl::Now();
  const absl::Status status = daemon_->ConnectTcp(options).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kAuth) << status;
  EXPECT_LT(absl::Now() - start, options.timeout);
}

TEST_F(Hloctl, ErrorsAndTheLedgerNameTheUsersFiles) {
  ASSERT_EQ(Run("run " + File("add.hlo")).code, 0);
  const Output refused = Run("run " + File("two.hlo") + " --placeholder 0");
  EXPECT_NE(refused.text.find("two.hlo"), std::string::npos) << refused.text;
  EXPECT_EQ(refused.text.find(".cc"), std::string::npos) << refused.text;
}

TEST_F(Hloctl, ListsKeepTheirLimitAndTellTheTotal) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Run("run " + File("two.hlo")).code, 0);
  const Buffer x = Must(client_->device(0).Upload(Counting(10)));
  ASSERT_OK(client_->Sync());
  const nlohmann::json json = RunJson("transfers --limit 1");
  EXPECT_EQ(json["transfers"].size(), 1u) << json;
  EXPECT_GT(json["total"].get<int>(), 1) << json;
}

TEST_F(Hloctl, TokensAreGivenAndTakenWithoutFiles) {
  std::ofstream(folder_ / "token.hlo") << "HloModule t\nENTRY main {\n  t = token[] parameter(0)\n"
                                          "  x = f32[] constant(1)\n  u = token[] after-all(t)\n"
                                          "  ROOT r = (f32[], token[]) tuple(x, u)\n}\n";
  const Output output = Run("run " + File("token.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_NE(output.text.find("result 1: token[]"), std::string::npos) << output.text;
  EXPECT_EQ(Run("run " + File("token.hlo") + " --arg 0=x.npy").code, 2);
}

TEST_F(Hloctl, AParameterHasOneSource) {
  EXPECT_EQ(Run("run " + File("add.hlo") + " --arg 0=x.npy --placeholder 0").code, 2);
  const Output twice = Run("run " + File("add.hlo") + " --arg 0=x.npy --arg 0=y.npy");
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.text.find("--arg 0=y.npy is for parameter 0, which has x.npy already."), std::string::npos)
      << twice.text;
  std::ofstream(folder_ / "bad.hlo") << "HloModule bad\nENTRY main {\n  x = ?\n}\n";
  const Output output = Run("run " + File("bad.hlo"));
  EXPECT_NE(output.text.find("bad.hlo:3:"), std::string::npos) << output.text;
}

TEST_F(Hloctl, ShardsOfAProgramThatRunsWholeAreRefused) {
  const Output output = Run("run " + File("add.hlo") + " --random 7 --shards");
  EXPECT_NE(output.code, 0);
  EXPECT_NE(output.text.find("--shards"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("runs whole on one device"), std::string::npos) << output.text;
}

TEST_F(Hloctl, AnArgumentThatNoBufferHoldsIsRefusedBeforeItIsMade) {
  std::ofstream(folder_ / "large.hlo")
      << "HloModule large\nENTRY e {\n  p = f32[1099511627776] parameter(0)\n"
         "  ROOT r = f32[1099511627776] add(p, p)\n}\n";
  for (const std::string command : {"run ", "profile "}) {
    const Output output = Run(command + File("large.hlo") + " --random 1");
    EXPECT_EQ(output.code, 1) << output.text;
    EXPECT_NE(output.text.find("Argument 0 of large, f32[1099511627776], has 4398046511104 bytes; limit "
                               "buffer_bytes_max"),
              std::string::npos)
        << output.text;
  }
}

TEST_F(Hloctl, ADownloadNeedsNoRoomInTheArena) {
  testing::DaemonOptions options;
  options.flags = {"--arena-bytes", "8MiB"};
  StartDaemon(options);
  const Literal value = Counting(3 << 20);  // 12 MiB
  const Buffer buffer = Must(client_->device(0).Upload(value));
  ASSERT_TRUE(client_->has_shared_memory());
  std::vector<StagedUpload> staged;
  for (int i = 0; i < 32; ++i) {
    staged.push_back(Must(client_->device(0).Stage(Shape::Array(hlo::kF32, {64 << 10}))));
  }
  EXPECT_EQ(Must(buffer.ToLiteral()), value);
  staged.resize(28);  // Room for one piece.
  EXPECT_EQ(Must(buffer.ToLiteral()), value);
}

TEST_F(Hloctl, CheckRefusesOptionsThatSayNothing) {
  const Output chips = Run("check " + File("add.hlo") + " --chips chips.toml");
  EXPECT_EQ(chips.code, 2) << chips.text;
  EXPECT_NE(chips.text.find("--target must name one"), std::string::npos) << chips.text;
  const Output update = Run("check " + File("add.hlo") + " --update-budget");
  EXPECT_EQ(update.code, 2) << update.text;
}

TEST_F(Hloctl, CheckWritesABudgetAndFailsWhereItIsExceeded) {
  const Output update = Run("check " + File("add.hlo") + " --update-budget --budget " + File("budget.toml"));
  EXPECT_EQ(update.code, 0) << update.text;
  EXPECT_EQ(Run("check " + File("add.hlo") + " --budget " + File("budget.toml")).code, 0);
  std::ofstream(folder_ / "budget.toml") << "flops = 0\n";
  const Output over = Run("check " + File("add.hlo") + " --github --budget " + File("budget.toml"));
  EXPECT_EQ(over.code, 4) << over.text;
  EXPECT_NE(over.text.find("::error title=hlod%3A flops::"), std::string::npos) << over.text;
}

// A dump of PyTorch/XLA, in the form of its PT_XLA_DEBUG_FILE.
TEST_F(Hloctl, GraphsOfPyTorchXlaAreReadFromItsDumps) {
  const std::string prefix = "Compilation Analysis: ", rule(80, '=');
  std::ofstream(folder_ / "causes.txt") << prefix << rule << "\n"
                                        << prefix << "Compilation Cause\n"
                                        << prefix << "  user torch_xla.sync\n"
                                        << prefix << "Graph Info: \n"
                                        << prefix << "  Graph Hash: c74c3b91b855b2b1\n"
                                        << prefix << "  Number of Graph Inputs: 1\n"
                                        << prefix << "  Number of Graph Outputs: 1\n"
                                        << prefix << "Python Frame Triggered Execution: \n"
                                        << prefix << "  main (train.py:12)\n"
                                        << prefix << std::string(80, '-') << "\n"
                                        << prefix << rule << "\n"
                                        << "\n"
                                        << prefix << rule << "\nCompil";
  const nlohmann::json json = RunJson("graphs --from-torch-xla " + File("causes.txt"));
  EXPECT_EQ(json["graphs"][0]["at"]["line"], 12);
  EXPECT_EQ(json["graphs"][0]["executions"], nullptr) << "not in a dump of level 1";
  EXPECT_EQ(json["problems"].size(), 1u) << json;
  const Output text = Run("graphs --from-torch-xla " + File("causes.txt"));
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.text.find("train.py:12 main: user torch_xla.sync: 1 graph, 1 compiles"), std::string::npos)
      << text.text;
  // PyTorch/XLA 2.9 appends the ordinal to a name; files that a run did not write may be absent.
  std::filesystem::copy_file(File("causes.txt"), File("traces.txt.0"));
  const Output numbered = Run("graphs --from-torch-xla " + File("traces.txt") + " " + File("metrics.txt"));
  EXPECT_EQ(numbered.text, absl::StrReplaceAll(text.text, {{"causes.txt", "traces.txt.0"}}));
  const Output absent = Run("graphs --from-torch-xla " + File("metrics.txt"));
  EXPECT_EQ(absent.code, 1);
  EXPECT_NE(absent.text.find("there is none of the files"), std::string::npos) << absent.text;
  const Output foreign = Run("graphs --from-torch-xla " + File("add.hlo"));
  EXPECT_EQ(foreign.code, 1);
  EXPECT_NE(foreign.text.find("add.hlo:1: this is not a dump of PyTorch/XLA"), std::string::npos)
      << foreign.text;
}

}  // namespace
}  // namespace hlod
