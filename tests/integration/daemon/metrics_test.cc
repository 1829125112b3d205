// The daemon's metrics as Prometheus scrapes them: compared with the ledger, with hostile scrapers, and with
// the dashboard that shows them.
#include <sys/socket.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "absl/time/clock.h"
#include "hlod/observe/account.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/http.h"
#include "tests/integration/support/process.h"
#include "tests/support/source_dir.h"

namespace hlod {
namespace {

using Scrape = std::map<std::string, double>;  // "name{label=\"value\"}" -> value

class Metrics : public DaemonTest {
 protected:
  void SetUp() override {
    testing::DaemonOptions options;
    options.flags = {"--metrics-listen", "127.0.0.1:0", "--devices", "2"};
    StartDaemon(options);
    std::smatch match;
    const std::string log = daemon_->log();
    ASSERT_TRUE(std::regex_search(log, match, std::regex(R"(Metrics at http://127\.0\.0\.1:(\d+)/metrics)")))
        << log;
    port_ = std::stoi(match[1]);
  }

  Scrape Ask() {
    text_ = HttpGet(port_, "/metrics");
    Scrape scrape;
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("hlod_")) continue;
      const size_t space = line.rfind(' ');
      scrape[line.substr(0, space)] = std::stod(line.substr(space + 1));
    }
    return scrape;
  }
  // Scrapes until `name` has `value`: the daemon keeps its figures for a quarter of a second.
  Scrape AskUntil(const std::string& name, double value) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    Scrape scrape = Ask();
    while (scrape[name] != value && absl::Now() < end) scrape = Ask();
    return scrape;
  }

  int port_ = 0;
  std::string text_;
};

std::string Transferred(const char* cause, const char* direction, const char* what = "transferred_bytes") {
  return std::string("hlod_") + what + "_total{device=\"0\",direction=\"" + direction + "\",cause=\"" +
         cause + "\"}";
}

TEST_F(Metrics, AreTheLedgersFigures) {
  const Buffer x = Must(client_->device(0).Upload(Counting(1000)));  // The upload has 4000 bytes.
  const Executable add = Must(client_->CompileText(AddProgram(1000)));
  for (int i = 0; i < 3; ++i) EXPECT_OK(Must(add.Execute({x, x}))[0].ToLiteral().status());
  EXPECT_OK(client_->Sync());
  Scrape scrape = AskUntil("hlod_executes_total", 3);
  EXPECT_EQ(scrape["hlod_executes_total"], 3);
  EXPECT_EQ(scrape["hlod_compiles_total"], 1);
  EXPECT_EQ(scrape["hlod_sessions"], 1);
  EXPECT_TRUE(std::regex_search(text_, std::regex("hlod_build_info\\{version=\"hlod [0-9.]+\"\\} 1")));
  EXPECT_EQ(scrape[Transferred("upload", "host_to_device")], 4000);
  EXPECT_EQ(scrape[Transferred("upload", "host_to_device", "transfers")], 1);
  EXPECT_EQ(scrape[Transferred("download", "device_to_host")], 3 * 4000);
  EXPECT_EQ(scrape[Transferred("download", "device_to_host", "transfers")], 3);
  EXPECT_EQ(scrape[Transferred("print", "device_to_host")], 0);
  EXPECT_EQ(scrape["hlod_device_memory_capacity_bytes{device=\"0\"}"],
            static_cast<double>(int64_t{16} << 30));
  EXPECT_EQ(scrape["hlod_device_memory_capacity_bytes{device=\"1\"}"],
            static_cast<double>(int64_t{16} << 30));
  EXPECT_EQ(scrape["hlod_device_memory_bytes{device=\"0\"}"], static_cast<double>(daemon_->UsedBytes()));
  const DaemonStats stats = Must(daemon_->Stats());
  EXPECT_EQ(scrape["hlod_program_bytes_total"], static_cast<double>(stats.totals.program_bytes));
  EXPECT_NEAR(scrape["hlod_compile_seconds_total"], static_cast<double>(stats.totals.compile_us) / 1e6, 1e-9);
  EXPECT_NEAR(scrape["hlod_execute_seconds_total"], static_cast<double>(stats.totals.execute_us) / 1e6, 1e-9);
  int64_t queue_us = 0;
  for (const RunRow& row : Must(GetAccount(*client_)).runs) queue_us += row.queue.sum_us;
  EXPECT_EQ(stats.totals.queue_us, queue_us);
  EXPECT_NEAR(scrape["hlod_queue_seconds_total"], static_cast<double>(queue_us) / 1e6, 1e-9);
  EXPECT_GT(scrape["hlod_uptime_seconds"], 0);
}

