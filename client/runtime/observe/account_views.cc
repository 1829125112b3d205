// Adds up rows of the account.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlod/observe/account.h"

namespace hlod {
namespace {

constexpr char kOthers[] = "others";
constexpr char kNone[] = "-";

std::string SessionText(uint64_t session) { return session == 0 ? "ended sessions" : absl::StrCat(session); }

std::string LineText(const Origin& origin, bool others) { return others ? kOthers : ToString(origin); }

// Steps sort as numbers.
std::string StepText(uint64_t step, bool others) { return others ? kOthers : absl::StrCat(step); }

std::string KeyOf(const TransferRow& row, TransferView by) {
  switch (by) {
    case TransferView::kLine: return LineText(row.origin, row.other_lines);
    case TransferView::kStep: return StepText(row.step, row.other_steps);
    case TransferView::kCause: return std::string(Name(row.cause));
    case TransferView::kDirection: return std::string(Name(DirectionOf(row.cause)));
    case TransferView::kName: return row.other_lines ? kOthers : row.name.empty() ? kNone : row.name;
    case TransferView::kSession: return SessionText(row.session);
  }
  return kOthers;
}

std::string KeyOf(const RunRow& row, RunView by) {
  switch (by) {
    case RunView::kProgram:
      return row.other_programs ? kOthers : absl::StrCat(row.program, " ", row.digest.substr(0, 12));
    case RunView::kLine: return LineText(row.origin, row.other_programs);
    case RunView::kStep: return StepText(row.step, row.other_steps || row.other_programs);
    case RunView::kSession: return SessionText(row.session);
  }
  return kOthers;
}

void Add(Amount& to, const Amount& amount) {
  to.bytes += amount.bytes;
  to.calls += amount.calls;
}

void Add(Distribution& to, const Distribution& spread, bool first) {
  to.min_us = first ? spread.min_us : std::min(to.min_us, spread.min_us);
  to.max_us = std::max(to.max_us, spread.max_us);
  to.sum_us += spread.sum_us;
}

// Orders keys by number, and keys that are not numbers last.
bool StepBefore(const std::string& a, const std::string& b) {
  const bool a_number = a[0] >= '0' && a[0] <= '9', b_number = b[0] >= '0' && b[0] <= '9';
  if (a_number != b_number) return a_number;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

std::vector<TransferSum> AddUp(const std::vector<TransferRow>& rows, TransferView by) {
  std::map<std::string, TransferSum> sums;
  for (const TransferRow& row : rows) {
    TransferSum& sum = sums[KeyOf(row, by)];
    switch (DirectionOf(row.cause)) {
      case Direction::kHostToDevice: Add(sum.host_to_device, row.amount); break;
      case Direction::kDeviceToHost: Add(sum.device_to_host, row.amount); break;
      case Direction::kDeviceToDevice: Add(sum.device_to_device, row.amount); break;
    }
  }
  std::vector<TransferSum> sorted;
  for (auto& [key, sum] : sums) {
    sum.key = key;
    sorted.push_back(std::move(sum));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [by](const TransferSum& a, const TransferSum& b) {
    return by == TransferView::kStep ? StepBefore(a.key, b.key) : a.bytes() > b.bytes();
  });
  return sorted;
}

std::vector<RunSum> AddUp(const std::vector<RunRow>& rows, RunView by) {
  std::map<std::string, RunSum> sums;
  for (const RunRow& row : rows) {
    RunSum& sum = sums[KeyOf(row, by)];
    const std::string program = row.other_programs ? kOthers : row.program;
    if (sum.count == 0) sum.program = program;
    else if (sum.program != program) sum.program = "several";
    Add(sum.queue, row.queue, sum.count == 0);
    Add(sum.run, row.run, sum.count == 0);
    sum.count += row.count;
    sum.network_us += row.network_us;
    sum.network_bytes += row.network_bytes;
    sum.peak_bytes = std::max(sum.peak_bytes, row.peak_bytes);
  }
  std::vector<RunSum> sorted;
  for (auto& [key, sum] : sums) {
    sum.key = key;
    sorted.push_back(std::move(sum));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [by](const RunSum& a, const RunSum& b) {
    return by == RunView::kStep ? StepBefore(a.key, b.key) : a.run.sum_us > b.run.sum_us;
  });
  return sorted;
}

}  // namespace hlod
