// hlod as typed: an error in the command line, or in a file that it names, ends it at once with a sentence
// and exit code 2.
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"
#include "tests/support/shell.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

class Startup : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("startup-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    program_ = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin/hlod").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string File(const char* name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    // Files with secrets have this mode.
    std::filesystem::permissions(folder_ / name, std::filesystem::perms(0600));
    return (folder_ / name).string();
  }
  // Runs it on a socket of its own for at most a few seconds. Returns its output without the listening line.
  Output Run(const std::string& arguments) {
    return RunShell("timeout -s KILL 20 " + program_ + " --listen unix:" + (folder_ / "s").string() + " " +
                    arguments + " 2>&1");
  }
  void ExpectUsageError(const std::string& arguments, const std::string& words) {
    const Output output = Run(arguments);
    EXPECT_EQ(output.code, 2) << arguments << ": " << output.text;
    EXPECT_NE(output.text.find(words), std::string::npos) << arguments << ": " << output.text;
  }
  // Creates a self-signed certificate and its key.
  void MakeCertificate(const std::string& name) {
    const std::string command =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout " +
        (folder_ / (name + ".key")).string() + " -out " + (folder_ / (name + ".pem")).string() +
        " 2>/dev/null";
    ASSERT_EQ(system(command.c_str()), 0);
  }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  std::string program_;
};

TEST_F(Startup, ATokenFileThatProtectsNothingIsRefused) {
  ExpectUsageError("--token-file " + File("blank", " \n\t\n"), "is empty");
  ExpectUsageError("--token-file ''", "empty");
  ExpectUsageError("--token-file " + File("bytes", "abc\xc3\xa9"), "byte 3 of the token is 0xc3");
  ExpectUsageError("--tls-client-ca " + File("ca", "x"), "tls_client_ca needs tls_cert");
}

TEST_F(Startup, ASecretThatOthersMayReadOrWriteIsRefused) {
  const std::string token = File("token", "secret\n");
  MakeCertificate("a");
  for (const int mode : {0604, 0644, 0620, 0602, 0666}) {
    std::filesystem::permissions(token, std::filesystem::perms(mode));
    ExpectUsageError("--token-file " + token,
                     "--token-file: File " + token + " holds a secret, and its mode is ");
  }
  ExpectUsageError("--token-file " + token, "0666: others than its owner may write it; `chmod 600` it");
  std::filesystem::permissions(token, std::filesystem::perms(0640));
  std::filesystem::permissions(Path("a.key"), std::filesystem::perms(0644));
  ExpectUsageError("--token-file " + token + " --tls-cert " + Path("a.pem") + " --tls-key " + Path("a.key"),
                   "--tls-key: File " + Path("a.key"));
}

TEST_F(Startup, TcpThatEveryUserMayUseIsSaidInTheLogAndInTheHelp) {
  testing::DaemonOptions options;
  options.tcp = true;
  const std::string words = "takes every user of this machine for a client";
  EXPECT_NE(Must(testing::Daemon::Start(options)).log().find(words), std::string::npos);
  options.flags = {"--token-file", File("token", "secret\n")};
  EXPECT_EQ(Must(testing::Daemon::Start(options)).log().find(words), std::string::npos);
  options.tcp = false;
  EXPECT_EQ(Must(testing::Daemon::Start(options)).log().find(words), std::string::npos);
  EXPECT_NE(Run("--help").text.find("open to every user"), std::string::npos);
}

TEST_F(Startup, LimitsThatDoNotGoTogetherAreRefused) {
  const std::string sentence =
      "hlod: unacknowledged_bytes_max is 1MiB, less than 4 times inline_bytes_max, which is 512KiB: replies "
      "with payloads inside are kept until the client acknowledges them.\n";
  ExpectUsageError("--unacknowledged-bytes-max 1MiB --inline-bytes-max 512KiB", sentence);
  ExpectUsageError(
      "--inline-bytes-max 512KiB --config " + File("limits.toml", "unacknowledged_bytes_max = \"1MiB\"\n"),
      sentence);
}

TEST_F(Startup, LibrariesOfNativeKernelsThatCannotServeAreRefused) {
  const auto library = [](const std::string& name) { return " --kernel-library " + NativeLibrary(name); };
  ExpectUsageError("--kernel-library " + Path("none.so"),
                   "hlod: kernel_library: " + Path("none.so") + " cannot be loaded: ");
  ExpectUsageError("--kernel-library " + File("text.so", "not a library"), "text.so cannot be loaded: ");
  ExpectUsageError("--kernel-library ''", "empty");
  ExpectUsageError(library("no_symbol"), "no_symbol.so does not export hlod_native_kernels");
  ExpectUsageError(library("no_table"), "has no table");
  ExpectUsageError(library("other_abi"),
                   "other_abi.so is built for version 2 of native kernels; this daemon has version 1");
  ExpectUsageError(library("own_target"),
                   "own_target.so has a kernel for the target \"TopK\", which is hlod's own");
  ExpectUsageError(library("no_target"),
                   "kernel 0 of " + NativeLibrary("no_target") + " has no target, or no function");
  ExpectUsageError(library("no_function"), "has no target, or no function");
  ExpectUsageError(library("kernels") + library("kernels"),
                   "kernels.so has a kernel for the target \"tests.scale\", and " + NativeLibrary("kernels") +
                       " has one, too");
  ExpectUsageError("--config " + File("kernels.toml", "kernel_library = [\"" + Path("none.so") + "\"]\n"),
                   "none.so cannot be loaded");
}

