// The daemon's account as tables or JSON: sums of transfers, compiles with their reasons, programs that ran.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "hlod/observe/account.h"

namespace hlod::cli {
namespace {

template <typename View>
struct ViewName {
  const char* name;
  View view;
};
constexpr ViewName<TransferView> kTransferViews[] = {
    {"line", TransferView::kLine},   {"step", TransferView::kStep},
    {"cause", TransferView::kCause}, {"direction", TransferView::kDirection},
    {"name", TransferView::kName},   {"session", TransferView::kSession}};
constexpr ViewName<RunView> kRunViews[] = {{"program", RunView::kProgram},
                                           {"line", RunView::kLine},
                                           {"step", RunView::kStep},
                                           {"session", RunView::kSession}};

template <typename View, size_t N>
absl::StatusOr<View> FindView(const ViewName<View> (&views)[N], const std::string& name) {
  std::string names;
  for (const ViewName<View>& row : views) {
    if (name == row.name) return row.view;
    absl::StrAppend(&names, names.empty() ? "" : ", ", row.name);
  }
  return UsageError(absl::StrCat("--by ", name, " is not a view; the views are: ", names));
}

void Add(Amount& to, const Amount& amount) {
  to.bytes += amount.bytes;
  to.calls += amount.calls;
}

// Keeps the first `limit` sums and adds up the others in one more.
void Limit(std::vector<TransferSum>& sums, size_t limit) {
  if (sums.size() <= limit) return;
  TransferSum others;
  others.key = absl::StrCat(sums.size() - limit, " others");
  for (size_t i = limit; i < sums.size(); ++i) {
    Add(others.host_to_device, sums[i].host_to_device);
    Add(others.device_to_host, sums[i].device_to_host);
    Add(others.device_to_device, sums[i].device_to_device);
  }
  sums.resize(limit);
  sums.push_back(std::move(others));
}

void Limit(std::vector<RunSum>& sums, size_t limit) {
  if (sums.size() <= limit) return;
  RunSum others;
  others.key = absl::StrCat(sums.size() - limit, " others");
  others.program = "several";
  const auto add = [](Distribution& to, const Distribution& spread, bool first) {
    to.min_us = first ? spread.min_us : std::min(to.min_us, spread.min_us);
    to.max_us = std::max(to.max_us, spread.max_us);
    to.sum_us += spread.sum_us;
  };
  for (size_t i = limit; i < sums.size(); ++i) {
    add(others.queue, sums[i].queue, i == limit);
    add(others.run, sums[i].run, i == limit);
    others.count += sums[i].count;
    others.network_us += sums[i].network_us;
    others.network_bytes += sums[i].network_bytes;
    others.peak_bytes = std::max(others.peak_bytes, sums[i].peak_bytes);
  }
  sums.resize(limit);
  sums.push_back(std::move(others));
}

}  // namespace

absl::Status AddUpTransfers(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const TransferView view, FindView(kTransferViews, options.by));
  ASSIGN_OR_RETURN(const AccountAdmin admin, AccountAdmin::Connect(common.connect));
  ASSIGN_OR_RETURN(const AccountRows<TransferRow> rows, admin.Transfers(options.session, kAccountRowsMax));
  std::vector<TransferSum> sums = AddUp(rows.rows, view);
  Limit(sums, static_cast<size_t>(options.limit));
  Amount to_device, to_host, on_device;
  for (const TransferSum& sum : sums) {
    Add(to_device, sum.host_to_device);
    Add(to_host, sum.device_to_host);
    Add(on_device, sum.device_to_device);
  }
  if (common.json) {
    const Json json = {{"by", options.by},
                       {"transfers", ToJson(sums)},
                       {"host_to_device", ToJson(to_device)},
                       {"device_to_host", ToJson(to_host)},
                       {"device_to_device", ToJson(on_device)}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Table table({options.by, "to device", "calls", "to host", "calls", "on device", "calls"});
  const auto add = [&table](const std::string& key, const Amount& up, const Amount& down, const Amount& on) {
    table.Add({key, N(up.bytes), N(up.calls), N(down.bytes), N(down.calls), N(on.bytes), N(on.calls)});
  };
  for (const TransferSum& sum : sums)
    add(sum.key, sum.host_to_device, sum.device_to_host, sum.device_to_device);
  add("total", to_device, to_host, on_device);
  table.Print();
  return absl::OkStatus();
}

absl::Status ListCompiles(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const AccountAdmin admin, AccountAdmin::Connect(common.connect));
  ASSIGN_OR_RETURN(const AccountRows<CompileRow> list, admin.Compiles(options.session, options.limit));
  if (common.json) {
    const Json json = {{"compiles", ToJson(list.rows)}, {"total", list.total}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Table table({"session", "step", "compile us", "outcome", "reason", "program", "line", "why"});
  for (const CompileRow& row : list.rows) {
    const std::string session = row.session == 0 ? "-" : N(static_cast<int64_t>(row.session));
    if (row.others) {
      table.Add({session, "-", N(row.compile_us), std::string(Name(row.outcome)), "-",
                 absl::StrCat("(", row.count, " earlier ones)"), "-", ""});
      continue;
    }
    table.Add({session, N(static_cast<int64_t>(row.step)), N(row.compile_us), std::string(Name(row.outcome)),
               std::string(Name(row.reason)), row.program, ToString(row.origin), row.why});
  }
  table.Print();
  PrintTotal(list.rows.size(), list.total);
  return absl::OkStatus();
}

absl::Status ListGraphs(const CommonOptions& common, const ListOptions& options) {
  ASSIGN_OR_RETURN(const RunView view, FindView(kRunViews, options.by.empty() ? "program" : options.by));
  ASSIGN_OR_RETURN(const AccountAdmin admin, AccountAdmin::Connect(common.connect));
  ASSIGN_OR_RETURN(const AccountRows<RunRow> rows, admin.Runs(options.session, kAccountRowsMax));
  std::vector<RunSum> sums = AddUp(rows.rows, view);
  Limit(sums, static_cast<size_t>(options.limit));
  int64_t count = 0, run_us = 0, network_us = 0;
  for (const RunSum& sum : sums) {
    count += sum.count;
    run_us += sum.run.sum_us;
    network_us += sum.network_us;
  }
  const std::string by = options.by.empty() ? "program" : options.by;
  if (common.json) {
    const Json json = {{"by", by},
                       {"graphs", ToJson(sums)},
                       {"executes", count},
                       {"execute_us", run_us},
                       {"network_us", network_us}};
    Show(Dump(json) + "\n");
    return absl::OkStatus();
  }
  Table table({by, "executes", "run us", "least", "mean", "most", "queued us", "most", "peak",
               "modelled network us"});
  for (const RunSum& sum : sums) {
    table.Add({sum.key, N(sum.count), N(sum.run.sum_us), N(sum.run.min_us), N(sum.run.sum_us / sum.count),
               N(sum.run.max_us), N(sum.queue.sum_us), N(sum.queue.max_us), Bytes(sum.peak_bytes),
               N(sum.network_us)});
  }
  table.Add({"total", N(count), N(run_us), "", "", "", "", "", "", N(network_us)});
  table.Print();
  return absl::OkStatus();
}

}  // namespace hlod::cli
