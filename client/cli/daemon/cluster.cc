// The cluster of a daemon: members and links, waiting for them, and launches without work.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "hlod/runtime/admin.h"

namespace hlod::cli {
namespace {

Json ClusterToJson(const Cluster& cluster) {
  Json members = Json::array(), departed = Json::array();
  for (const ClusterMember& row : cluster.members) {
    members.push_back({{"rank", row.rank},
                       {"name", row.name},
                       {"address", row.address},
                       {"incarnation", row.incarnation},
                       {"devices", row.devices},
                       {"joined", row.joined},
                       {"state", row.state},
                       {"round_trip_us", row.round_trip_us},
                       {"silent_us", row.silent_us}});
  }
  for (const DepartedMember& row : cluster.departed)
    departed.push_back({{"rank", row.rank}, {"name", row.name}, {"why", row.why}, {"us_ago", row.us_ago}});
  return {{"name", cluster.name},      {"join", cluster.join}, {"member", cluster.member},
          {"epoch", cluster.epoch},    {"size", cluster.size}, {"peer_silence_us", cluster.peer_silence_us},
          {"members", members},        {"departed", departed}, {"missing", cluster.missing},
          {"problem", cluster.problem}};
}

std::string Milliseconds(int64_t us) { return absl::StrFormat("%.3f ms", static_cast<double>(us) / 1e3); }

int64_t CountLinked(const Cluster& cluster) {
  return std::count_if(cluster.members.begin(), cluster.members.end(),
                       [](const ClusterMember& row) { return row.state == "linked" || row.state == "here"; });
}

// Says in a sentence what the cluster has instead of its `wanted` members.
std::string WhatIsMissing(const Cluster& cluster, int64_t wanted) {
  std::string text =
      absl::StrFormat("Cluster \"%s\" has %d of %d members", cluster.name, cluster.members.size(), wanted);
  if (!cluster.missing.empty() && wanted == cluster.size)
    absl::StrAppend(&text, "; missing: ", cluster.missing);
  for (const ClusterMember& row : cluster.members) {
    if (row.state == "linked" || row.state == "here") continue;
    absl::StrAppend(&text, "; no link with ", row.name, " (rank ", row.rank, "): ", row.state);
  }
  if (!cluster.problem.empty()) absl::StrAppend(&text, ". ", cluster.problem);
  return text;
}

}  // namespace

absl::Status ShowCluster(const CommonOptions& common) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(const Cluster cluster, admin.Cluster());
  if (common.json) {
    Show(Dump(ClusterToJson(cluster)) + "\n");
    return absl::OkStatus();
  }
  std::string head =
      absl::StrFormat("cluster \"%s\", epoch %d, %d", cluster.name, cluster.epoch, cluster.members.size());
  if (cluster.size > 0) absl::StrAppend(&head, " of ", cluster.size);
  absl::StrAppend(&head, cluster.members.size() == 1 && cluster.size == 0 ? " member" : " members",
                  cluster.join.empty() ? "; this daemon is the coordinator" : "; the coordinator is at ",
                  cluster.join, "\n");
  if (!cluster.missing.empty()) absl::StrAppend(&head, "missing: ", cluster.missing, "\n");
  if (!cluster.problem.empty()) absl::StrAppend(&head, cluster.problem, "\n");
  Show(head);
  Table table({"rank", "name", "address", "devices", "joined at", "round trip", "link"});
  for (const ClusterMember& row : cluster.members) {
    table.Add({N(row.rank), row.name, row.address, N(row.devices), N(row.joined),
               row.round_trip_us > 0 ? Milliseconds(row.round_trip_us) : "", row.state});
  }
  table.Print();
  for (const DepartedMember& row : cluster.departed) {
    Show(absl::StrFormat("%s (rank %d) went %s ago: %s\n", row.name, row.rank, Seconds(row.us_ago), row.why));
  }
  return absl::OkStatus();
}

absl::Status WaitForCluster(const CommonOptions& common, const WaitOptions& options) {
  constexpr absl::Duration kAgain = absl::Milliseconds(20);
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  const absl::Time end = absl::Now() + absl::Seconds(options.seconds);
  for (;;) {
    ASSIGN_OR_RETURN(const Cluster cluster, admin.Cluster());
    // A daemon that has not joined yet does not know the size.
    const int64_t wanted = options.size > 0 ? options.size : cluster.size;
    if (cluster.member && wanted == 0) {
      return UsageError("The coordinator was started without --cluster-size: give --size N.");
    }
    if (cluster.member && CountLinked(cluster) >= wanted) return absl::OkStatus();
    if (absl::Now() >= end) {
      return DeadlineExceeded("%s (waited %g s).", WhatIsMissing(cluster, wanted), options.seconds);
    }
    absl::SleepFor(kAgain);
  }
}

absl::Status TryCluster(const CommonOptions& common, int count) {
  ASSIGN_OR_RETURN(const Admin admin, Admin::Connect(common.connect));
  ASSIGN_OR_RETURN(TriedLaunches tried, admin.TryLaunches(count));
  std::vector<int64_t>& us = tried.launch_us;
  if (us.empty()) return Internal("The daemon has timed no launch.");
  std::sort(us.begin(), us.end());
  const int64_t median = us[us.size() / 2], p99 = us[us.size() * 99 / 100];
  if (common.json) {
    const Json json = {{"daemons", tried.daemons}, {"count", us.size()}, {"min_us", us.front()},
                       {"median_us", median},      {"p99_us", p99},      {"max_us", us.back()}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Show(absl::StrFormat("%d launches over %d daemons: min %d us, median %d us, p99 %d us, max %d us\n",
                       us.size(), tried.daemons, us.front(), median, p99, us.back()));
  return absl::OkStatus();
}

}  // namespace hlod::cli