TEST_F(Metrics, HaveHelpATypeAndAUnitAndNoLabelThatAClientChooses) {
  const Scrape before = Ask();
  const std::set<std::string> units = {"seconds", "bytes", "total", "info"};
  const std::set<std::string> counts = {"hlod_sessions", "hlod_rings", "hlod_device_buffers",
                                        "hlod_device_placeholders", "hlod_device_queued_executes"};
  for (const auto& [series, value] : before) {
    const std::string name = series.substr(0, series.find('{'));
    EXPECT_NE(text_.find("# HELP " + name + " "), std::string::npos) << name;
    const std::string type = name.ends_with("_total") ? " counter" : " gauge";
    EXPECT_NE(text_.find("# TYPE " + name + type), std::string::npos) << name;
    EXPECT_TRUE(units.contains(name.substr(name.rfind('_') + 1)) || counts.contains(name)) << name;
  }
  // Sessions, programs and lines do not add series.
  for (int i = 0; i < 5; ++i) {
    const Client client = Must(daemon_->Connect());
    const Buffer x = Must(client.device(0).Upload(Counting(10 + i)));
    const Executable add = Must(client.CompileText(AddProgram(10 + i)));
    EXPECT_OK(Must(add.Execute({x, x}))[0].ToLiteral().status());
  }
  const Scrape after = AskUntil("hlod_executes_total", 5);
  EXPECT_EQ(after.at("hlod_executes_total"), 5);
  EXPECT_EQ(after.size(), before.size());
}

// More scrapers than the endpoint has threads and queue places.
TEST_F(Metrics, ScrapersThatHangHoldUpNoSession) {
  std::vector<rpc::Descriptor> scrapers;
  for (int i = 0; i < 12; ++i) {
    scrapers.push_back(ConnectToLoopback(port_));
    SendText(scrapers.back().get(), i % 2 == 0 ? "GET /metrics HT" : "GET /metrics HTTP/1.1\r\n");
  }
  const Buffer x = Must(client_->device(0).Upload(Counting(1000)));
  const Executable add = Must(client_->CompileText(AddProgram(1000)));
  EXPECT_OK(Must(add.Execute({x, x}))[0].ToLiteral().status());
  EXPECT_TRUE(daemon_->Connect().ok());
  // The next one is answered.
  EXPECT_EQ(AskUntil("hlod_executes_total", 1)["hlod_executes_total"], 1);
}