TEST_F(Startup, PlainTcpOffTheLoopbackNamesTheFlagsThatItNeeds) {
  ExpectUsageError("--listen tcp:0.0.0.0:7777", "hlod: Plain TCP is for the loopback interface only");
  ExpectUsageError("--listen tcp:0.0.0.0:7777", "needs --tls-cert and --tls-key");
}

TEST_F(Startup, AWrongCommandLineIsReportedInItsName) {
  ExpectUsageError("--log-level loud", "hlod: --log-level: \"loud\" is not one of trace");
  ExpectUsageError("--bogus", "hlod: The following argument was not expected: --bogus");
}

TEST_F(Startup, InstructionSetsThatAreUnknownAreRefusedWithThoseThereAre) {
  ExpectUsageError("--cpu-features avx3", "hlod: --cpu-features: \"avx3\" is not one of all, baseline");
  ExpectUsageError("--config " + File("cpu.toml", "cpu_features = \"\"\n"), "cpu.toml:1: cpu_features");
  const ScopedVariable variable("HLOD_CPU_FEATURES", "sse9");
  ExpectUsageError("", "hlod: $HLOD_CPU_FEATURES: \"sse9\" is not one of all, baseline");
}

TEST(CpuFeatures, WhatADaemonIsLimitedToIsWhatItsDevicesSay) {
  const auto features = [](std::vector<std::string> flags) {
    testing::DaemonOptions options;
    options.flags = std::move(flags);
    const testing::Daemon daemon = Must(testing::Daemon::Start(options));
    const Client client = Must(daemon.Connect());
    const Executable product = Must(client.CompileText(R"(HloModule ones
ENTRY main {
  x = f32[40,40] parameter(0)
  ROOT y = f32[40,40] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)"));
    Literal ones(Shape::Array(hlo::kF32, {40, 40}));
    for (float& one : ones.data<float>()) one = 1;
    const Buffer x = Must(client.device(0).Upload(ones));
    EXPECT_EQ(Must(Must(product.Execute({x}))[0].ToLiteral()).data<float>()[7], 40);
    return Must(Must(daemon.Administration()).Devices())[0].cpu_features;
  };
  const std::vector<std::string> baseline = {"baseline"};
  EXPECT_EQ(features({"--cpu-features", "baseline"}), baseline);
  const ScopedVariable variable("HLOD_CPU_FEATURES", "baseline");
  EXPECT_EQ(features({}), baseline);
  const std::vector<std::string> all = features({"--cpu-features", "all"});
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all[0] == "baseline" || all[0] == "avx2" || all[0] == "avx512") << all[0];
}

// Returns the number of filters of system calls of a thread, by its status file; 0 if the kernel has none.
int FiltersOf(const std::filesystem::path& task) {
  std::ifstream file(task / "status");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kKey = "Seccomp_filters:";
    if (line.starts_with(kKey)) return std::stoi(line.substr(kKey.size()));
  }
  return 0;
}

TEST(Confinement, EachThreadOfADaemonHasGivenUpSystemCallsUnlessItIsToldOtherwise) {
  const int own = FiltersOf("/proc/self");
  for (const bool restricted : {true, false}) {
    testing::DaemonOptions options;
    if (!restricted) options.flags = {"--system-calls", "all"};
    const testing::Daemon daemon = Must(testing::Daemon::Start(options));
    const Client client = Must(daemon.Connect());
    int threads = 0;
    for (const auto& task : std::filesystem::directory_iterator(std::filesystem::path("/proc") /
                                                                std::to_string(daemon.pid()) / "task")) {
      EXPECT_EQ(FiltersOf(task.path()), restricted ? own + 1 : own) << task.path();
      ++threads;
    }
    EXPECT_GT(threads, 3);
  }
}

TEST_F(Startup, SystemCallsAreAllOrRestricted) {
  ExpectUsageError("--system-calls some", "hlod: --system-calls: \"some\" is not one of all, restricted");
}

TEST_F(Startup, OnlySizesAreReportedInBytes) {
  ExpectUsageError("--devices 0", "0 is not within 1 and 1024");
  ExpectUsageError("--commands-in-flight-max 1", "1 is not within 64 and 16777216");
  ExpectUsageError("--chunk-bytes-max 1", "1 is not within 4KiB and 48MiB");
}

TEST_F(Startup, AFolderIsNoFile) {
  ExpectUsageError("--token-file /tmp", "/tmp");
  ExpectUsageError("--config /tmp", "Is a directory");
  ExpectUsageError("--tls-cert /tmp --tls-key /tmp", "--tls-cert: File /tmp");
  ExpectUsageError("--config /nowhere.toml", "/nowhere.toml");
}

