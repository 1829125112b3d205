// Adding up.
#include "server/device/ledger.h"

#include <algorithm>

namespace hlod::device {
namespace {

std::vector<Row> Sorted(const absl::flat_hash_map<RowKey, Amount>& rows) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& [key, amount] : rows) sorted.push_back({key, amount});
  std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) {
    if (a.amount.bytes != b.amount.bytes) return a.amount.bytes > b.amount.bytes;
    if (a.key.step != b.key.step) return a.key.step < b.key.step;
    if (a.key.origin != b.key.origin) return a.key.origin < b.key.origin;
    if (a.key.device != b.key.device) return a.key.device < b.key.device;
    return a.key.cause < b.key.cause;
  });
  return sorted;
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
#define HLOD_COUNTER(name, meaning) name += other.name;
#include "server/device/counters.inc"
#undef HLOD_COUNTER
  return *this;
}

void Account::AddTotals(const Account& other) {
  for (int i = 0; i < kDirections; ++i) directions[i] += other.directions[i];
  counters += other.counters;
}

void SessionLedger::Record(const RowKey& key, int64_t bytes, int64_t calls) {
  const Amount amount{bytes, calls};
  MutexLock lock(&mu_);
  directions_[static_cast<int>(DirectionOf(key.cause))] += amount;
  RowKey kept = key;
  if (rows_.size() >= kRowsMax && !rows_.contains(kept)) kept.step = 0;
  if (rows_.size() >= 2 * kRowsMax && !rows_.contains(kept)) kept.origin = 0;
  rows_[kept] += amount;
}

void SessionLedger::Count(int64_t Counters::* counter, int64_t amount) {
  MutexLock lock(&mu_);
  counters_.*counter += amount;
}

Account SessionLedger::account() const {
  MutexLock lock(&mu_);
  Account account;
  std::copy(std::begin(directions_), std::end(directions_), account.directions);
  account.counters = counters_;
  account.rows = Sorted(rows_);
  return account;
}

void Ledger::Fold(const Account& ended) {
  MutexLock lock(&mu_);
  totals_.AddTotals(ended);
  for (const Row& row : ended.rows) rows_[{row.key.device, row.key.cause, 0, 0}] += row.amount;
}

Account Ledger::ended() const {
  MutexLock lock(&mu_);
  Account account = totals_;
  account.rows = Sorted(rows_);
  return account;
}

}  // namespace hlod::device