TEST_F(Metrics, OtherPathsAndGarbageAreRefused) {
  for (const std::string request :
       {"GET /etc/passwd HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "\x16\x03\x01 not HTTP\r\n\r\n",
        "GET /../../etc/passwd HTTP/1.0\r\n\r\n"}) {
    const rpc::Descriptor fd = ConnectToLoopback(port_);
    SendText(fd.get(), request);
    const std::string answer = ReadToEnd(fd.get());
    EXPECT_EQ(answer.find(" 200 "), std::string::npos) << answer;
    EXPECT_EQ(answer.find("root:"), std::string::npos) << answer;
  }
  const rpc::Descriptor fd = ConnectToLoopback(port_);
  send(fd.get(), std::string(100'000, 'x').data(), 100'000, MSG_NOSIGNAL);
  shutdown(fd.get(), SHUT_WR);
  ReadToEnd(fd.get());
  EXPECT_EQ(Ask()["hlod_sessions"], 1);
}

// A browser sends the host name that it asked for, whatever address the name resolves to.
TEST_F(Metrics, RequestsToOtherNamesAreRefused) {
  const auto answer = [&](const std::string& request) {
    const rpc::Descriptor fd = ConnectToLoopback(port_);
    SendText(fd.get(), request);
    const std::string text = ReadToEnd(fd.get());
    return text.substr(0, text.find("\r\n"));
  };
  const std::string good = "HTTP/1.1 200 OK", bad = "HTTP/1.1 400 Bad Request";
  for (const char* host :
       {"localhost", "LOCALHOST:9464", "127.0.0.1", "127.0.0.1:80", " 127.1.2.3 ", "[::1]:1"}) {
    EXPECT_EQ(answer("GET /metrics HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"), good) << host;
  }
  for (const char* host : {"evil.example", "evil.example:9464", "127.evil.example", "localhost.evil.example",
                           "", "169.254.169.254", "[::2]", "[", "0.0.0.0", "127.0.0.1.evil.example",
                           "[::1].evil.example", "[::1].evil.example:80", "[::1]evil",
                           "[::1]:80.evil.example", "localhost:80:80", "127.0.0.1:evil", "[]"}) {
    EXPECT_EQ(answer("GET /metrics HTTP/1.1\r\nhost: " + std::string(host) + "\r\n\r\n"),
              "HTTP/1.1 403 Forbidden")
        << host;
  }
  EXPECT_EQ(answer("GET /metrics HTTP/1.0\r\n\r\n"), good);
  EXPECT_EQ(answer("GET /metrics HTTP/1.1\r\n\r\n"), bad);
  EXPECT_EQ(answer("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"), bad);
  EXPECT_EQ(answer("GET /metrics HTTP/2\r\nHost: localhost\r\n\r\n"), bad);
  EXPECT_EQ(answer("GET /metrics\r\n\r\n"), bad);
  EXPECT_EQ(answer("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
}

// More connections than the endpoint accepts at once, none of which ends: the next scrape is answered while
// they hang.
TEST_F(Metrics, ScrapersThatHangDelayNoOther) {
  std::vector<rpc::Descriptor> scrapers;
  for (int i = 0; i < 40; ++i) {
    scrapers.push_back(ConnectToLoopback(port_));
    SendText(scrapers.back().get(), "GET /metrics HT");
  }
  EXPECT_EQ(Ask()["hlod_sessions"], 1);
  // The last connection is still open: its next bytes are answered.
  SendText(scrapers.back().get(), "TP/1.0\r\n\r\n");
  EXPECT_NE(ReadToEnd(scrapers.back().get()).find(" 200 "), std::string::npos);
}

TEST(MetricsAddress, IsOnTheLoopbackInterfaceOrRefused) {
  const auto refused = [](const std::string& address, int code) {
    Process daemon({Beside("../bin/hlod"), "--listen",
                    "unix:/tmp/hlod-metrics-test-" + std::to_string(getpid()), "--metrics-listen", address});
    EXPECT_EQ(daemon.WaitForExit(absl::Seconds(60)), code) << address;
  };
  refused("0.0.0.0:9464", 2);
  refused("127.0.0.1", 2);
  refused("unix:/tmp/metrics", 2);
  refused("", 2);
  // A port that another process uses is the machine's fault.
  testing::DaemonOptions options;
  options.tcp = true;
  const testing::Daemon other = Must(testing::Daemon::Start(options));
  refused(other.tcp_address(), 1);
}

TEST_F(Metrics, TheDashboardNamesWhatIsExported) {
  std::set<std::string> exported;
  for (const auto& [series, value] : Ask()) exported.insert(series.substr(0, series.find('{')));
  std::ifstream file(SourceDir() / "deploy/grafana/hlod.json");
  const nlohmann::json dashboard = nlohmann::json::parse(file);
  std::set<std::string> shown;
  for (const nlohmann::json& panel : dashboard.at("panels")) {
    for (const nlohmann::json& target : panel.at("targets")) {
      const std::string expression = target.at("expr");
      const std::regex name("hlod_[a-z_]+");
      for (std::sregex_iterator it(expression.begin(), expression.end(), name), end; it != end; ++it)
        shown.insert(it->str());
    }
  }
  for (const std::string& name : shown) EXPECT_TRUE(exported.contains(name)) << name;
  for (const char* name :
       {"hlod_device_memory_bytes", "hlod_transferred_bytes_total", "hlod_compiles_total",
        "hlod_compile_cache_hits_total", "hlod_executes_total", "hlod_device_queued_executes"}) {
    EXPECT_TRUE(shown.contains(name)) << name;
  }
}

}  // namespace
}  // namespace hlod
