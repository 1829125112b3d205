// hloctl doctor, as typed.

#include "tests/integration/support/hloctl.h"

namespace hlod {
namespace {

// Returns the finding of a name; null when there is none.
nlohmann::json FindingOf(const nlohmann::json& report, const std::string& what) {
  for (const nlohmann::json& finding : report["findings"]) {
    if (finding["what"] == what) return finding;
  }
  return nullptr;
}

TEST_F(Hloctl, DoctorFindsTheDaemonAndTheMachine) {
  const nlohmann::json report = RunJson("doctor");
  const nlohmann::json running = FindingOf(report, "daemon");
  EXPECT_EQ(running["grade"], "good") << report;
  EXPECT_NE(running["found"].get<std::string>().find(daemon_->address()), std::string::npos) << report;
  EXPECT_EQ(FindingOf(report, "private daemon")["grade"], "good") << report;
  for (const char* what :
       {"processor", "memory", "huge pages", "descriptors", "threads", "shared memory", "partitioner"}) {
    const nlohmann::json finding = FindingOf(report, what);
    ASSERT_FALSE(finding.is_null()) << what << " is missing: " << report;
    // Only a good one has no advice.
    EXPECT_EQ(finding["grade"] == "good", finding["advice"] == "") << finding;
  }
  EXPECT_EQ(Run("doctor").code, 0);
}

TEST_F(Hloctl, DoctorSaysWhatIsWrongAndWhatToDo) {
  const Output nobody = RunAt("unix:" + File("nobody.sock"), "doctor");
  EXPECT_EQ(nobody.code, 4) << nobody.text;
  EXPECT_NE(nobody.text.find("wrong  daemon: "), std::string::npos) << nobody.text;
  EXPECT_NE(nobody.text.find("start a daemon there"), std::string::npos) << nobody.text;

  program_ = "HLOD_DAEMON=/nowhere/hlod " + program_;
  const Output missing = Run("doctor");
  EXPECT_EQ(missing.code, 4) << missing.text;
  EXPECT_NE(missing.text.find("wrong  private daemon: HLOD_DAEMON (/nowhere/hlod)"), std::string::npos)
      << missing.text;
}

TEST_F(Hloctl, DoctorSaysHowMessagesTravel) {
  StartDaemon({.flags = {"--ring", "on"}});
  const auto found = [this] { return FindingOf(RunJson("doctor"), "daemon")["found"].get<std::string>(); };
  const std::string program = program_;
  program_ = "HLOD_RING=on " + program;
  EXPECT_NE(found().find(", messages through shared memory"), std::string::npos) << found();
  program_ = "HLOD_RING=off " + program;
  EXPECT_NE(found().find(", messages through the socket"), std::string::npos) << found();
}

TEST_F(Hloctl, DoctorNotesFewDescriptors) {
  program_ = "prlimit --nofile=1000:1000 " + program_;
  const nlohmann::json finding = FindingOf(RunJson("doctor"), "descriptors");
  EXPECT_EQ(finding["grade"], "note") << finding;
  EXPECT_EQ(finding["found"], "at most 1000");
}

}  // namespace
}  // namespace hlod
