// The acceptance rows of the persistent compile cache, as seen by programs with tensors: one daemon after
// another.
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <thread>

#include "absl/time/clock.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::Not;

class CompileCacheRows : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "compile-cache-rows-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    around_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(around_); }

  std::string folder() const { return (around_ / "compiled").string(); }
  std::vector<std::filesystem::path> Files() const {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder(), none))
      files.push_back(entry.path());
    return files;
  }

  // Runs the test program, which is three programs for the daemon.
  static SessionStats Compute(const Client& client) {
    const Device device = client.device(0);
    const Tensor x = FromValues<float>({1, 2, 3, 4}, Dims{2, 2}, device);
    EXPECT_THAT(MatMul(x, x).ToVector<float>(), ElementsAre(7, 10, 15, 22));
    EXPECT_THAT((x * 0.5 + x).ToVector<float>(), ElementsAre(1.5, 3, 4.5, 6));
    EXPECT_THAT(Sum(x, {0}).ToVector<float>(), ElementsAre(4, 6));
    const SessionStats stats = client.Stats().value();
    Environment(client).End();
    return stats;
  }
  // Starts a daemon, runs the test program on it, and ends it.
  SessionStats Run(std::string* log = nullptr) const {
    testing::Daemon daemon = testing::Daemon::Start({.flags = {"--compile-cache", folder()}}).value();
    const SessionStats stats = Compute(daemon.Connect().value());
    daemon.Kill(SIGTERM);
    EXPECT_EQ(daemon.WaitForExit(absl::Seconds(30)), 0);
    if (log != nullptr) *log = daemon.log();
    return stats;
  }

  std::filesystem::path around_;
};

// Acceptance row LT15.
TEST_F(CompileCacheRows, ASecondProcessCompilesNothing) {
  const SessionStats first = Run();
  EXPECT_EQ(first.compiles, 3);
  EXPECT_EQ(first.persistent_cache_hits, 0);
  EXPECT_EQ(Files().size(), 3u);
  const SessionStats second = Run();
  EXPECT_EQ(second.compiles, 0);
  EXPECT_EQ(second.persistent_cache_hits, 3);
}

// Acceptance row LT15.
TEST_F(CompileCacheRows, ATruncatedFileIsAWarningAndACompile) {
  Run();
  const std::filesystem::path cut = Files().at(0);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  std::string log;
  const SessionStats stats = Run(&log);
  EXPECT_EQ(stats.compiles, 1);
  EXPECT_EQ(stats.persistent_cache_hits, 2);
  EXPECT_THAT(log, HasSubstr(cut.filename().string()));
  EXPECT_THAT(log, HasSubstr("compiled again"));
  EXPECT_EQ(Run(&log).compiles, 0);
  EXPECT_THAT(log, Not(HasSubstr("compiled again")));
}

// Acceptance row LT15.
TEST_F(CompileCacheRows, TwoDaemonsShareAFolder) {
  std::thread other([this] { Run(); });
  Run();
  other.join();
  EXPECT_EQ(Files().size(), 3u);
  std::string log;
  EXPECT_EQ(Run(&log).compiles, 0);
  EXPECT_THAT(log, Not(HasSubstr("compiled again")));
}

// Acceptance row LT15. Each program starts its own daemon, which finds what an earlier one compiled.
TEST_F(CompileCacheRows, PrivateDaemonsFindTheFolder) {
  const char* const before = std::getenv("HLOD_COMPILE_CACHE");
  const std::string kept = before == nullptr ? "" : before;
  setenv("HLOD_COMPILE_CACHE", folder().c_str(), 1);
  EXPECT_EQ(Compute(Client::Connect("private").value()).compiles, 3);
  // The daemon writes a file after it has answered the compile.
  const auto finished = [this] {
    int finished = 0;
    for (const auto& file : Files()) finished += file.extension() == ".hlo";
    return finished;
  };
  for (int i = 0; i < 10'000 && finished() < 3; ++i) absl::SleepFor(absl::Milliseconds(2));  // tidy: a file
  const SessionStats second = Compute(Client::Connect("private").value());
  EXPECT_EQ(second.compiles, 0);
  EXPECT_EQ(second.persistent_cache_hits, 3);
  if (before == nullptr) unsetenv("HLOD_COMPILE_CACHE");
  else setenv("HLOD_COMPILE_CACHE", kept.c_str(), 1);
}

TEST_F(CompileCacheRows, AFolderThatIsNotThisUsersAloneIsNotUsed) {
  std::filesystem::create_directory(folder());
  std::filesystem::permissions(folder(), std::filesystem::perms(0755));
  // A bad folder named on the command line is an error.
  const absl::Status status = testing::Daemon::Start({.flags = {"--compile-cache", folder()}}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("mode 0755"));
  // The folder "none" disables the cache.
  const testing::Daemon daemon = testing::Daemon::Start({.flags = {"--compile-cache", "none"}}).value();
  EXPECT_EQ(Compute(daemon.Connect().value()).compiles, 3);
  EXPECT_TRUE(Files().empty());
}

}  // namespace
}  // namespace hlod
