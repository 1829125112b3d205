// Programs that no session holds are charged to nobody: the daemon keeps a bounded number of them.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

// Compiles different programs, as the handles from 1 on.
void CompileMany(TestSession& session, int programs) {
  uint64_t last = 0;
  for (int i = 1; i <= programs; ++i) {
    last = session.Compile(static_cast<Handle>(i), ProgramOf(absl::StrCat(R"(HloModule add
ENTRY main {
  a = s32[] parameter(0)
  b = s32[] constant()",
                                                                          i, R"()
  ROOT c = s32[] add(a, b)
}
)")));
  }
  ASSERT_TRUE(session.Await(last).ok());
}

// The most programs that stay: eviction is due once a quarter of the bound has been freed.
int64_t WithRest(int64_t most) { return most + most / 4; }

int64_t Programs(Devices& devices) { return static_cast<int64_t>(devices.executables().List().size()); }

TEST(UnheldPrograms, OfAnEndedSessionAreEvicted) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  const int64_t most = devices->executables().options().unheld_max;
  {
    TestSession session(*devices);
    CompileMany(session, static_cast<int>(most) + 20);
    EXPECT_TRUE(Eventually([&] { return Programs(*devices) == most + 20; }));
  }
  EXPECT_TRUE(Eventually([&] { return Programs(*devices) <= WithRest(most); })) << Programs(*devices);
}

TEST(UnheldPrograms, ThatASessionHasFreedAreEvicted) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  const int64_t most = devices->executables().options().unheld_max;
  TestSession session(*devices);
  CompileMany(session, 2 * static_cast<int>(most));
  std::vector<Handle> handles;
  for (Handle handle = 1; handle <= static_cast<Handle>(2 * most); ++handle) handles.push_back(handle);
  const CommandRef command = session.Next();
  EXPECT_TRUE(session.session_device->Free(command, handles, session.Keep(command.id)).ok());
  EXPECT_TRUE(Eventually([&] { return Programs(*devices) <= WithRest(most); })) << Programs(*devices);
}

}  // namespace
}  // namespace hlod::device
