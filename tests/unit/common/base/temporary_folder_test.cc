// Folders that go with their process, and those of processes that were killed.
#include "common/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace hlod {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

bool Exists(const std::string& path) { return std::filesystem::exists(path); }

// Of this process alone.
std::string Prefix(const std::string& name) { return "folder-test-" + name + "-" + std::to_string(getpid()); }

// Runs in a child that ends without destructors.
template <typename Run>
void InAKilledChild(const Run& run) {
  const pid_t pid = fork();
  if (pid == 0) {
    run();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(TemporaryFolder, GoesWithTheObject) {
  std::string path;
  {
    TemporaryFolder folder = TemporaryFolder::Make(Prefix("goes")).value();
    path = folder.path();
    EXPECT_THAT(std::filesystem::path(path).filename().string(), StartsWith(Prefix("goes") + "-"));
    std::ofstream(path + "/file") << "text";
    const TemporaryFolder moved = std::move(folder);
    EXPECT_EQ(moved.path(), path);
    folder = TemporaryFolder();
    EXPECT_TRUE(Exists(path + "/file"));
  }
  EXPECT_FALSE(Exists(path));
}

TEST(TemporaryFolder, OfAKilledProcessGoesWhenTheNextIsMade) {
  const std::string prefix = Prefix("killed"), kept = std::filesystem::temp_directory_path() / Prefix("note");
  InAKilledChild([&] {
    const TemporaryFolder folder = TemporaryFolder::Make(prefix).value();
    std::ofstream(folder.path() + "/file") << "text";
    std::ofstream(kept) << folder.path() << std::flush;
    kill(getpid(), SIGKILL);
  });
  std::string path;
  std::ifstream(kept) >> path;
  std::filesystem::remove(kept);
  ASSERT_TRUE(Exists(path + "/file"));
  const TemporaryFolder other = TemporaryFolder::Make(Prefix("other")).value();
  EXPECT_TRUE(Exists(path)) << "another prefix";
  const TemporaryFolder next = TemporaryFolder::Make(prefix).value();
  EXPECT_FALSE(Exists(path));
  EXPECT_TRUE(Exists(next.path()));
}

TEST(TemporaryFolder, OfALivingProcessStays) {
  const TemporaryFolder folder = TemporaryFolder::Make(Prefix("living")).value();
  const TemporaryFolder second = TemporaryFolder::Make(Prefix("living")).value();
  InAKilledChild([&] { TemporaryFolder::Make(Prefix("living")).IgnoreError(); });
  EXPECT_TRUE(Exists(folder.path()));
  EXPECT_TRUE(Exists(second.path()));
}

TEST(TemporaryFolder, IsNotAForkedChilds) {
  TemporaryFolder folder = TemporaryFolder::Make(Prefix("forked")).value();
  const pid_t pid = fork();
  if (pid == 0) {
    folder = TemporaryFolder();
    _exit(0);
  }
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(Exists(folder.path()));
}

TEST(TemporaryFolder, SaysWhereNoneCanBe) {
  const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("no/such/parent");
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(folder.status().message(), HasSubstr("no/such/parent-"));
}

}  // namespace
}  // namespace hlod
