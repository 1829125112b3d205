// Clusters of real daemons on the loopback interface.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"
#include "tests/support/shell.h"

namespace hlod {

using Flags = std::vector<std::string>;

inline Flags operator+(Flags a, const Flags& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class ClusterOfDaemons : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("cluster-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    daemons_.clear();
    std::filesystem::remove_all(folder_);
  }

  testing::Daemon& Start(const Flags& flags) {
    testing::DaemonOptions options;
    options.tcp = true;
    options.flags = Flags{"--device-memory", device_memory_, "--log-level", "info"} + flags;
    daemons_.push_back(std::make_unique<testing::Daemon>(Must(testing::Daemon::Start(options))));
    return *daemons_.back();
  }
  // A coordinator, and two members with ranks 1 and 2.
  void StartThree(const Flags& of_coordinator = {}, const Flags& of_all = {}) {
    Start(Flags{"--cluster", "ci", "--cluster-size", "3"} + of_coordinator + of_all);
    for (const char* rank : {"1", "2"}) Start(Join() + Flags{"--rank", rank} + of_all);
    for (size_t i = 0; i < 3; ++i) ExpectMembers(i, {0, 1, 2});
  }
  // The version that all daemons of this test have: "hlod 0.1.0".
  std::string Version() {
    const std::string version = Must(daemons_[0]->Stats()).version;
    return version.substr(0, version.find(" pid"));
  }
  Flags Join() const { return {"--cluster", "ci", "--join", daemons_[0]->tcp_address()}; }

  Cluster Describe(size_t i) { return Must(Must(daemons_[i]->Administration()).Cluster()); }
  // Waits until `holds` is true of a daemon's cluster. Returns the cluster.
  Cluster Await(size_t i, const std::function<bool(const Cluster&)>& holds) {
    const absl::Time end = absl::Now() + kPatience;
    const Admin admin = Must(daemons_[i]->Administration());
    for (;;) {
      Cluster cluster = Must(admin.Cluster());
      if (holds(cluster)) return cluster;
      if (absl::Now() > end) {
        std::string rows;
        for (const ClusterMember& row : cluster.members)
          rows += std::to_string(row.rank) + " " + row.state + "; ";
        ADD_FAILURE() << "daemon " << i << " knows: " << rows << cluster.problem << "\n"
                      << daemons_[i]->log();
        return cluster;
      }
    }
  }
  // Waits until a daemon has links with exactly the members of these ranks.
  Cluster ExpectMembers(size_t i, const std::vector<uint32_t>& ranks) {
    return Await(i, [&](const Cluster& cluster) {
      std::vector<uint32_t> linked;
      for (const ClusterMember& row : cluster.members) {
        if (row.state == "linked" || row.state == "here") linked.push_back(row.rank);
      }
      return cluster.members.size() == ranks.size() && linked == ranks;
    });
  }
  // Runs a daemon that is to be refused; expects the sentence and the exit code.
  void ExpectRefused(const Flags& flags, const std::string& sentence, int code = 1) {
    std::string command =
        "timeout -s KILL 60 " + Beside("../bin/hlod") + " --device-memory 1MiB --log-level error " +
        "--compile-cache none --listen tcp:127.0.0.1:0 " + absl::StrJoin(flags, " ") + " 2>&1";
    const Output output = RunShell(command);
    EXPECT_EQ(output.code, code) << output.text;
    EXPECT_NE(output.text.find("hlod: " + sentence), std::string::npos)
        << output.text << "\nexpected: " << sentence;
  }

  std::string device_memory_ = "1MiB";
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<testing::Daemon>> daemons_;
};

}  // namespace hlod