TEST_F(Startup, CertificatesAreLookedThrough) {
  const std::string garbage = File("garbage", "no certificate");
  MakeCertificate("a");
  MakeCertificate("b");
  ExpectUsageError("--tls-cert " + garbage + " --tls-key " + Path("a.key"), "no PEM certificate");
  ExpectUsageError("--tls-cert " + Path("a.pem") + " --tls-key " + garbage, garbage);
  ExpectUsageError("--tls-cert " + Path("a.pem") + " --tls-key " + Path("b.key"),
                   "b.key: it is not the key of the certificate");
  ExpectUsageError(
      "--tls-cert " + Path("a.pem") + " --tls-key " + Path("a.key") + " --tls-client-ca " + garbage,
      "--tls-client-ca: " + garbage);
}

TEST_F(Startup, ClientsThatExpectTheOtherSortOfConnectionAreToldAtOnce) {
  MakeCertificate("c");
  testing::DaemonOptions daemon_options;
  daemon_options.tcp = true;
  daemon_options.flags = {"--tls-cert",  Path("c.pem"),  "--tls-key",
                          Path("c.key"), "--token-file", File("token", "secret\n")};
  const testing::Daemon daemon = Must(testing::Daemon::Start(daemon_options));
  ConnectOptions options;
  options.timeout = kPatience;
  const absl::Time start = absl::Now();
  const absl::Status plain = daemon.ConnectTcp(options).status();
  EXPECT_NE(std::string(plain.message()).find("TLS"), std::string::npos) << plain;
  EXPECT_LT(absl::Now() - start, options.timeout);
}

TEST_F(Startup, ClientsOfOlderTlsAreRefused) {
  MakeCertificate("c");
  testing::DaemonOptions daemon_options;
  daemon_options.tcp = true;
  daemon_options.flags = {"--tls-cert",  Path("c.pem"),  "--tls-key",
                          Path("c.key"), "--token-file", File("token", "secret\n")};
  const testing::Daemon daemon = Must(testing::Daemon::Start(daemon_options));
  const auto shake_hands = [&](const std::string& version) {
    return RunShell("openssl s_client -connect " + daemon.tcp_address() + " -alpn h2 " + version +
                    " </dev/null 2>&1");
  };
  const Output older = shake_hands("-tls1_2");
  EXPECT_NE(older.code, 0) << older.text;
  EXPECT_NE(older.text.find("New, (NONE)"), std::string::npos) << older.text;
  const Output newer = shake_hands("-tls1_3");
  EXPECT_EQ(newer.code, 0) << newer.text;
  EXPECT_NE(newer.text.find("New, TLSv1.3"), std::string::npos) << newer.text;
}

TEST_F(Startup, ADescriptorThatIsNoConnectionIsRefused) {
  ExpectUsageError("--inherit-fd 99", "descriptor 99 is not a connected socket");
  ExpectUsageError("--inherit-fd 0 </dev/null", "descriptor 0 is not a connected socket");
}

TEST_F(Startup, LimitsThatNoClientCouldLiveWithAreRefused) {
  for (const char* flag :
       {"--inline-bytes-max 64MiB", "--chunk-bytes-max 1", "--chunk-bytes-max 0",
        "--commands-in-flight-max 0", "--commands-in-flight-max 63", "--sessions-max 0", "--arena-bytes 1MiB",
        "--arena-bytes 1", "--program-bytes-max 0", "--unacknowledged-bytes-max 1"}) {
    ExpectUsageError(flag, "is not within");
  }
  ExpectUsageError("--config " + File("limit.toml", "sessions_max = 0\n"), "limit.toml:1: sessions_max");
  ExpectUsageError("--sessions-max 99999999999999999999", "is not a whole number within 1 and 1048576");
}

TEST_F(Startup, MistakesOfTheCommandLineHaveOneCode) {
  ExpectUsageError("--frobnicate 3", "frobnicate");
  ExpectUsageError("--devices", "devices");
  ExpectUsageError("--devices two", "\"two\" is not a whole number within 1 and 1024");
  ExpectUsageError("--config " + File("dash.toml", "device-memory = 1\n"), "device_memory");
}

// Returns the value of an environment variable that a process was started with; "(unset)" without it.
std::string VariableOf(int pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
  }
  return "(unset)";
}

TEST(TeamPolicy, TheTeamSleepsAfterMicrosecondsOfWaiting) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  EXPECT_EQ(VariableOf(daemon.pid(), "GOMP_SPINCOUNT"), "100");
}

TEST(TeamPolicy, WhatTheUserSetStays) {
  setenv("OMP_WAIT_POLICY", "active", 1);
  const absl::StatusOr<testing::Daemon> daemon = testing::Daemon::Start();
  unsetenv("OMP_WAIT_POLICY");
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  EXPECT_EQ(VariableOf(daemon->pid(), "GOMP_SPINCOUNT"), "(unset)");
}

}  // namespace
}  // namespace hlod
