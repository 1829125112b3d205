// A daemon whose last functions, after main(), take long: it ends as a signal says.
#include <signal.h>

#include <filesystem>
#include <optional>

#include "common/base/system/temporary_folder.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"

namespace hlod {
namespace {

// The log is gone when the second signal comes.
TEST(SlowEnd, ASecondSignalEndsTheProcessInOrder) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "A sanitizer's own library must be the first that is loaded.";
#endif
  const TemporaryFolder folder = Must(TemporaryFolder::Make("slow-end-test"));
  std::optional<Process> daemon;
  {
    const ScopedVariable preload("LD_PRELOAD", Beside("slow_end.so"));
    ASSERT_TRUE(std::filesystem::exists(Beside("slow_end.so")));
    daemon.emplace(std::vector<std::string>{Beside("../bin/hlod"), "--listen", "unix:" + folder.path() + "/s",
                                            "--compile-cache", "none"});
  }
  ASSERT_NE(daemon->ReadLine().find("listening"), std::string::npos);
  daemon->Send(SIGTERM);
  EXPECT_EQ(daemon->ReadLine(), "the end is slow");
  daemon->Send(SIGTERM);
  EXPECT_EQ(daemon->WaitForExit(kPatience), 0);
}

}  // namespace
}  // namespace hlod
