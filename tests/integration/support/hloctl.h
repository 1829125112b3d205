// A daemon, and hloctl as typed.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/integration/support/harness.h"
#include "tests/support/shell.h"

namespace hlod {

class Hloctl : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    program_ = (self / "../bin/hloctl").string();
    folder_ = std::filesystem::temp_directory_path() / ("hloctl-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "two.hlo") << kTwoResults;
    std::ofstream(folder_ / "add.hlo") << AddProgram(2);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs it against the daemon; stdout and stderr together.
  Output Run(const std::string& arguments, const std::string& redirect = "2>&1") {
    return RunAt(daemon_->address(), arguments, redirect);
  }
  Output RunAt(const std::string& address, const std::string& arguments,
               const std::string& redirect = "2>&1") {
    const std::string command = program_ + " --address " + address + " " + arguments + " " + redirect;
    return RunShell(command);
  }
  nlohmann::json RunJson(const std::string& arguments) {
    const Output output = Run("--json " + arguments, "2>/dev/null");
    nlohmann::json json = nlohmann::json::parse(output.text, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << output.text;
    return json;
  }
  std::string File(const char* name) const { return (folder_ / name).string(); }

  std::string program_;
  std::filesystem::path folder_;
};

}  // namespace hlod
