// A hanging test fails with its stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace hlod {
namespace {

using ::testing::HasSubstr;

// Runs `limit ARGUMENTS` and reads its output.
class Limited {
 public:
  explicit Limited(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("limit"));
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int ends[2];
    if (pipe(ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_end_ = ends[0];
  }
  ~Limited() { close(output_end_); }

  static std::string Program(const std::string& name) {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
  }

  void ReadUntil(const std::string& text) {
    while (output_.find(text) == std::string::npos && ReadSome()) {
    }
  }

  void ExpireNow() { kill(pid_, SIGUSR1); }

  // Returns the exit code. The output ends when no process that `limit` has started is alive.
  int Finish() {
    while (ReadSome()) {
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const std::string& output() const { return output_; }

 private:
  bool ReadSome() {
    char bytes[4096];
    const ssize_t count = read(output_end_, bytes, sizeof bytes);
    if (count > 0) output_.append(bytes, count);
    return count > 0;
  }

  pid_t pid_ = -1;
  int output_end_ = -1;
  std::string output_;
};

TEST(Limit, AHangFailsWithTheStacksOfEveryThreadAndChild) {
  Limited limited({"600", Limited::Program("hanging_program")});
  limited.ReadUntil("the thread hangs");
  limited.ReadUntil("the child hangs");
  limited.ExpireNow();
  EXPECT_EQ(limited.Finish(), 124);
  for (const char* function : {"Hang(", "HangInAThread", "HangInTheChild", "main", "hanging_program.cc:"})
    EXPECT_THAT(limited.output(), HasSubstr(function));
}

TEST(Limit, ATestThatRunsTooLongFails) {
  Limited limited({"1", Limited::Program("hanging_program")});
  EXPECT_EQ(limited.Finish(), 124);
  EXPECT_THAT(limited.output(), HasSubstr("(its limit is 1 s)"));
}

TEST(Limit, ATestThatEndsKeepsItsResult) {
  EXPECT_EQ(Limited({"600", "true"}).Finish(), 0);
  EXPECT_EQ(Limited({"600", "sh", "-c", "exit 3"}).Finish(), 3);
  EXPECT_EQ(Limited({"600", "sh", "-c", "kill -SEGV $$"}).Finish(), 128 + SIGSEGV);
  EXPECT_EQ(Limited({"600", "/no/such/program"}).Finish(), 127);
  EXPECT_EQ(Limited({"soon", "true"}).Finish(), 2);
}

}  // namespace
}  // namespace hlod
