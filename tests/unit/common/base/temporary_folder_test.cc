// Folders are removed when their process ends; a folder of a killed process is removed by the next process.
#include "common/base/system/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
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

// Returns a prefix that only this process uses.
std::string Prefix(const std::string& name) { return "folder-test-" + name + "-" + std::to_string(getpid()); }

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

// A killed process leaves a folder that no process has locked.
TEST(TemporaryFolder, OfAKilledProcessGoesWhenTheNextIsMade) {
  const std::string prefix = Prefix("killed");
  const std::filesystem::path left = std::filesystem::temp_directory_path() / (prefix + "-aB3dE6");
  std::filesystem::create_directories(left / "records");
  std::ofstream(left / "records" / "file") << "text";
  const TemporaryFolder other = TemporaryFolder::Make(Prefix("other")).value();
  EXPECT_TRUE(Exists(left.string())) << "another prefix";
  const TemporaryFolder next = TemporaryFolder::Make(prefix).value();
  EXPECT_FALSE(Exists(left.string()));
  EXPECT_TRUE(Exists(next.path()));
}

TEST(TemporaryFolder, OfALivingProcessStays) {
  const TemporaryFolder folder = TemporaryFolder::Make(Prefix("living")).value();
  const TemporaryFolder second = TemporaryFolder::Make(Prefix("living")).value();
  EXPECT_NE(folder.path(), second.path());
  EXPECT_TRUE(Exists(folder.path()));
  EXPECT_TRUE(Exists(second.path()));
}

TEST(TemporaryFolder, SaysWhereNoneCanBe) {
  const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("no/such/parent");
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(folder.status().message(), HasSubstr("no/such/parent-"));
}

}  // namespace
}  // namespace hlod
