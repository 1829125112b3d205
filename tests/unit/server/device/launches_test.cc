// Parts of launches: the cluster learns of a part before the part can be offered, or taken back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

constexpr std::string_view kTwoReplicas = R"(HloModule two, replica_count=2
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x)
})";

// A cluster of two daemons that keeps the calls; `on_add` does what other threads do meanwhile.
struct ToldLaunches : Launches {
  absl::StatusOr<uint32_t> FindRank(absl::Span<const uint32_t>) override { return 0u; }
  void Add(const std::shared_ptr<LaunchPart>&) override {
    told.emplace_back("begins");
    on_add();
    told.emplace_back("added");
  }
  void Offer(const std::shared_ptr<LaunchPart>&, const Digest&) override { told.emplace_back("offered"); }
  void TakeBack(const std::shared_ptr<LaunchPart>&, const absl::Status&) override {
    told.emplace_back("taken back");
  }
  void Leave(uint64_t group) override { left.push_back(group); }
  std::vector<std::string> told;
  std::vector<uint64_t> left;
  std::function<void()> on_add = [] {};
};

class Parts : public testing::Test {
 protected:
  Parts() {
    devices->SetLaunches(launches);
    session.session_device->Close();
    Open({.group = 7, .user = "a"});
    EXPECT_TRUE(session.Await(session.Compile(1, ProgramOf(kTwoReplicas))).ok());
    upload = session.Announce(2);
  }
  void Open(const LaunchClient& client) {
    session.session_device =
        std::make_shared<SessionDevice>(2, *devices, nullptr, devices->AssemblyOf(2, ""), client);
  }
  uint64_t Execute() {
    ExecuteRequest request = session.ExecuteOf(1, {2}, {3});
    request.launch = std::make_shared<LaunchRequest>();
    request.launch->group = 7;
    request.launch->sequence = 1;
    request.launch->ranks = {0, 1};
    request.launch->devices = {0, 0};
    return session.Execute(std::move(request));
  }

  FakeClock clock;
  std::shared_ptr<ToldLaunches> launches = std::make_shared<ToldLaunches>();
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session{*devices};
  uint64_t upload = 0;
};

// The argument arrives on another thread at the moment at which the part does.
TEST_F(Parts, AnArgumentThatComesAtTheSameTimeDoesNotOfferAPartThatIsNotThere) {
  launches->on_add = [this] { session.Deliver(upload); };
  Execute();
  EXPECT_THAT(launches->told, ElementsAre("begins", "added", "offered"));
}

// Also of one that has no part in a launch yet: other processes may wait for its first. Nobody waits for a
// session that is not of several processes.
TEST_F(Parts, TheEndOfASessionOfSeveralProcessesIsTold) {
  session.session_device->Close();
  EXPECT_TRUE(launches->left.empty());
  Open({.group = 8, .user = "a", .separate = true});
  session.session_device->Close();
  session.session_device->Close();
  EXPECT_THAT(launches->left, ElementsAre(8u));
}

TEST_F(Parts, ASessionThatEndsAtTheSameTimeTakesThePartBack) {
  launches->on_add = [this] { session.session_device->Close(); };
  Execute();
  EXPECT_THAT(launches->told, testing::Contains("taken back"));
  EXPECT_EQ(launches->told.back(), "taken back") << "and not before the part is there";
}

}  // namespace
}  // namespace hlod::device
