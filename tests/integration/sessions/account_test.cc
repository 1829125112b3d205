// The account as hloctl shows it: its sums by any view are the daemon's totals, and it says why programs
// compiled and how long they took.
#include "hlod/observe/account.h"

#include "hlod/tensor/tensor_name.h"
#include "tests/integration/support/hloctl.h"

namespace hlod {
namespace {

class AccountViews : public Hloctl {};

// By any key, the sums are the daemon's: over sessions that are open, that ended, and that ended long ago.
TEST_F(AccountViews, TransfersByAnyViewAreTheDaemonsTotals) {
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(Must(daemon_->Connect()));
  for (int i = 0; i < 20; ++i) {
    const Client client = i < 3 ? clients[static_cast<size_t>(i)] : Must(daemon_->Connect());
    ASSERT_OK(client.StepMark(static_cast<uint64_t>(i % 4)));
    const TensorName name("tensor " + std::to_string(i % 2));
    const Buffer x = Must(client.device(0).Upload(Counting(100 + i)));
    const Buffer y = Must(client.device(0).Upload(Counting(7)));
    ASSERT_OK(x.ToLiteral().status());
    if (i % 2 == 0) {
      ASSERT_OK(y.ToLiteral().status());
    }
    ASSERT_OK(client.Sync());
    if (i >= 3) {
      ASSERT_OK(client.Close());
    }
  }
  const nlohmann::json totals = RunJson("stats")["totals"];
  // Each client uploads 100 + i and 7 numbers of 4 bytes; every client reads the first, every other one the
  // second.
  EXPECT_EQ(totals["host_to_device"]["bytes"], 4 * (20 * 100 + 190 + 20 * 7));
  EXPECT_EQ(totals["device_to_host"]["bytes"], 4 * (20 * 100 + 190 + 10 * 7));
  for (const char* by : {"line", "step", "cause", "direction", "name", "session"}) {
    const nlohmann::json view = RunJson(std::string("transfers --by ") + by);
    for (const char* direction : {"host_to_device", "device_to_host", "device_to_device"}) {
      EXPECT_EQ(view[direction], totals[direction]) << by << ": " << view;
      int64_t bytes = 0;
      for (const nlohmann::json& sum : view["transfers"]) bytes += sum[direction]["bytes"].get<int64_t>();
      EXPECT_EQ(bytes, totals[direction]["bytes"].get<int64_t>()) << by;
    }
    EXPECT_EQ(RunJson(std::string("transfers --limit 1 --by ") + by)["host_to_device"],
              totals["host_to_device"])
        << by;
  }
  const nlohmann::json lines = RunJson("transfers --by line");
  EXPECT_NE(lines["transfers"][0]["key"].get<std::string>().find("account_test.cc:"), std::string::npos)
      << lines;
  const std::string names = Run("transfers --by name").text;
  EXPECT_NE(names.find("tensor 1"), std::string::npos) << names;
  EXPECT_EQ(Run("transfers --by colour").code, 2);
  EXPECT_NE(Run("transfers --by colour").text.find("line, step, cause"), std::string::npos);
}

TEST_F(AccountViews, CompilesSayWhyAndGraphsHowLong) {
  for (const int64_t n : {4, 5, 5}) {
    const Executable add = Must(client_->CompileText(AddProgram(n)));
    const Buffer x = Must(client_->device(0).Upload(Counting(n)));
    for (int i = 0; i < 3; ++i) ASSERT_OK(Must(add.Execute({x, x}))[0].ready().Await());
  }
  ASSERT_OK(client_->Sync());
  const nlohmann::json compiles = RunJson("compiles")["compiles"];
  ASSERT_EQ(compiles.size(), 3u) << compiles;
  EXPECT_EQ(compiles[2]["reason"], "first");
  EXPECT_EQ(compiles[1]["reason"], "parameter");
  EXPECT_NE(compiles[1]["why"].get<std::string>().find("parameter 0 was f32[4], now f32[5]"),
            std::string::npos)
      << compiles;
  EXPECT_EQ(compiles[0]["reason"], "again");
  EXPECT_EQ(compiles[0]["outcome"], "cached");
  EXPECT_EQ(compiles[1]["argument_bytes"], 40);
  EXPECT_EQ(compiles[1]["output_bytes"], 20);
  const nlohmann::json totals = RunJson("stats")["totals"];
  for (const char* by : {"program", "line", "step", "session"}) {
    const nlohmann::json graphs = RunJson(std::string("graphs --by ") + by);
    EXPECT_EQ(graphs["executes"], 9) << graphs;
    EXPECT_EQ(graphs["execute_us"], totals["execute_us"]) << by;
  }
  const nlohmann::json graphs = RunJson("graphs")["graphs"];
  ASSERT_EQ(graphs.size(), 2u) << graphs;
  for (const nlohmann::json& graph : graphs) {
    EXPECT_EQ(graph["program"], "add");
    EXPECT_LE(graph["run"]["min_us"].get<int64_t>(), graph["run"]["max_us"].get<int64_t>());
    EXPECT_GE(graph["peak_bytes"].get<int64_t>(), 16);
  }
  for (const char* command : {"compiles", "graphs", "top --once", "top --frames 1"}) {
    const Output output = Run(command);
    EXPECT_EQ(output.code, 0) << command << output.text;
    EXPECT_NE(output.text.find("add"), std::string::npos) << command << output.text;
  }
  const nlohmann::json top = RunJson("top --once");
  EXPECT_EQ(top["stats"]["totals"]["executes"], 9) << top;
  EXPECT_EQ(Run("graphs --by colour").code, 2);
}

TEST_F(AccountViews, ASessionSeesItsOwnRowsAlone) {
  const Client other = Must(daemon_->Connect());
  const Buffer x = Must(other.device(0).Upload(Counting(4)));
  const Executable add = Must(other.CompileText(AddProgram(4)));
  ASSERT_OK(Must(add.Execute({x, x}))[0].ready().Await());
  ASSERT_OK(other.Sync());
  const SessionAccount mine = Must(GetAccount(*client_)), theirs = Must(GetAccount(other));
  EXPECT_TRUE(mine.transfers.empty());
  EXPECT_TRUE(mine.runs.empty());
  EXPECT_TRUE(mine.compiles.empty());
  EXPECT_EQ(theirs.runs.size(), 1u);
  EXPECT_EQ(theirs.compiles.size(), 1u);
}

}  // namespace
}  // namespace hlod
